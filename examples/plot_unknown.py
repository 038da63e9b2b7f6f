"""
Somebody you do not know
========================

With ``unknown=0.05`` a classifier may answer "unknown", and is set to let one stranger in
twenty in. The threshold is found on classes that are left out of the gallery in turn.
"""

import matplotlib.pyplot as plt
import numpy as np

from setwise import CVC

# %%
# Sixty people, as vectors that a face network might give; forty are in the gallery.
rng = np.random.default_rng(0)
people = rng.normal(size=(60, 64))


def track(person: int) -> np.ndarray:
    """Eight frames of a person."""
    return people[person] + rng.normal(size=(8, 64))


labels = np.repeat([f"person {i}" for i in range(40)], 2)
gallery = [track(i) for i in range(40) for _ in range(2)]
clf = CVC(unknown=0.05, dims=(1, 3), random_state=0).fit(gallery, labels)

# %%
# Every person is asked about once: forty that the gallery has, twenty that it has not.
answers = list(clf.judge([track(i) for i in range(60)]))
nearness = np.array([answer.nearness for answer in answers])
is_known = np.array([answer.is_known for answer in answers])
print(f"known people recognised: {is_known[:40].mean():.0%}")
print(f"strangers let in: {is_known[40:].mean():.0%}")

# %%
# Every answer says how near the set is to its nearest class. Right of the line is known.
fig, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
bins = np.linspace(nearness.min(), nearness.max(), 25)
axes.hist(nearness[:40], bins, color="#3f74b5", label="in the gallery")
axes.hist(nearness[40:], bins, color="#e0930f", hatch="//", alpha=0.8, label="strangers")
axes.axvline(
    clf.gallery_.calibration.threshold, color="#2b2f36", linewidth=1, label="threshold"
)
axes.set(xlabel="nearness to the nearest class", ylabel="sets", title="Known or unknown?")
axes.legend(frameon=False)
plt.show()
