"""
One label per class
===================

One labelled album per person, and many albums without a name. Judged alone, an album is
compared with one other of the same person. Judged together, albums also pass names on to each
other: an album may be like another that is like the labelled one.
"""

import matplotlib.pyplot as plt
import numpy as np

from setwise import CVC
from setwise.plots import plot_set_graph
from setwise.together import relate

# %%
# Six things on a turntable: each album is a short part of a closed curve, so that neighbours
# are alike and opposite sides are not.
rng = np.random.default_rng(3)
N_THINGS, N_ALBUMS, N_PHOTOS, N_FEATURES = 6, 12, 8, 40
things = [f"thing {letter}" for letter in "ABCDEF"]
curves = rng.normal(size=(N_THINGS, 4, N_FEATURES))


def album(thing, start):
    """Vectors of one thing, from a part of its turn."""
    angle = start + np.linspace(0, 0.5, N_PHOTOS)
    circle = np.stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)], 1)
    return circle @ curves[thing] + rng.normal(scale=0.9, size=(N_PHOTOS, N_FEATURES))


truth = np.repeat(things, N_ALBUMS)
turns = np.tile(2 * np.pi * np.arange(N_ALBUMS) / N_ALBUMS, N_THINGS)
albums = [album(i // N_ALBUMS, turn) for i, turn in enumerate(turns)]

# %%
# The first album of each thing has a name. None is an album without one.
labels = [str(name) if i % N_ALBUMS == 0 else None for i, name in enumerate(truth)]
clf = CVC(random_state=0).fit(albums, labels)
is_labelled = np.array([label is not None for label in labels])
rest = [one for one, known in zip(albums, is_labelled, strict=True) if not known]
alone = clf.predict(rest)
print(f"alone:    {100 * np.mean(alone == truth[~is_labelled]):.0f} % right")
right = np.mean(clf.transduction_[~is_labelled] == truth[~is_labelled])
print(f"together: {100 * right:.0f} % right")

# %%
# Which albums passed the name on?
answers = list(clf.judge(clf.unlabelled_, together=True))
for answer in answers[4:7]:
    told = ", ".join(f"{name} {share:.2f}" for name, share in answer.carried_by[:3])
    print(f"{answer.name} is {answer.label}: {told}")

# %%
# The graph of sets. It is made without looking at labels; colours are the answers, and rings
# are the six albums with a name.
graph = relate(albums)
affinities = graph.neighbours().tocoo()
upper = affinities.row < affinities.col
lines = affinities.row[upper], affinities.col[upper], affinities.data[upper]
fig, axes = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
plot_set_graph(axes, graph.layout(), lines, clf.transduction_, is_marked=is_labelled)
axes.set_title("72 albums, six of them with a name")
plt.show()
