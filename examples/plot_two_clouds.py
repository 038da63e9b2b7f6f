"""
Cutting a graph in two
======================

The step that everything rests on: points become a graph, and the Fiedler vector of the graph
says where to cut it. As in Figure 4 of the paper, the algebraic connectivity tells how well
two clouds are apart, before anybody has seen a label.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist

from setwise.cut import bisect

# %%
# Two clouds of 150 points in 3-D, nearer to each other and farther apart.
rng = np.random.default_rng(0)
is_second = np.repeat([False, True], 150)
noise = rng.normal(size=(300, 3))
distances = (1.5, 3.0, 5.0)

# %%
# Edges fade with distance. :func:`setwise.cut.bisect` gives the two sides and the connectivity.
fig, panels = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for axes, distance in zip(panels, distances, strict=True):
    points = noise + np.where(is_second[:, None], [distance, 0, 0], 0)
    weights = np.exp(-0.5 * cdist(points, points, "sqeuclidean"))
    np.fill_diagonal(weights, 0)
    cut = bisect(weights)
    is_wrong = cut.side != is_second
    if is_wrong.mean() > 0.5:  # the sides have no names
        is_wrong = ~is_wrong
    for side, colour in ((False, "#3f74b5"), (True, "#e0930f")):
        x, y, _ = points[cut.side == side].T
        axes.scatter(x, y, s=14, c=colour, linewidths=0)
    x, y, _ = points[is_wrong].T
    axes.scatter(x, y, s=60, facecolors="none", edgecolors="#2b2f36", linewidths=0.8)
    axes.set(xticks=[], yticks=[], aspect="equal", xlim=(-4, 8), ylim=(-4, 4))
    axes.set_title(
        f"{distance:g} apart: connectivity {cut.connectivity:.3f},\n"
        f"{is_wrong.mean():.1%} on the wrong side"
    )
fig.suptitle("Colours: the two sides of the cut. Circles: points on the wrong side.")
plt.show()
