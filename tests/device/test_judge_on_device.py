"""With a device, a classifier says what it says without one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.device.reference import PlainHost

from setwise import CVC
from setwise.basis import CentredSVD
from setwise.device import check_device, current_device, on_device, principal_directions_of_all
from setwise.errors import DeviceError, MissingExtraError, ParameterError, TooLargeError

pytest.importorskip("array_api_compat", reason='needs pip install "setwise[cuda]"')


def made_sets(n_sets: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(4, 5, 24))
    labels = np.arange(n_sets) % 4
    sets = [
        rng.normal(size=(9, 5)) @ centres[label] + 0.8 * rng.normal(size=(9, 24)) + 1
        for label in labels
    ]
    return sets, labels


@pytest.fixture(scope="module")
def answers():
    """Of one classifier without a device, and of one with."""
    gallery, labels = made_sets(12, 1)
    probes, _ = made_sets(6, 2)
    plain = CVC(dims=(2, 4), random_state=0).fit(gallery, labels)
    device = CVC(dims=(2, 4), random_state=0, device=PlainHost()).fit(gallery, labels)
    return plain, device, list(plain.judge(probes)), list(device.judge(probes))


def test_answers_are_the_same(answers):
    _, _, plain, device = answers
    assert [a.label for a in device] == [a.label for a in plain]
    assert [a.name for a in device] == [a.name for a in plain]
    for one, other in zip(device, plain, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def test_graphs_are_the_same(answers):
    plain, device, _, _ = answers
    for one, other in zip(device.gallery_.layers, plain.gallery_.layers, strict=True):
        assert abs(one.graph.adjacency - other.graph.adjacency).max() < 1e-8


def test_a_gallery_solved_with_a_device_is_asked_without(answers, tmp_path):
    import setwise

    _, device, _, expected = answers
    path = device.save(tmp_path / "made.setwise")
    probes, _ = made_sets(6, 2)
    assert setwise.load(path).predict(probes).tolist() == [a.label for a in expected]


def test_bases_are_the_processors(answers):
    sets, _ = made_sets(5, 3)
    sets.append(sets[0][:4])  # fewer vectors than columns asked for
    sets.append(np.repeat(sets[0][:2], 5, axis=0))  # of rank two
    found = principal_directions_of_all(PlainHost(), sets, 5, centred=True)
    for vectors, columns in zip(sets[:5], found[:5], strict=True):
        expected = CentredSVD().columns(vectors, [5], np.random.default_rng(0))[0]
        assert columns == pytest.approx(expected, abs=1e-9)
    assert found[5] is None
    assert found[6] is None


def test_the_device_is_the_callers_alone():
    device = PlainHost()
    with on_device(device):
        assert current_device() is device
        with on_device(None):
            assert current_device() is None
    assert current_device() is None


def test_what_does_not_fit_is_refused_with_the_number():
    gallery, labels = made_sets(16, 1)
    with pytest.raises(
        TooLargeError, match=r"needs .* GiB on the device, which has .* GiB free"
    ):
        CVC(random_state=0, device=PlainHost(memory=1000)).fit(gallery, labels)


@pytest.mark.parametrize("device", ["tpu", 3, "cudaX", True])
def test_no_such_device(device):
    with pytest.raises(ParameterError, match="device"):
        check_device("CVC", device)
    with pytest.raises(ParameterError, match="device"):
        CVC(device=device).fit(*made_sets(8, 1))


def test_a_gpu_that_is_not_there_is_one_clear_line():
    """Without PyTorch which line installs it, without a GPU that there is none."""
    try:
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is a GPU here")
    except ImportError:
        pass
    with pytest.raises((MissingExtraError, DeviceError)) as error:
        CVC(device="cuda").fit(*made_sets(8, 1))
    assert "\n" not in str(error.value)
    assert "setwise[cuda]" in str(error.value) or "device=None" in str(error.value)
