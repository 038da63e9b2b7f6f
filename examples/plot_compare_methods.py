"""
Which method for these sets?
============================

No method is best everywhere. One call tries them all on the same gallery and the same sets,
and says which differences may be chance.
"""

import matplotlib.pyplot as plt

import setwise
from setwise.demo import digit_sets
from setwise.plots import plot_accuracy_time

# %%
# Digits in changing light, half of the sets with four strangers among twelve images: hard for
# whoever looks at images one by one, or at their mean.
data = digit_sets(n_gallery=4, n_probes=2, n_images=12, n_outliers=4, one_other=True, light=0.6)
methods = ["CVC", "MSM", "GDA", "CDL-LDA", "AHISD", "frame vote", "mean cosine", "mean vector"]
table = setwise.compare(
    data.gallery, data.gallery.labels, data.probes, data.probes.labels, methods=methods
)
print(table)

# %%
# Accuracy against time; bars are intervals of confidence. The upper left corner is best.
points = [
    (result.name, result.seconds_per_probe, result.accuracy, *table.intervals[result.name])
    for result in table
]
fig, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
plot_accuracy_time(axes, points)
axes.set_title("All methods on sets of digits")
plt.show()
