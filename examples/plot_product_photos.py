"""
Product photos
==============

A shop has photos of each of its vases, taken while they turned on a table. A customer sends
photos of the one at hand, in the light of a kitchen: which product is it? Two photos in one
parcel show something else, and one vase was never sold here.
"""

import matplotlib.pyplot as plt
import numpy as np

from setwise import CVC, SetBatch

# %%
# A vase is a curve that is turned around, painted with rings and stripes. Its photo follows
# from the curve: every pixel shows the angle of the surface to the light, and the paint there.
SIDE = 40
DOWN, RIGHT = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
SHELF = np.array([0.93, 0.91, 0.88])


def make_vase(rng):
    """A product: the radius along its height, two colours, stripes and rings."""
    knots = rng.uniform(0.18, 0.62, size=4)
    return {
        "radius": np.interp(np.linspace(0, 3, SIDE), np.arange(4), knots),
        "colours": rng.uniform(0.15, 0.95, size=(2, 3)),
        "stripes": rng.integers(0, 5),
        "rings": rng.uniform(4, 12),
        "twist": rng.uniform(-3, 3),
    }


def photo(vase, turn, light, rng):
    """The vase turned by an angle, with the light from another one."""
    radius = vase["radius"][:, None]
    inside = (abs(RIGHT) < radius) & (abs(DOWN) < 0.9)
    across = np.clip(RIGHT / radius, -1, 1)
    angle = np.arcsin(across) + turn
    paint = np.sin(vase["stripes"] * angle + vase["twist"] * DOWN) + np.sin(
        vase["rings"] * DOWN
    )
    share = (paint > 0)[..., None]
    colour = np.where(share, vase["colours"][0], vase["colours"][1])
    shade = 0.35 + 0.65 * np.clip(np.cos(np.arcsin(across) - light), 0, 1)
    seen = np.where(inside[..., None], colour * shade[..., None], SHELF)
    return 255 * np.clip(seen + rng.normal(scale=0.02, size=seen.shape), 0, 1)


def turntable(vase, rng, n_photos=10):
    """Photos of one vase, from all sides, in one light."""
    start, light = rng.uniform(0, 2 * np.pi), rng.uniform(-0.9, 0.9)
    turns = start + np.linspace(0, 2 * np.pi, n_photos, endpoint=False)
    return np.stack([photo(vase, turn, light, rng) for turn in turns]).astype(np.uint8)


# %%
# Twenty products, each photographed twice for the catalogue: enough classes for a threshold
# that takes one unknown vase in twenty for a known one.
rng = np.random.default_rng(2)
products = {f"vase {letter}": make_vase(rng) for letter in "ABCDEFGHIJKLMNOPQRST"}
labels = [name for name in products for _ in range(2)]
catalogue = [turntable(products[name], rng) for name in labels]


def sets_of(photos):
    """Sets of colour photos, as rows of numbers."""
    return SetBatch.from_list([one.reshape(len(one), -1) for one in photos])


clf = CVC(unknown=0.05, random_state=0).fit(sets_of(catalogue), labels)

# %%
# Three parcels: photos of vase C, photos of vase F among which two show vase A, and photos of a
# vase that is not in the catalogue.
mixed = turntable(products["vase F"], rng)
mixed[[3, 7]] = turntable(products["vase A"], rng)[[0, 5]]
parcels = [turntable(products["vase C"], rng), mixed, turntable(make_vase(rng), rng)]
answers = clf.judge(sets_of(parcels))
for answer in answers:
    strays = (np.flatnonzero(~answer.is_typical) + 1).tolist()
    print(f"{answer.label} ({answer.probability:.2f}), out of place: {strays or 'none'}")

# %%
# The parcels, their answers, and the most similar product of the catalogue. Photos with a red
# frame are out of place and do not count.
fig, panels = plt.subplots(3, 12, figsize=(11, 3.2), layout="constrained")
for row, photos, answer in zip(panels, parcels, answers, strict=True):
    for axes, picture, counts in zip(row, photos, answer.is_typical, strict=False):
        axes.imshow(picture, interpolation="bilinear")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(visible=not counts, color="#c0392b", linewidth=3)
    known = answer.label != "unknown"
    words = f"{answer.label}\n{answer.probability:.2f}" if known else "unknown"
    row[10].text(
        0, 0.5, words, fontsize=12, color="#3f74b5" if known else "#b7791f", va="center"
    )
    row[11].imshow(catalogue[labels.index(answer.nearest)][0], interpolation="bilinear")
    row[11].set_title("most like it", fontsize=9)
    for axes in row[10:]:
        axes.axis("off")
fig.suptitle("Which product is it?", x=0.01, ha="left")
plt.show()
