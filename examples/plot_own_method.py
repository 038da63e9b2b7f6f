"""
A method of your own
====================

A set classifier is one small class: what a set becomes, and how far two are apart. It gets
``fit``, ``predict`` and ``predict_proba``, stands beside the others in ``compare``, and can be
searched and cross-validated like any estimator of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

import setwise
from setwise.baselines import MSM, MeanCosine
from setwise.baselines.base import NearestSet
from setwise.demo import digit_sets

# %%
# Sets as histograms: how many images lie nearest to each of some prototypes.


class Prototypes(NearestSet):
    """Nearest histogram over prototypes, which are drawn from the gallery."""

    def __init__(self, n_prototypes: int = 30, *, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.n_prototypes = n_prototypes

    def _learn(self, gallery, codes):
        rows = np.linspace(0, len(gallery.vectors) - 1, self.n_prototypes).astype(int)
        self.prototypes_ = np.asarray(gallery.vectors, dtype=float)[rows]

    def _model(self, vectors):
        distances = ((vectors[:, None] - self.prototypes_) ** 2).sum(axis=-1)
        counts = np.bincount(distances.argmin(axis=1), minlength=self.n_prototypes)
        return np.sqrt(counts / counts.sum())

    def _distances(self, model):
        return [1 - model @ other for other in self.gallery_models_]


# %%
# How many prototypes? Sets are never cut: folds are of whole sets.
data = digit_sets(n_gallery=6, n_probes=4, n_images=12, n_outliers=4, light=0.6)
sizes = [5, 10, 20, 40, 80, 160]
search = GridSearchCV(Prototypes(), {"n_prototypes": sizes}, cv=3)
search.fit(data.gallery, data.gallery.labels)
print(search.best_params_)

# %%
# Beside the others, on sets that hold strangers.
methods = {
    "prototypes": search.best_estimator_,
    "CVC": setwise.CVC(dims=(3, 5), random_state=0),
    "MSM": MSM(),
    "mean cosine": MeanCosine(),
}
table = setwise.compare(
    data.gallery, data.gallery.labels, data.probes, data.probes.labels, methods=methods
)
print(table)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(sizes, 100 * search.cv_results_["mean_test_score"], "o-", color="#3f74b5")
left.set(xscale="log", xlabel="prototypes", ylabel="% right, three folds")
left.set_xticks(sizes, sizes)
left.minorticks_off()
left.set_title("Searched on the gallery")
names = [result.name for result in table][::-1]
shares = 100 * np.array([table[name].accuracy for name in names])
low, high = 100 * np.array([table.intervals[name] for name in names]).T
colours = ["#d81b60" if name == "CVC" else "#3f74b5" for name in names]
right.barh(names, shares, color=colours, xerr=[shares - low, high - shares], ecolor="#2b2f36")
right.set(xlim=(0, 103), xlabel="% of the sets right, 95 % intervals", title="Compared")
plt.show()
