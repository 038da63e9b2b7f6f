"""
The tree of cuts, step by step
==============================

A set and the gallery are joined in one graph. The graph is cut in two again and again, until
no part holds the set and two classes. The picture of an answer folds this tree to who stays
with the set; here is all of it.
"""

import matplotlib.pyplot as plt

from setwise import CVC
from setwise.demo import digit_sets

# %%
# One way to look at the sets is enough here: their five main directions, whitened.
data = digit_sets(n_gallery=3, n_probes=1, n_images=12, n_outliers=0)
one_look = {"dims": (5,), "representations": [("whitened", "svd")], "weights": None}
clf = CVC(**one_look, random_state=0).fit(data.gallery, data.gallery.labels)
why = clf.explain(data.probes[[4]])
print(why)

# %%
# Every node knows how many columns of each class it holds, and how many of the set.
nodes = {step.node: step for step in why.tree}
for step in why.tree[:4]:
    gone = ", ".join(map(str, step.fell_away)) or "nobody"
    print(f"cut of {step.n_columns} columns at NCut {step.ncut:.2f}: {gone} is left behind")

# %%
# Depth from left to right. Circles: parts, as large as they are; dark: how much of each part
# is the set. Parts without it are not cut any further.
rows: dict[int, float] = {}


def place(node: int) -> float:
    """Give leaves a row each, and others the middle of theirs."""
    children = [place(child) for child in nodes[node].children]
    n_leaves = sum(not nodes[done].children for done in rows)
    rows[node] = sum(children) / len(children) if children else float(n_leaves)
    return rows[node]


place(min(nodes))
fig, axes = plt.subplots(figsize=(10, 5.5), layout="constrained")
for step in why.tree:
    x, y = step.depth, rows[step.node]
    if step.parent >= 0:
        width = 0.8 + 4 * (step.n_probe > 0)
        parent = [nodes[step.parent].depth, x], [rows[step.parent], y]
        axes.plot(*parent, color="#e0930f" if step.n_probe else "#dfe3e8", lw=width, zorder=1)
    axes.scatter(x, y, s=6 * step.n_columns, color="#b9c0c8", zorder=2)
    axes.scatter(x, y, s=6 * step.n_probe, color="#2b2f36", zorder=3)
    if not step.children:
        names = [str(c) for c, n in zip(why.classes, step.class_counts, strict=True) if n]
        axes.text(x + 0.25, y, " ".join(names) or "the set alone", va="center", fontsize=8)
axes.set(xlabel="cuts", yticks=[], title=f"{why.name} is cut out of the gallery: {why.label}")
axes.spines[["left", "top", "right"]].set_visible(False)
plt.show()
