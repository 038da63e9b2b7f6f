"""The reasons of an answer, read from the views that gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.answer import Answer
from setwise.classify.explanation import CutStep, Explanation, MemberVote
from setwise.cluster import HierarchicalClusters
from setwise.cut import sign_switches
from setwise.gallery.candidates import Candidates
from setwise.gallery.distributions import class_cluster_distributions, signal_to_noise
from setwise.gallery.evidence import ClusterOverlap, EdgeShare, LayerResult
from setwise.gallery.fusion import votes
from setwise.sets.classifier import largest_by_class

if TYPE_CHECKING:
    from setwise.classify.judge import Inference


def reasons_of(inference: Inference, answer: Answer) -> Explanation:
    """An answer, and the reasons that its views give."""
    candidates, views, bases = inference.candidates, inference.views, inference.bases
    said = _member_votes(inference)
    shown = _shown(inference, said, answer.nearest)
    layer, result = candidates.layers[shown].layer, views[shown].clustered
    shares = {i: bases.shares(candidates.layers[i].layer) for i in views}
    support = _support(inference, shares, inference.fused.code)
    sketch = candidates.sketch
    return Explanation(
        answer=answer,
        votes=said,
        shown=str(layer),
        snr=signal_to_noise(_class_distances(candidates, result)),
        tree=_cut_steps(candidates, shown, result),
        class_cluster=_by_class(candidates, result),
        support=np.where(bases.inliers, support, 0.0),
        sign_switches=shares[shown] @ _probe_switches(result, shares[shown].shape[1]),
        probe_points=sketch.project(inference.vectors),
        gallery_points=sketch.points,
        gallery_point_classes=sketch.classes,
    )


def _class_distances(candidates: Candidates, result: LayerResult) -> FloatArray:
    """Distance of each class by Algorithm 1, ``inf`` where no cluster is shared."""
    classes = candidates.target_classes
    return -largest_by_class(-result.distances, classes, candidates.n_classes)


def _member_votes(inference: Inference) -> tuple[MemberVote, ...]:
    """Vote of each active member; weights are relative to their mean."""
    made = []
    candidates, views, scores = inference.candidates, inference.views, inference.score_matrix
    ensemble, usual = candidates.gallery.ensemble, float(scores.weights.mean())
    by_class = -scores.by_class(-scores.distances)
    rows = zip(candidates.members(views), votes(scores), by_class, scores.weights, strict=True)
    for m, vote, distances, weight in rows:
        member = ensemble.members[m]
        if isinstance(member.evidence, ClusterOverlap):
            distances = _class_distances(candidates, views[ensemble.layer_of[m]].clustered)
        made.append(
            MemberVote(
                layer=str(member.layer),
                representation=str(member.layer.representation),
                evidence=member.evidence.name or type(member.evidence).__name__,
                n_columns=member.layer.n_columns,
                weight=float(weight) / usual,
                label=candidates.classes[int(vote.argmax())] if vote.any() else None,
                distances=distances,
                snr=signal_to_noise(distances),
            )
        )
    return tuple(made)


def _shown(inference: Inference, said: tuple[MemberVote, ...], label: Any) -> int:
    """The layer whose clusters are shown: the largest whose clusters vote for the answer."""
    candidates, views = inference.candidates, inference.views
    ensemble = candidates.gallery.ensemble
    asked = [
        (int(ensemble.layer_of[m]), vote)
        for m, vote in zip(candidates.members(views), said, strict=True)
        if isinstance(ensemble.members[m].evidence, ClusterOverlap)
    ]
    agreeing = [i for i, vote in asked if vote.label == label]
    of = agreeing or [i for i, _ in asked] or list(views)
    return max(of, key=lambda i: candidates.layers[i].layer.n_columns)


def _by_class(candidates: Candidates, result: LayerResult) -> FloatArray:
    """Class-cluster distributions, the probe last, whatever the targets are."""
    histogram = np.zeros((candidates.n_classes + 1, result.histogram.shape[1]))
    np.add.at(histogram, candidates.target_classes, result.histogram[:-1])
    histogram[-1] = result.histogram[-1]
    return class_cluster_distributions(histogram)


def _support(inference: Inference, shares: Mapping[int, FloatArray], code: int) -> FloatArray:
    """For each vector, the share of what its columns are joined to that is of a class."""
    candidates, views = inference.candidates, inference.views
    ensemble = candidates.gallery.ensemble
    for_answer = total = np.zeros(len(next(iter(shares.values()))))
    weights = inference.score_matrix.weights
    for m, weight in zip(candidates.members(views), weights, strict=True):
        i, evidence = int(ensemble.layer_of[m]), ensemble.members[m].evidence
        if isinstance(evidence, ClusterOverlap):
            purity, is_joined = _purity(candidates, i, views[i].clustered, code)
        elif isinstance(evidence, EdgeShare):
            by_target = views[i].edge_shares
            purity = by_target[:, candidates.target_classes == code].sum(axis=1)
            is_joined = by_target.max(axis=1, initial=0.0) > 0
        else:
            continue  # angles are of sets, not of vectors
        for_answer = for_answer + weight * (shares[i] @ (purity * is_joined))
        total = total + weight * (shares[i] @ is_joined.astype(np.float64))
    return np.divide(for_answer, total, out=np.full_like(total, np.nan), where=total > 0)


def _purity(
    candidates: Candidates, i: int, result: LayerResult, code: int
) -> tuple[FloatArray, BoolArray]:
    """For each probe column, the share of its cluster of a class; whether any is known."""
    column_classes = candidates.layer_graph(i).targets.classes
    clusters = result.clusters.labels
    known, probe = clusters[: len(column_classes)], clusters[len(column_classes) :]
    n_clusters = int(clusters.max()) + 1
    all_columns = np.bincount(known, minlength=n_clusters)
    of_answer = np.bincount(known[column_classes == code], minlength=n_clusters)
    return (of_answer / np.maximum(all_columns, 1))[probe], (all_columns > 0)[probe]


def _cut_steps(candidates: Candidates, shown: int, result: LayerResult) -> tuple[CutStep, ...]:
    """The nodes of a layer's tree, inner ones first; none where its clusters have no tree."""
    clusters = result.clusters
    if not isinstance(clusters, HierarchicalClusters):
        return ()
    classes = candidates.layer_graph(shown).targets.classes
    nodes = clusters.tree.nodes
    inner = [_step(candidates, nodes, i, classes, is_leaf=False) for i in clusters.inner]
    leaves = [_step(candidates, nodes, i, classes, is_leaf=True) for i in clusters.leaves]
    return tuple(inner + leaves)


def _step(
    candidates: Candidates, nodes: Any, i: int, classes: IntArray, *, is_leaf: bool
) -> CutStep:
    node = nodes[i]
    class_counts, n_probe = _counts(node.vertices, classes, candidates.n_classes)
    cut = None if is_leaf else node.cut
    free = np.nan if is_leaf else 0.0
    children = () if is_leaf else node.children
    parts = [nodes[child].vertices for child in children]
    is_gone = (class_counts > 0) & ~_with_probe(parts, classes, candidates.n_classes)
    has_left = is_gone & bool(children and n_probe)
    return CutStep(
        node=i,
        parent=node.parent,
        children=children,
        depth=node.depth,
        n_columns=len(node.vertices),
        n_probe=n_probe,
        class_counts=class_counts,
        kind="leaf" if is_leaf else "components" if cut is None else cut.kind,
        connectivity=free if cut is None else cut.connectivity,
        ncut=free if cut is None else cut.ncut,
        fell_away=tuple(candidates.classes[has_left]),
    )


def _counts(inside: IntArray, classes: IntArray, n_classes: int) -> tuple[IntArray, int]:
    """Columns of each class among some, and the probe's, which follow the gallery's."""
    known = classes[inside[inside < len(classes)]]
    return np.bincount(known, minlength=n_classes), len(inside) - len(known)


def _with_probe(parts: Sequence[IntArray], classes: IntArray, n_classes: int) -> BoolArray:
    """Which classes are together with the probe in some of the parts."""
    stays = np.zeros(n_classes, dtype=np.bool_)
    for inside in parts:
        class_counts, n_probe = _counts(inside, classes, n_classes)
        stays |= (class_counts > 0) & (n_probe > 0)
    return stays


def _probe_switches(result: LayerResult, n_probe: int) -> FloatArray:
    """Sign switches of the probe's columns, summed over the cuts of Algorithm 3."""
    clusters = result.clusters
    switches = np.zeros(len(clusters.labels))
    if isinstance(clusters, HierarchicalClusters):
        tree = clusters.tree
        for index in clusters.inner:
            node = tree.nodes[index]
            if node.cut is not None:
                inside = node.vertices
                of_cut = sign_switches(tree.adjacency[inside][:, inside])
                switches[inside] += 0 if of_cut is None else of_cut
    return switches[len(switches) - n_probe :]
