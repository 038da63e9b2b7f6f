"""
Whose set is this?
==================

A gallery of labelled sets, one set nobody has labelled, and the picture that explains the
answer. The sets are of twelve handwritten digits each, photographed in changing light.
"""

import matplotlib.pyplot as plt

from setwise import CVC
from setwise.demo import digit_sets

# %%
# Four sets of each digit are the gallery. In every second set that is asked about, four of
# the twelve images show another digit.
data = digit_sets(n_gallery=4, n_probes=2, n_images=12, n_outliers=4, one_other=True, light=0.6)
digits = data.gallery.labels.astype(str)
clf = CVC(random_state=0).fit(data.gallery, digits)

# %%
# An answer has a label, a probability and a runner-up.
mixed = data.probes[[1]]
(answer,) = clf.judge(mixed)
print(f"{answer.name}: {answer.label}, {answer.probability:.2f}; next {answer.runner_up}")

# %%
# A batch of one, ``probes[[1]]``, keeps the name and the images of the set: they are in the
# picture, beside the images of the gallery that are most like them.
why = clf.explain(mixed)
print(why)
why.plot(figure=plt.figure())
plt.show()
