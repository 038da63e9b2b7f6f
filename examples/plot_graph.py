"""
The graph behind an answer
==========================

Every set becomes a few columns, every column is rebuilt from as few others as possible, and
those that rebuild each other are joined. Nobody has told the graph a label, yet it is full of
blocks: the classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from setwise import LassoGraph
from setwise.basis import svd_bases
from setwise.demo import digit_sets

# %%
# Four columns of each set: its main directions.
data = digit_sets(n_gallery=6, n_probes=1, n_images=12, n_outliers=0)
columns = np.hstack([svd_bases(vectors, [4])[0] for vectors in data.gallery])
owners = np.repeat(data.gallery.labels, 4)

# %%
# The lasso graph is exact: every column is coded by all others at once.
weights = LassoGraph(alpha=0.05).adjacency(columns).toarray()
share = weights[owners[:, None] == owners].sum() / weights.sum()
print(f"{(weights > 0).sum(axis=0).mean():.1f} neighbours per column, of {len(owners) - 1}")
print(f"{share:.0%} of all weight is between columns of one digit (by chance: 10 %)")

# %%
# Columns in the order of the digits: most of the weight is in the blocks on the diagonal.
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
left.imshow(np.sqrt(weights), cmap="Greys", vmax=0.5, interpolation="nearest")
edges = np.arange(0, len(owners) + 1, 24)
left.set_xticks(edges[:-1] + 12, range(10))
left.set_yticks(edges[:-1] + 12, range(10))
left.set(title="Edges between columns", xlabel="digit", ylabel="digit")
by_digit = np.add.reduceat(np.add.reduceat(weights, edges[:-1], 0), edges[:-1], 1)
by_digit /= by_digit.sum(axis=1, keepdims=True)
image = right.imshow(by_digit, cmap="Blues", vmin=0, vmax=1)
for i, j in np.ndindex(10, 10):
    dark = by_digit[i, j] > 0.5
    words = f"{100 * by_digit[i, j]:.0f}"
    right.text(j, i, words, ha="center", va="center", size=7, color="w" if dark else "k")
right.set(title="% of the weight of a digit, by neighbour", xticks=range(10), yticks=range(10))
plt.show()
