"""
How many images make a set?
===========================

One image may mislead; a set does not, if all of it is used. Accuracy by the number of images
in the sets that are asked about, beside a vote of the images.
"""

import matplotlib.pyplot as plt
import numpy as np

from setwise import CVC
from setwise.baselines import FrameVote, MeanCosine
from setwise.demo import digit_sets

# %%
# The gallery stays the same. Probes are cut down to their first images.
data = digit_sets(n_gallery=3, n_probes=4, n_images=14, n_outliers=0, seed=1, light=0.9)
gallery, labels = data.gallery, data.gallery.labels
methods = {
    "CVC": CVC(dims=(3, 5), random_state=0),
    "vote of the images": FrameVote(),
    "mean cosine": MeanCosine(),
}
sizes = (1, 2, 4, 8, 14)

# %%
# A set of one or two images cannot say how it varies; from a handful on it can.
curves = {}
for name, method in methods.items():
    method.fit(gallery, labels)
    curves[name] = [
        100 * np.mean(method.predict([s[:n] for s in data.probes]) == data.probes.labels)
        for n in sizes
    ]
    print(f"{name:>18}: " + "  ".join(f"{share:5.1f}" for share in curves[name]))

# %%
fig, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
looks = {"CVC": ("#d81b60", "-", "o"), "vote of the images": ("#3f74b5", "--", "s")}
for name, curve in curves.items():
    colour, line, marker = looks.get(name, ("#7a828c", ":", "^"))
    axes.plot(sizes, curve, line, color=colour, marker=marker, label=name)
axes.set_xscale("log", base=2)
axes.set_xticks(sizes, sizes)
axes.set(xlabel="images in a set", ylabel="% of the sets right")
axes.set_title("Sets of digits, each in a light of its own")
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()
