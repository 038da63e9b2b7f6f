"""
A gallery that grows
====================

People come and go. ``enroll`` and ``forget`` give exactly what a fit from scratch would give,
and ``save`` writes a file of names and numbers, with nothing in it that runs.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import setwise
from setwise import CVC
from setwise.demo import digit_sets

# %%
# Start with five digits. A set of sevens is taken for something else, of course.
data = digit_sets(n_gallery=4, n_probes=1, n_images=12, n_outliers=0)
digits = data.gallery.labels.astype(str)
is_first = np.isin(digits, list("01234"))
clf = CVC(dims=(3, 5), weights=None, random_state=0)
clf.fit(data.gallery[is_first], digits[is_first])
seven = data.probes[[7]]
history = [("five digits", clf.predict_proba(seven)[0], clf.classes_)]

# %%
# Enrol the others one by one, forget the ones again, and look at the sevens each time.
for digit in "56789":
    chosen = digits == digit
    clf.enroll(data.gallery[chosen], digits[chosen])
    history.append((f"and the {digit}s", clf.predict_proba(seven)[0], clf.classes_))
clf.forget(["1"])
history.append(("without the 1s", clf.predict_proba(seven)[0], clf.classes_))

# %%
# A fit from scratch says the same, and so does the saved file.
fresh = CVC(dims=(3, 5), weights=None, random_state=0)
fresh.fit(data.gallery[digits != "1"], digits[digits != "1"])
path = clf.save(Path(tempfile.mkdtemp()) / "digits.setwise")
same = fresh.predict_proba(seven), setwise.load(path).predict_proba(seven)
print(f"largest difference: {max(np.abs(p - history[-1][1]).max() for p in same):.1g}")

# %%
# What the set of sevens is said to be, as the gallery changes.
table = np.full((len(history), 10), np.nan)
for row, (_, chances, classes) in enumerate(history):
    table[row, classes.astype(int)] = chances
fig, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.set_facecolor("#f1f3f5")
axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
for row, digit in zip(*np.nonzero(table > 0.005), strict=True):
    colour = "w" if table[row, digit] > 0.5 else "k"
    words = f"{table[row, digit]:.2f}"
    axes.text(digit, row, words, ha="center", va="center", size=8, color=colour)
axes.set_xticks(range(10), range(10))
axes.set_yticks(range(len(history)), [name for name, *_ in history])
axes.set(xlabel="digit (grey: not in the gallery)", title="Whose are the sevens?")
plt.show()
