# SPDX-License-Identifier: Apache-2.0
"""Export the library's networks from torchvision and transformers as graphs without weights.

It needs an environment of its own, which nothing else in the repository does:

    python -m venv export-env
    export-env/bin/pip install torch torchvision transformers onnx onnxscript
    export-env/bin/python tools/export_networks.py              # all of them
    export-env/bin/python tools/export_networks.py resnet18     # some
    export-env/bin/python tools/export_networks.py --strip big.onnx small.onnx

Networks come from their published architecture or configuration with random weights: what is committed is shapes and
operators, and values are made again from a seed.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "model/beatmatch/networks/graphs"
OPSET = 20
TOKENS = 128
IMAGE = (1, 3, 224, 224)

sys.path.insert(0, str(ROOT / "model"))

VISION = (
    "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "vgg16", "densenet121",
    "squeezenet1_1", "shufflenet_v2_x1_0", "regnet_y_400mf", "mnasnet1_0", "convnext_tiny", "vit_b_16",
)  # fmt: skip


def vision(name: str) -> tuple[object, tuple]:
    """A torchvision classifier on one image of 224 x 224."""
    import torch
    import torchvision

    return torchvision.models.get_model(name, weights=None), (torch.zeros(IMAGE),)


def unet() -> tuple[object, tuple]:
    """A U-Net of four levels, 16 to 256 channels, upsampling by nearest neighbours, on one image of 128 x 128."""
    import torch
    from torch import nn

    class Double(nn.Sequential):
        def __init__(self, into: int, out: int) -> None:
            layers = []
            for channels in (into, out):
                layers += [nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            super().__init__(*layers)

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (16, 32, 64, 128, 256)
            self.down = nn.ModuleList(Double(a, b) for a, b in zip((3, *widths), widths, strict=False))
            self.up = nn.ModuleList(Double(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1], strict=True))
            self.last = nn.Conv2d(16, 2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            kept = []
            for k, block in enumerate(self.down):
                x = block(nn.functional.max_pool2d(x, 2) if k else x)
                kept.append(x)
            for block, skip in zip(self.up, kept[-2::-1], strict=True):
                x = block(torch.cat([nn.functional.interpolate(x, scale_factor=2.0, mode="nearest"), skip], 1))
            return self.last(x)

    return UNet(), (torch.zeros(1, 3, 128, 128),)


def _text(model: object, inputs: int = 1) -> tuple[object, tuple]:
    """The first output of a transformer on one sequence, as a module with plain inputs."""
    import torch
    from torch import nn

    class First(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
            more = {} if mask is None else {"attention_mask": mask}
            return self.inner(input_ids=ids, return_dict=False, **more)[0]

    return First(), tuple(torch.ones(1, TOKENS, dtype=torch.long) for _ in range(inputs))


def bert(**sizes: int) -> tuple[object, tuple]:
    """An encoder of BERT's kind; the sizes left out are those of BERT-base."""
    from transformers import BertConfig, BertModel

    config = BertConfig(**sizes, attn_implementation="eager")
    return _text(BertModel(config, add_pooling_layer=False), inputs=2)


def distilbert() -> tuple[object, tuple]:
    """DistilBERT's configuration."""
    from transformers import DistilBertConfig, DistilBertModel

    return _text(DistilBertModel(DistilBertConfig(attn_implementation="eager")), inputs=2)


def gpt2() -> tuple[object, tuple]:
    """GPT-2 (124 million parameters) with its output layer, one prefill."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return _text(GPT2LMHeadModel(GPT2Config(attn_implementation="eager", use_cache=False)))


def llama() -> tuple[object, tuple]:
    """A Llama-style decoder with grouped queries in SmolLM-135M's sizes, one prefill."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=2048, attn_implementation="eager", use_cache=False,
    )  # fmt: skip
    return _text(LlamaForCausalLM(config))


def whisper() -> tuple[object, tuple]:
    """The encoder of Whisper-tiny on 30 seconds of sound: one-dimensional convolutions, then attention."""
    import torch
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(attn_implementation="eager", d_model=384, encoder_layers=4, encoder_attention_heads=6,
                           encoder_ffn_dim=1536)  # fmt: skip

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = WhisperEncoder(config)

        def forward(self, sound: torch.Tensor) -> torch.Tensor:
            return self.inner(sound, return_dict=False)[0]

    return First(), (torch.zeros(1, 80, 3000),)


NETWORKS: dict[str, Callable[[], tuple[object, tuple]]] = {
    **{name: (lambda name=name: vision(name)) for name in VISION},
    "unet": unet,
    "bert_base": bert,
    "minilm_l6": lambda: bert(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
    "distilbert": distilbert,
    "gpt2": gpt2,
    "llama_135m": llama,
    "whisper_tiny_encoder": whisper,
}


def count(model: object, inputs: tuple) -> int:
    """Multiply-accumulates by torch's own counter, which sees the operators that run and knows nothing of ONNX."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    # Fused kernels are operators that the counter does not know: attention is to run as its matrix products.
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops() // 2


def export(name: str, folder: Path) -> Path:
    """Export one network, strip it, write it, and enter its multiply-accumulates in `macs.json` beside it."""
    import onnx
    import torch

    torch.manual_seed(0)
    model, inputs = NETWORKS[name]()
    counts_file = folder / "macs.json"
    counts = json.loads(counts_file.read_text()) if counts_file.exists() else {}
    counts[name] = count(model.eval(), inputs)
    counts_file.write_text(json.dumps(dict(sorted(counts.items())), indent=2) + "\n")
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        whole = Path(scratch) / "whole.onnx"
        torch.onnx.export(model.eval(), inputs, str(whole), opset_version=OPSET, dynamo=True, external_data=True)
        proto = onnx.load(str(whole))
    target = folder / f"{name}.onnx"
    target.write_bytes(bare(proto, name).SerializeToString(deterministic=True))
    return target


def bare(proto: object, name: str) -> object:
    """A stripped model without what exporters write for people: comments, call stacks, inner shapes."""
    from beatmatch.networks.weightless import strip

    stripped = strip(proto)
    stripped.graph.name = name
    for part in (stripped, stripped.graph, *stripped.graph.node, *stripped.graph.initializer, *stripped.graph.input,
                 *stripped.graph.output):  # fmt: skip
        part.ClearField("doc_string")
        part.ClearField("metadata_props")
    stripped.graph.ClearField("value_info")
    return stripped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}; all if none is given")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the graphs")
    parser.add_argument("--strip", nargs=2, type=Path, metavar=("FROM", "TO"), help="only strip an ONNX file")
    arguments = parser.parse_args()
    if arguments.strip:
        import onnx

        source, target = arguments.strip
        target.write_bytes(bare(onnx.load(str(source)), source.stem).SerializeToString(deterministic=True))
        return
    unknown = set(arguments.names) - set(NETWORKS)
    if unknown:
        parser.error(f"no network is called {sorted(unknown)[0]}; there are {', '.join(NETWORKS)}.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NETWORKS:
        path = export(name, arguments.out)
        print(f"{name}: {path.stat().st_size:,} bytes", flush=True)
        gc.collect()


if __name__ == "__main__":
    main()
