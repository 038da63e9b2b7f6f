"""
Embeddings in a data frame
==========================

Vectors of a network, one row per image, with a column that says which set the row is in. The
sets are ragged, and nothing has to be padded.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex
from sklearn.decomposition import PCA

from setwise import CVC, SetBatch
from setwise.plots.labels import EndLabel, label_ends

# %%
# Six species, seen in bursts of three to nine images by a camera trap.
rng = np.random.default_rng(3)
species = ["badger", "boar", "deer", "fox", "hare", "marten"]
centres = rng.normal(size=(6, 48))
bursts = [species[i % 6] for i in range(48)]
sizes = rng.integers(3, 10, size=48)
owners = np.repeat(np.arange(48), sizes)
light = rng.normal(size=(48, 48))  # every burst has its own
kinds = np.array([species.index(name) for name in bursts])[owners]
vectors = centres[kinds] + 0.9 * light[owners] + 0.5 * rng.normal(size=(len(owners), 48))

# %%
# ``from_groups`` takes rows and the set of each; with pandas or polars it is ``from_frame``.
sets = SetBatch.from_groups(vectors, owners)
print(sets)
gallery, new = sets[:36], sets[36:]
clf = CVC(random_state=0).fit(gallery, bursts[:36])
answers = list(clf.judge(new))
right = [answer.label == name for answer, name in zip(answers, bursts[36:], strict=True)]
print(f"{sum(right)} of {len(right)} bursts right")

# %%
# The bursts in the plane in which they differ most: lines join the images of one burst.
plane = PCA(2, random_state=0).fit(vectors)
colours = dict(zip(species, plt.get_cmap("tab10").colors, strict=False))
fig, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
labels = []
for points, name in zip(map(plane.transform, gallery), bursts, strict=False):
    axes.plot(*points.T, "-", color=colours[name], linewidth=0.4, alpha=0.5)
    axes.plot(*points.T, ".", color=colours[name], markersize=4, alpha=0.5)
for points, answer, is_right in zip(map(plane.transform, new), answers, right, strict=True):
    x, y = points.mean(axis=0)
    axes.plot(x, y, "D" if is_right else "X", color=colours[answer.label], mec="k", ms=9)
    words = f"{answer.label}  {answer.probability:.2f}"
    labels.append(EndLabel(float(x), float(y), words, to_hex(colours[answer.label])))
axes.set(xticks=[], yticks=[], title="Diamonds: new bursts, and what they are said to be")
axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # labels need final limits
label_ends(axes, labels)
plt.show()
