"""
Which photos do not belong?
===========================

Albums from the wild hold strangers: a passer-by, another animal in a burst. What clearly does
not belong is found and left out before the set is judged, and every answer says what it was.
The photos are pieces of the two pictures that come with scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

from setwise import CVC, SetBatch

# %%
# Seven places, photographed again and again by a hand that is not quite steady.
china, flower = load_sample_images().images
places = {
    "pagoda": (china, 90, 160),
    "steps": (china, 300, 250),
    "tree": (china, 200, 480),
    "sky": (china, 20, 40),
    "heart": (flower, 150, 280),
    "petal": (flower, 230, 180),
    "leaf": (flower, 60, 500),
}
names = list(places)
rng = np.random.default_rng(0)


def photo(place: str) -> np.ndarray:
    """A small grey photo of a place, in some light."""
    picture, top, left = places[place]
    y, x = np.array([top, left]) + rng.integers(-4, 5, size=2)
    piece = picture[y : y + 96 : 4, x : x + 96 : 4].mean(axis=-1)
    return np.minimum(piece * rng.uniform(0.7, 1.2), 255)


# %%
# Three albums of each place are the gallery. Into each new album two photos of the next place
# have been mixed.
gallery = SetBatch.from_images(
    [np.array([photo(place) for _ in range(10)]) for place in names for _ in range(3)],
    labels=np.repeat(names, 3),
)
is_strange = np.isin(np.arange(10), [3, 7])
new = SetBatch.from_images(
    [
        np.array([photo(other if j else place) for j in is_strange])
        for place, other in zip(names, names[1:] + names[:1], strict=True)
    ],
    names,
)
clf = CVC(dims=(1, 3), random_state=0).fit(gallery, gallery.labels)
answers = list(clf.judge(new))
is_out = ~np.array([answer.is_typical for answer in answers])
print(f"strangers found: {is_out[:, is_strange].sum()} of {2 * len(names)}")
print(f"others accused: {is_out[:, ~is_strange].sum()} of {8 * len(names)}")

# %%
# One row per album: the answer, and in a frame what is out of place.
images = new.images.reshape(len(new), 10, 24, 24)
fig, axes = plt.subplots(len(new), 10, figsize=(8, 6), layout="constrained")
for row, answer in enumerate(answers):
    for j, axis in enumerate(axes[row]):
        axis.imshow(images[row, j], cmap="gray", vmin=0, vmax=255)
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set(color="#d81b60", linewidth=3, visible=bool(is_out[row, j]))
    label = {"rotation": 0, "ha": "right", "va": "center"}
    axes[row, 0].set_ylabel(f"{answer.label}  {answer.probability:.2f}  ", **label)
fig.suptitle("Seven albums, two strangers in each; framed: found out of place")
plt.show()
