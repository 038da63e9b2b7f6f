"""
The cast of a film
==================

A film falls into scenes, and a scene into tracks: one person, followed from frame to frame.
Nobody has labelled anything. Which tracks show the same person, and how many people are there?
Two people who are seen at the same time are not the same, and setwise is told so.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw

from setwise import CVC, SetBatch, SetClusters
from setwise.together import suggest

# %%
# Five puppets play in the film. A face is drawn from a few numbers: colours, the shape of the
# head, how far it is turned and tilted, and the light of the scene.
PUPPETS = {
    "Ada": {"skin": "#f1c9a5", "hair": "#5a3825", "wide": 0.78, "long": True},
    "Bo": {"skin": "#8d5a3b", "hair": "#1f1a17", "wide": 0.92, "beard": True},
    "Cleo": {"skin": "#e0ac82", "hair": "#c2502c", "wide": 0.84, "bun": True, "glasses": True},
    "Dan": {"skin": "#f3d6bd", "hair": "#e3c878", "wide": 0.98, "hat": "#2f5a78"},
    "Eve": {"skin": "#b97f56", "hair": "#8f9aa6", "wide": 0.70, "long": True, "glasses": True},
}
SIDE, N_FRAMES = 48, 10


def face(puppet, scene, turn, tilt, light):
    """One frame of a track: the face of a puppet, as a picture of 48 x 48 pixels."""
    large = Image.new("RGB", (192, 192), scene)
    draw = ImageDraw.Draw(large)
    half, middle = 62 * puppet["wide"], 96 + 10 * turn
    if puppet.get("long"):
        draw.ellipse((96 - half - 16, 22, 96 + half + 16, 190), fill=puppet["hair"])
    draw.ellipse((96 - half, 30, 96 + half, 172), fill=puppet["skin"])
    draw.pieslice((96 - half - 4, 20, 96 + half + 4, 150), 180, 360, fill=puppet["hair"])
    if puppet.get("bun"):
        draw.ellipse((70, 0, 122, 48), fill=puppet["hair"])
    if puppet.get("hat"):
        draw.rectangle((96 - half - 22, 48, 96 + half + 22, 60), fill=puppet["hat"])
        draw.rectangle((96 - half + 8, 6, 96 + half - 8, 56), fill=puppet["hat"])
    draw.ellipse((middle - half + 6, 62, middle + half - 6, 150), fill=puppet["skin"])
    if puppet.get("beard"):
        draw.chord((96 - half, 60, 96 + half, 172), 30, 150, fill=puppet["hair"])
    for side in (-1, 1):
        eye = middle + side * 24 + 8 * turn
        draw.ellipse((eye - 9, 84, eye + 9, 100), fill="white")
        draw.ellipse((eye - 5 + 3 * turn, 87, eye + 5 + 3 * turn, 98), fill="#24313d")
        if puppet.get("glasses"):
            draw.ellipse((eye - 19, 74, eye + 19, 110), outline="#222222", width=5)
    nose = middle + 14 * turn
    draw.line((nose, 100, nose + 7 * turn, 124), fill="#00000033", width=4)
    draw.arc((middle - 24 + 8 * turn, 112, middle + 24 + 8 * turn, 146), 25, 155, "#7c2f2a", 6)
    small = large.rotate(tilt, fillcolor=scene).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    return (np.asarray(small) * light).clip(0, 255).astype(np.uint8)


# %%
# Seven scenes, each with a background and a light of its own, and with two to four puppets.
rng = np.random.default_rng(4)
scenes = ["#6d8a63", "#4a6383", "#a5937a", "#6d6d78", "#8c6a86", "#b9b4a5", "#5f8a8a"]
tracks, at, who = [], [], []
for number, scene in enumerate(scenes):
    for name in rng.choice(list(PUPPETS), size=rng.integers(2, 5), replace=False):
        turn, light = rng.uniform(-0.9, 0.9), rng.uniform(0.7, 1.1)
        frames = []
        for _ in range(N_FRAMES):
            turn = np.clip(turn + rng.normal(scale=0.25), -1, 1)
            frames.append(face(PUPPETS[name], scene, turn, rng.normal(scale=6), light))
        tracks.append(np.stack(frames))
        at.append(number)
        who.append(name)
print(f"{len(tracks)} tracks of {N_FRAMES} frames")

# %%
# Tracks of one scene overlap in time, so they cannot be linked. The number of people is found.
# Wrongly joined people are worse than a person in two groups, so what is unsure stays apart.
grey = [frames.mean(axis=-1).astype(np.uint8) for frames in tracks]
apart = [(i, j) for i, j in combinations(range(len(tracks)), 2) if at[i] == at[j]]
how = CVC.for_images(features="pixels,edges").describe()
groups = SetClusters(description=how).fit(SetBatch.from_images(grey), cannot_link=apart)
labels = groups.labels_
rows = [f"person {n + 1}" for n in range(groups.n_clusters_)] + ["unsure"]
for row, title in enumerate(rows):
    chosen = np.flatnonzero(labels == (row if title != "unsure" else -1))
    print(f"{title}: {', '.join(f'{who[i]} in scene {at[i] + 1}' for i in chosen)}")

# %%
# What is worth a look: groups that may be one, and tracks that may belong to a group.
found = suggest(groups.found_)
for merge in found.merges[:2]:
    one, two = merge.first + 1, merge.second + 1
    print(f"Are person {one} and person {two} the same? {merge.probability:.0%}")

# %%
# A row for each person that was found; the scenes are the columns.
fig, axes = plt.subplots(figsize=(10.5, 0.62 * len(rows) + 0.8), layout="constrained")
for i, frames in enumerate(tracks):
    row, alpha = (labels[i], 1) if labels[i] >= 0 else (len(rows) - 1, 0.6)
    place = sum(1 for j in range(i) if (labels[j], at[j]) == (labels[i], at[i]))
    left, top = 3.4 * at[i], 1.3 * (row + place)
    strip = np.concatenate(frames[[0, 4, 9]], axis=1)
    axes.imshow(strip, extent=(left, left + 3, top + 1, top), alpha=alpha)
axes.set_xlim(-0.2, 3.4 * len(scenes))
axes.set_ylim(1.3 * len(rows), -0.2)
numbers = np.arange(len(scenes))
axes.set_xticks(3.4 * numbers + 1.5, [f"scene {number + 1}" for number in numbers])
axes.set_yticks(1.3 * np.arange(len(rows)) + 0.5, rows)
axes.tick_params(length=0)
axes.set_aspect("equal")
axes.spines[:].set_visible(False)
axes.set_title("Who is who: tracks of a film, grouped without a label", loc="left")
plt.show()
