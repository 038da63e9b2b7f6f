"""Functions and ONNX networks as features."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from setwise import SetBatch
from setwise.errors import DataError, ParameterError
from setwise.features.embedding import Embedding, OnnxEmbedding
from setwise.features.images import as_grey, resized

IMAGES = np.arange(7 * 4, dtype=float).reshape(7, 2, 2) + 1
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WEIGHTS = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)


def corners(images):
    return images.reshape(len(images), -1)[:, :3]


@pytest.mark.parametrize("batch_size", [1, 3, 7, 64])
def test_in_batches(batch_size):
    sizes = []

    def function(images):
        sizes.append(len(images))
        return corners(images)

    made = Embedding(function, batch_size=batch_size).transform(IMAGES)
    assert np.array_equal(made, IMAGES.reshape(7, 4)[:, :3])
    assert sum(sizes) == 7
    assert max(sizes) == min(batch_size, 7)
    assert set(sizes[:-1]) <= {batch_size}


def test_a_function_that_writes_into_its_images_harms_nobody():
    def function(images):
        images *= 0
        return corners(images) + 1

    before = IMAGES.copy()
    assert (Embedding(function).transform(IMAGES) == 1).all()
    assert np.array_equal(IMAGES, before)


def test_lists_and_other_dtypes_become_doubles():
    made = Embedding(lambda images: [[1, 2]] * len(images)).transform(IMAGES)
    assert made.dtype == np.float64


def growing(images):
    return np.ones((len(images), int(images[0, 0, 0])))


def broken(images):
    raise KeyError("weights")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images: images, r"lambda>, given images 0 to 2, made .* \(3, 2, 2\)"),
        (lambda images: corners(images)[1:], r"shape \(2, 3\). Expected \(3, n_features\)"),
        (lambda images: corners(images)[:, :0], r"\(3, 0\)"),
        (lambda images: np.array(3), r"shape \(\)"),
        (lambda images: corners(images) + 1j, "dtype complex128"),
        (lambda images: [["a"]] * len(images), "dtype <U1"),
        (
            lambda images: np.where(corners(images) > 20, np.nan, 1),
            "given images 3 to 5, made NaN",
        ),
        (growing, "growing, given images 3 to 5, made vectors of 13 features, but before of 1"),
        (broken, "broken, given images 0 to 2, failed with KeyError: 'weights'"),
        (lambda images: [[1], [2, 3], [4]], "failed with ValueError"),
    ],
)
def test_refuses_what_a_function_makes(function, message):
    with pytest.raises(DataError, match=message):
        Embedding(function, batch_size=3).transform(IMAGES)


def test_messages_call_it_by_its_name():
    with pytest.raises(DataError, match="my network, given images"):
        Embedding(broken, name="my network").transform(SetBatch.from_images([IMAGES]))


def test_only_a_name_identifies_it():
    assert Embedding(corners, name="v1").fingerprint()["parameters"] == {
        "name": "v1",
        "batch_size": 64,
    }
    with pytest.raises(ParameterError, match="corners has no name"):
        Embedding(corners).fingerprint()


def network(
    path, shape=("n", 3, 8, 6), weights=WEIGHTS, dtype=TensorProto.FLOAT, flat=True, inputs=1
):
    """Average each channel, then multiply by the weights."""
    axes = [2, 3][: len(shape) - 2] if shape[1] in (1, 3, "c") else [1, 2]
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    nodes = [helper.make_node("ReduceMean", ["images", "axes"], ["means"], keepdims=0)]
    nodes.append(helper.make_node("MatMul", ["means", "weights"], ["product"]))
    last = "product"
    if not flat:
        nodes.append(helper.make_node("Unsqueeze", ["product", "last"], ["deep"]))
        last = "deep"
    given = [helper.make_tensor_value_info("images", dtype, shape)]
    given += [
        helper.make_tensor_value_info(f"more{i}", dtype, shape) for i in range(inputs - 1)
    ]
    if inputs > 1:
        nodes.append(helper.make_node("Identity", ["more0"], ["unused"]))
    graph = helper.make_graph(
        nodes,
        "averages",
        given,
        [helper.make_tensor_value_info(last, dtype, None)],
        [
            numpy_helper.from_array(np.array(axes), "axes"),
            numpy_helper.from_array(np.array([2, 3]), "last"),
            numpy_helper.from_array(weights.astype(kind), "weights"),
        ],
    )
    opset = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return path


@pytest.fixture
def images(seed):
    return np.random.default_rng(seed).integers(0, 256, (7, 8, 6, 3), dtype=np.uint8)


def expected(images, mean=0.0, std=1.0):
    return ((images - np.asarray(mean)) / np.asarray(std)).mean(axis=(1, 2)) @ WEIGHTS


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_equals_the_same_in_numpy(tmp_path, images, batch_size):
    feature = OnnxEmbedding(network(tmp_path / "n.onnx"), batch_size=batch_size)
    np.testing.assert_allclose(feature.transform(images), expected(images), rtol=1e-4)
    sets = SetBatch.from_images([images[:3], images[3:]], labels=np.array([1, 2]))
    made = feature.fit_transform(sets)
    np.testing.assert_allclose(made.vectors, expected(images), rtol=1e-4)
    assert made.labels.tolist() == [1, 2]
    assert len(feature.get_feature_names_out()) == 5


@pytest.mark.parametrize(
    "options",
    [
        {"shape": ("n", "c", "h", "w")},
        {"shape": (1, 3, 8, 6)},
        {"dtype": TensorProto.DOUBLE},
        {"flat": False},
    ],
)
def test_other_forms_of_networks(tmp_path, images, options):
    path = network(tmp_path / "n.onnx", **options)
    found = OnnxEmbedding(str(path)).transform(images)
    np.testing.assert_allclose(found, expected(images), rtol=1e-4)


def test_half_precision(tmp_path, images):
    path = network(tmp_path / "n.onnx", dtype=TensorProto.FLOAT16)
    found = OnnxEmbedding(path, std=255).transform(images)
    np.testing.assert_allclose(found, expected(images, 0, 255), atol=5e-3)


def test_channels_last(tmp_path, images):
    path = network(tmp_path / "n.onnx", shape=("n", 8, 6, 3))
    feature = OnnxEmbedding(path, layout="nhwc")
    np.testing.assert_allclose(feature.transform(images), expected(images), rtol=1e-4)


@pytest.mark.parametrize(("mean", "std"), [(100, 50), ((90, 100, 110), [50.0, 60.0, 70.0])])
def test_mean_and_std(tmp_path, images, mean, std):
    feature = OnnxEmbedding(network(tmp_path / "n.onnx"), mean=mean, std=std)
    found = feature.transform(images)
    np.testing.assert_allclose(found, expected(images, mean, std), rtol=1e-4, atol=1e-5)


def test_size_and_channels(tmp_path, images):
    path = network(tmp_path / "n.onnx", shape=("n", 3, 4, 4))
    found = OnnxEmbedding(path, size=4).transform(images)
    np.testing.assert_allclose(found, expected(resized(images, 4)), rtol=1e-4)
    grey = images[..., 0]
    repeated = np.repeat(grey[..., None], 3, axis=3)
    for form in (grey, grey[..., None]):
        found = OnnxEmbedding(path, size=(4, 4)).transform(form)
        np.testing.assert_allclose(found, expected(resized(repeated, 4)), rtol=1e-4)
    one = network(tmp_path / "one.onnx", shape=("n", 1, 8, 6), weights=WEIGHTS[:1])
    brightness = as_grey(images, "test").mean(axis=(1, 2))[:, None]
    found = OnnxEmbedding(one).transform(images)
    np.testing.assert_allclose(found, brightness @ WEIGHTS[:1], rtol=1e-4)


def test_copies_leave_the_session_behind(tmp_path, images):
    feature = OnnxEmbedding(network(tmp_path / "n.onnx")).fit(images)
    found = feature.transform(images)
    assert hasattr(feature, "_session")
    for copy in (clone(feature), pickle.loads(pickle.dumps(feature))):
        assert not hasattr(copy, "_session")
        assert np.array_equal(copy.transform(images), found)


def test_a_changed_file_is_read_again(tmp_path, images):
    path = tmp_path / "n.onnx"
    feature = OnnxEmbedding(network(path))
    before, known = feature.transform(images), feature.fingerprint()
    assert feature.fingerprint() == known
    network(path, weights=2 * WEIGHTS)
    assert feature.fingerprint() != known
    np.testing.assert_allclose(feature.transform(images), 2 * before, rtol=1e-5)


def test_refuses_files_that_are_no_networks(tmp_path, images):
    with pytest.raises(DataError, match=r"none\.onnx cannot be read \(No such file"):
        OnnxEmbedding(tmp_path / "none.onnx").transform(images)
    with pytest.raises(DataError, match="cannot be read"):
        OnnxEmbedding(tmp_path).transform(images)
    whole = network(tmp_path / "n.onnx").read_bytes()
    for name, content in {
        "empty": b"",
        "junk": b"no network at all",
        "cut": whole[: len(whole) // 2],
    }.items():
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"{name}\.onnx cannot be opened as an ONNX"):
            OnnxEmbedding(path).transform(images)


def test_refuses_weights_in_other_files(tmp_path, images, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = onnx.load(network(tmp_path / "n.onnx"))
    apart = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    onnx.save(model, "split.onnx", **apart)
    with pytest.raises(DataError, match=r"split\.onnx cannot be opened.*weights included"):
        OnnxEmbedding("split.onnx").transform(images)


@pytest.mark.parametrize(
    ("shape", "parameters", "error", "message"),
    [
        (
            ("n", 3, 9, 6),
            {},
            DataError,
            r"expects images of 9 x 6, and got 8 x 6. Give size=\(9",
        ),
        (("n", 3, 8, 6), {"layout": "nhwc"}, DataError, "expects 6 channels.*images have 3"),
        ((2, 3, 8, 6), {}, DataError, r"shape \[2, 3, 8, 6\].*with n free or 1"),
        (("n", 3, 8), {}, DataError, "Expected floats of shape"),
        (("n", 3, 8, 6), {"input_name": "pixels"}, ParameterError, "one of 'images', got 'pix"),
        (("n", 3, 8, 6), {"mean": (1, 2)}, ParameterError, "mean must be one number, or 3"),
        (("n", 3, 8, 6), {"std": 0}, ParameterError, "std must be positive"),
        (("n", 3, 8, 6), {"std": "x"}, ParameterError, "std must be a number"),
        (("n", 3, 8, 6), {"mean": [[1]]}, ParameterError, "mean must be a number"),
        (("n", 3, 8, 6), {"layout": "hwc"}, ParameterError, "layout"),
        (("n", 3, 8, 6), {"size": 0}, ParameterError, "size"),
        (("n", 3, 8, 6), {"batch_size": 0}, ParameterError, "batch_size"),
        (("n", 3, 8, 6), {"providers": "CPU"}, ParameterError, "providers must be a sequence"),
        (("n", 3, 8, 6), {"providers": ["Abacus"]}, ParameterError, "providers must be one of"),
    ],
)
def test_refuses(tmp_path, images, shape, parameters, error, message):
    path = network(tmp_path / "n.onnx", shape=shape)
    with pytest.raises(error, match=message):
        OnnxEmbedding(path, **parameters).transform(images)


def test_refuses_inputs_it_cannot_choose_from_or_fill(tmp_path, images):
    several = network(tmp_path / "several.onnx", inputs=2)
    with pytest.raises(ParameterError, match="several inputs, images, more0"):
        OnnxEmbedding(several).transform(images)
    with pytest.raises(DataError, match="given images 0 to 6, failed with"):
        OnnxEmbedding(several, input_name="images").transform(images)
