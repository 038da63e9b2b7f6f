"""Fixtures shared by all tests: toy sets, and real data where it is at hand."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

# Machines differ in speed, so a slow example is no failure. "quick" (the default) tries the
# same examples each time, so that a commit either passes or fails; "fuzz" (`make fuzz`) tries
# many, new ones each time, and prints how to repeat a failure.
settings.register_profile(
    "setwise", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile(
    "quick", settings.get_profile("setwise"), derandomize=True, max_examples=30
)
settings.register_profile("fuzz", settings.get_profile("setwise"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    """On small matrices, threads of BLAS that wait for each other cost forty times the work."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests leave nothing in the cache of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


# Tests of all else run without coverage, which would take half as long again.
MATHEMATICS = {
    *("sets", "io", "faces", "features", "basis", "lasso", "graph", "cut", "cluster", "index"),
    *("gallery", "classify", "together", "baselines", "evaluation", "plots", "reference"),
}
# Of the mathematics, these ask everything of many classifiers.
BROAD = {"test_battery.py", "test_real.py", "test_sklearn_checks.py"}


def pytest_collection_modifyitems(config, items):
    if config.pluginmanager.hasplugin("_cov"):
        root = Path(__file__).parent
        for item in (item for item in items if item.path.is_relative_to(root)):
            is_narrow = item.path.relative_to(root).parts[0] in MATHEMATICS
            if not is_narrow or item.path.name in BROAD:
                item.add_marker("no_cover")


@pytest.fixture
def no_networks(monkeypatch):
    """Images are looked at by pixels and edges alone, as where no network is installed."""
    of_images = "setwise.classify.image_features.installed_features"
    monkeypatch.setattr(of_images, lambda: ("pixels", "edges"))


@pytest.fixture(scope="session")
def seed() -> int:
    """One seed by default; SETWISE_TEST_SEED picks another."""
    return int(os.environ.get("SETWISE_TEST_SEED", "0"))


@pytest.fixture(scope="session")
def real():
    """Loader of the real datasets; skips, saying so, where they are absent."""
    import datasets

    if datasets.data_folder() is None:
        pytest.skip("real datasets found neither in ../shared/data nor in $SETWISE_DATA")
    return datasets.load


def toy_sets(
    seed: int,
    n_classes: int = 3,
    n_sets: int = 3,
    n_vectors: tuple[int, int] = (6, 12),
    n_features: int = 20,
    noise: float = 0.1,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Sets that live near one 3-dimensional subspace per class, with labels."""
    rng = np.random.default_rng(seed)
    subspaces = rng.standard_normal((n_classes, 3, n_features))
    means = rng.standard_normal((n_classes, n_features))
    sets, labels = [], []
    for c in range(n_classes):
        for _ in range(n_sets):
            n = rng.integers(*n_vectors)
            inside = rng.standard_normal((n, 3)) @ subspaces[c] + 2 * means[c]
            sets.append(inside + noise * rng.standard_normal((n, n_features)))
            labels.append(c)
    return sets, np.array(labels)
