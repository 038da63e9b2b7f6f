"""
Bursts of a camera trap
=======================

A camera trap takes a burst of photos whenever something moves. One photo is dark, blurred or
half empty; a burst is one animal seen several times, and gets one answer. One night an animal
comes that nobody expected.
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from setwise import CVC, SetBatch

# %%
# Photos are drawn: a meadow, and an animal of ellipses and lines that walks through it. They
# are cut out around the animal, as detectors for camera traps do. Of each animal: the coat;
# length, height, neck, ears and tail in pixels of a photo 72 x 64.
ANIMALS = {
    "deer": ("#8a5a35", 34, 15, 15, 6, 3),
    "boar": ("#3d352f", 32, 19, 3, 4, 6),
    "fox": ("#b8602a", 24, 9, 5, 6, 18),
    "hare": ("#9a8468", 13, 11, 3, 13, 3),
    "badger": ("#77777a", 26, 12, 3, 3, 8),
    "bear": ("#2b211b", 42, 27, 7, 5, 2),
}
WIDTH, HEIGHT = 72, 64


def photo(animal, x, step, is_night, rng):
    """One photo: the animal at x, in the middle of a step."""
    coat, length, height, neck, ears, tail = ANIMALS[animal]
    colour = "#d8d8d2" if is_night else coat  # infrared light makes any coat bright
    picture = Image.new("RGB", (WIDTH, HEIGHT), "#7d8f5c")
    draw = ImageDraw.Draw(picture)
    for _ in range(110):
        left, top = rng.uniform(0, WIDTH), rng.uniform(20, HEIGHT)
        draw.line((left, top, left + rng.normal(), top - 5), fill="#66784a")
    draw.rectangle((0, 0, WIDTH, 18), fill="#a9b7ae")
    ground, back = 54, 54 - height - 8
    for leg, swing in ((-0.38, step), (-0.26, -step), (0.26, step), (0.38, -step)):
        hip = x + leg * length
        draw.line((hip, back + height / 2, hip + 3 * swing, ground), fill=colour, width=3)
    draw.ellipse((x - length / 2, back, x + length / 2, back + height), fill=colour)
    head = x + length / 2 + 3
    draw.line((head - 6, back + 5, head, back - neck + 4), fill=colour, width=6)
    draw.ellipse((head - 5, back - neck - 3, head + 9, back - neck + 7), fill=colour)
    draw.line((head - 1, back - neck, head - 3, back - neck - ears), fill=colour, width=3)
    rear = x - length / 2
    draw.line((rear + 2, back + 4, rear - tail, back + 8), fill=colour, width=4)
    if animal == "badger":
        draw.line((head - 3, back - neck + 1, head + 9, back - neck + 2), fill="black", width=2)
    pixels = np.asarray(picture.filter(ImageFilter.GaussianBlur(0.7)), dtype=float)
    if is_night:  # no colours, bright in the middle, noisy
        beam = 0.4 + 0.5 * np.exp(-(((np.arange(WIDTH) - WIDTH / 2) / 35) ** 2))
        grey = pixels.mean(axis=-1) * beam + rng.normal(scale=8, size=pixels.shape[:2])
        pixels = np.repeat(grey[..., None], 3, axis=-1)
    return pixels.clip(0, 255).astype(np.uint8)


def burst(animal, is_night, rng):
    """Eight photos of an animal that walks."""
    x = 33 + rng.normal(scale=2, size=8)
    return np.stack([photo(animal, x[i], np.sin(2.1 * i), is_night, rng) for i in range(8)])


# %%
# Two bursts by day and two by night of each of five animals are labelled. Of a bear there is no
# photo yet.
rng = np.random.default_rng(5)
known = ["deer", "boar", "fox", "hare", "badger"]
labels = [animal for animal in known for _ in range(4)]
nights = [night for _ in known for night in (False, True) * 2]


def sets_of(bursts):
    """Bursts as sets of grey photos."""
    return SetBatch.from_images([photos.mean(axis=-1).astype(np.uint8) for photos in bursts])


gallery = sets_of([burst(*one, rng) for one in zip(labels, nights, strict=True)])
clf = CVC.for_images(features="pixels,edges", unknown=0.25, random_state=0)
clf.fit(gallery, labels)

# %%
# A new burst of each, every second one by night.
new = [burst(animal, i % 2 == 1, rng) for i, animal in enumerate(ANIMALS)]
answers = clf.judge(sets_of(new))
for animal, answer in zip(ANIMALS, answers, strict=True):
    print(f"{animal:7} {answer.label}, nearest {answer.nearest}, {answer.probability:.2f}")

# %%
# A row for each burst, with its answer.
fig, panels = plt.subplots(len(new), 9, figsize=(9.5, 5.9), layout="constrained")
for row, photos, answer in zip(panels, new, answers, strict=True):
    for axes, picture in zip(row, photos, strict=False):
        axes.imshow(picture)
        axes.axis("off")
    sure = "" if answer.label == "unknown" else f"\n{answer.probability:.2f}"
    colour = "#b7791f" if answer.label == "unknown" else "#3f74b5"
    row[-1].text(0, 0.5, f"{answer.label}{sure}", fontsize=13, color=colour, va="center")
    row[-1].axis("off")
fig.suptitle("New bursts, one answer each", x=0.01, ha="left")
plt.show()
