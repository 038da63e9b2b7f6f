"""
Albums of colour photos
=======================

From a folder of photos to an answer with pictures, as the command ``setwise identify`` does
it. The photos are pieces of the two pictures that come with scikit-learn.
"""

import tempfile
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

import setwise

# %%
# Six places, four albums of each, ten photos in an album: ``pagoda/0/1.jpg``. Two photos of
# each first album show another place.
china, flower = load_sample_images().images
places = {
    "pagoda": (china, 90, 160),
    "steps": (china, 300, 250),
    "tree": (china, 200, 480),
    "heart": (flower, 150, 280),
    "petal": (flower, 230, 180),
    "leaf": (flower, 60, 500),
}
names = list(places)
rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
for name, album, photo in product(names, range(4), range(10)):
    is_strange = album == 0 and photo in (3, 7)
    shown = names[names.index(name) - 1] if is_strange else name
    picture, top, left = places[shown]
    y, x = np.array([top, left]) + rng.integers(-6, 7, size=2)
    piece = picture[y : y + 96, x : x + 96] * rng.uniform(0.7, 1.2)
    file = folder / name / str(album) / f"{photo}.jpg"
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(piece.clip(0, 255).astype(np.uint8)).save(file)

# %%
# One call reads them. The first albums are asked about, the others are the gallery.
photos = setwise.load_images(folder, labelled=True, size=(24, 24))
print(photos)
is_new = np.array([name.endswith("0") for name in photos.names])
gallery, albums = photos[~is_new], photos[is_new]
clf = setwise.CVC(dims=(1, 3), random_state=0).fit(gallery, gallery.labels)
for answer in clf.judge(albums):
    print(f"{answer.name}: {answer.label}, {answer.probability:.2f}")

# %%
# The loader keeps a small colour picture of each photo for this.
why = clf.explain(albums[[0]])
why.plot(figure=plt.figure())
plt.show()
