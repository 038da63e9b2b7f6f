"""
Sets that hold strangers
========================

What happens when more and more images of a set show somebody else? A mean moves with every
stranger; CVC looks for the part of the set that belongs together.
"""

import matplotlib.pyplot as plt
import numpy as np

from setwise import CVC
from setwise.baselines import FrameVote, MeanCosine
from setwise.demo import digit_sets

# %%
# Sets of ten digits, each in a light of its own. Strangers in a set are all of one other
# digit. The gallery is clean, and always of the same images, none of which is asked about.
sets = {"n_gallery": 3, "n_probes": 4, "n_images": 10, "one_other": True, "light": 0.6}
gallery = digit_sets(**sets, n_outliers=0).gallery
methods = {
    "CVC": CVC(dims=(3, 5), random_state=0),
    "vote of the images": FrameVote(),
    "mean cosine": MeanCosine(),
}

# %%
# With five of ten images somebody else's, there is no right answer any more.
counts = (0, 1, 2, 3, 4, 5)
curves: dict[str, list[float]] = {name: [] for name in methods}
for method in methods.values():
    method.fit(gallery, gallery.labels)
for n in counts:
    probes = digit_sets(**sets, n_outliers=n).probes[1::2]  # every second set is mixed
    for name, method in methods.items():
        curves[name].append(100 * np.mean(method.predict(probes) == probes.labels))
for name, curve in curves.items():
    print(f"{name:>18}: " + "  ".join(f"{share:5.1f}" for share in curve))

# %%
fig, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
looks = {"CVC": ("#d81b60", "-", "o"), "vote of the images": ("#3f74b5", "--", "s")}
for name, curve in curves.items():
    colour, line, marker = looks.get(name, ("#7a828c", ":", "^"))
    axes.plot(counts, curve, line, color=colour, marker=marker, label=name)
axes.set(xlabel="images of a set of ten that show a stranger", ylabel="% of the sets right")
axes.set_title("One stranger in every set, in more and more of its images")
axes.set_ylim(0, 103)
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()
