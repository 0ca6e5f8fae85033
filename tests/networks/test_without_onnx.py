# SPDX-License-Identifier: Apache-2.0
"""Without the extra everything imports, tables of SCALE-Sim work, and ONNX is refused with the name of the extra."""

import subprocess
import sys

CODE = """
import sys
sys.modules["onnx"] = sys.modules["onnxruntime"] = None
import importlib, pkgutil
import beatmatch.networks as package
for module in pkgutil.iter_modules(package.__path__, "beatmatch.networks."):
    importlib.import_module(module.name)
from pathlib import Path
from beatmatch.networks import library
from beatmatch.networks.errors import GraphError
from beatmatch.networks.scalesim import read_topology
path = Path(sys.argv[1])
path.write_text("Layer, M, N, K,\\nFC, 2, 3, 4,\\n")
print(read_topology(path).total_macs)
try:
    library.load("resnet18")
except GraphError as error:
    print(error)
"""


def test_the_package_imports_and_names_its_extra(tmp_path):
    run = subprocess.run([sys.executable, "-c", CODE, str(tmp_path / "net.csv")], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    macs, sentence = run.stdout.splitlines()
    assert macs == "24"
    assert sentence == "This needs onnx; install it with: pip install 'beatmatch[networks]'."


def test_importing_brings_neither_onnx_nor_onnxruntime():
    code = (
        "import sys, beatmatch.networks.library, beatmatch.networks.quantize\n"
        "print('onnx' in sys.modules, 'onnxruntime' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["False", "False"], run.stderr
