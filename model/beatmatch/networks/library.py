# SPDX-License-Identifier: Apache-2.0
"""Well-known networks that come with the package, as graphs without weights.

They were exported by `tools/export_networks.py` from torchvision and transformers; values are made from a seed.
"""

from __future__ import annotations

import json
from pathlib import Path

from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph
from beatmatch.networks.onnx_import import read_onnx

FOLDER = Path(__file__).parent / "graphs"


def names() -> list[str]:
    """Every network there is."""
    return sorted(path.stem for path in FOLDER.glob("*.onnx"))


def path_of(name: str) -> Path:
    """The file of a network.

    Raises
    ------
    GraphError
        If there is none of that name.
    """
    path = FOLDER / f"{name}.onnx"
    if not path.exists():
        raise GraphError(f"No network is called {name!r}; there are {', '.join(names())}.")
    return path


def load(name: str) -> Graph:
    """The graph of a network; batch 1, its original image size or 128 tokens."""
    return read_onnx(path_of(name))


def reference_macs() -> dict[str, int]:
    """Multiply-accumulates of each network as torch counted them when it was exported."""
    return json.loads((FOLDER / "macs.json").read_text())
