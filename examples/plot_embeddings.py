"""
Embeddings with strangers
=========================

A network turns each face into a vector. An album of a person also shows a friend in four of ten
photos, so the mean of its vectors lies between the two. setwise finds the part that belongs
together, names the photos that do not, and says when nobody fits.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex
from sklearn.decomposition import PCA

from setwise import CVC, SetBatch
from setwise.baselines import MeanCosine
from setwise.plots.labels import EndLabel, label_ends

# %%
# Embeddings of thirty people, scattered around a vector of their own; 24 of them are known.
rng = np.random.default_rng(7)
people = rng.normal(size=(30, 64))


def photos(person, n):
    """Embeddings of n photos of a person; those of one album share its light."""
    return people[person] + 0.5 * rng.normal(size=64) + 0.45 * rng.normal(size=(n, 64))


# %%
# Rows of one table, as a network gives them, with the album of each row. Albums need not have
# the same size. ``SetBatch.from_frame`` takes a pandas or polars frame.
known = np.repeat(np.arange(24), 2)
sizes = rng.integers(5, 12, size=len(known))
rows = np.concatenate([photos(person, n) for person, n in zip(known, sizes, strict=True)])
gallery = SetBatch.from_groups(rows, np.repeat(np.arange(len(known)), sizes))
names = np.array([f"person {person + 1}" for person in range(30)])
clf = CVC(unknown=0.05, random_state=0).fit(gallery, names[known])

# %%
# Six new albums, of six photos of a person and four of a friend; and one of somebody unknown.
shown = [0, 4, 8, 12, 16, 20, 28]
friends = [5, 9, 13, 17, 21, 1, None]
albums = [
    photos(who, 10) if friend is None else np.vstack([photos(who, 6), photos(friend, 4)])
    for who, friend in zip(shown, friends, strict=True)
]
answers = clf.judge(albums)
by_mean = MeanCosine().fit(gallery, names[known]).predict(albums)
for who, answer, mean in zip(shown, answers, by_mean, strict=True):
    out = (np.flatnonzero(~answer.is_typical) + 1).tolist()
    print(f"{names[who]}: {answer.label}, out of place {out}; by the mean: {mean}")

# %%
# The albums in the plane in which they differ most. Crosses are photos out of place.
plane = PCA(2, random_state=0).fit(people[shown])
fig, axes = plt.subplots(figsize=(8.5, 5), layout="constrained")
labels = []
for album, answer, colour in zip(albums, answers, plt.get_cmap("Dark2").colors, strict=False):
    points, fits = plane.transform(album), answer.is_typical
    middle = points[fits].mean(axis=0)
    for point, fit in zip(points, fits, strict=True):
        axes.plot(
            *zip(middle, point, strict=True), color=colour, lw=1 if fit else 0.3, alpha=0.6
        )
    axes.plot(*points[fits].T, "o", color=colour, markersize=7)
    axes.plot(*points[~fits].T, "x", color=colour, markersize=6, alpha=0.8)
    sure = "" if answer.label == "unknown" else f"  {answer.probability:.2f}"
    labels.append(EndLabel(*map(float, middle), f"{answer.label}{sure}", to_hex(colour)))
axes.set(xticks=[], yticks=[], title="Seven albums: dots count, crosses are out of place")
axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # labels need final limits
label_ends(axes, labels)
plt.show()
