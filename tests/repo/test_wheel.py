# SPDX-License-Identifier: Apache-2.0
"""The wheel works alone, with the oldest numpy that it promises and with the newest: the same cycles and values."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tb.toolchain import ROOT

NEEDED = re.search(r'"numpy>=([\d.]+)"', (ROOT / "pyproject.toml").read_text()).group(1)
TABLE = "Layer, M, N, K,\na, 30, 13, 70,\nb, 5, 64, 9,\n"
SCRIPT = """
import json
import numpy as np
from beatmatch import matmul, preset
from beatmatch.networks.read import read_network
from beatmatch.networks.timing import time_network

rng = np.random.default_rng(1)
a, b = (rng.integers(-128, 128, (20, 20)).astype(np.int8) for _ in range(2))
runs = {tier: matmul(a, b, preset("tiny"), tier=tier) for tier in ("functional", "stepped", "fast")}
sums = a.astype(np.int32) @ b
result = time_network(read_network("net.csv"), preset("tiny"))
print(json.dumps({
    "numpy": np.__version__,
    "right": [bool(np.array_equal(run.values["out"], sums)) for run in runs.values()],
    "cycles": [runs["stepped"].cycles, runs["fast"].cycles, result.cycles],
}))
"""


def run(*command: object, cwd: Path) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(folder: Path) -> Path:
    """The wheel, built from a copy: others look at the tree meanwhile."""
    source = folder / "source"
    shutil.copytree(ROOT / "model", source / "model", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_is_right_with_the_oldest_and_the_newest_numpy(tmp_path):
    wheel, found = build(tmp_path), {}
    for kind, wanted in (("oldest", f"numpy=={NEEDED}.*"), ("newest", "numpy")):
        folder = tmp_path / kind
        folder.mkdir()
        run(sys.executable, "-m", "venv", "env", cwd=folder)
        python = folder / "env/bin/python"
        run(python, "-m", "pip", "install", "--quiet", wheel, wanted, cwd=folder)
        (folder / "net.csv").write_text(TABLE)
        (folder / "script.py").write_text(SCRIPT)
        found[kind] = json.loads(run(python, "script.py", cwd=folder))
    oldest, newest = found["oldest"], found["newest"]
    assert oldest["numpy"].startswith(NEEDED + ".")
    assert [int(part) for part in newest["numpy"].split(".")[:2]] > [int(part) for part in NEEDED.split(".")]
    assert oldest["right"] == newest["right"] == [True] * 3
    assert oldest["cycles"] == newest["cycles"]
    assert oldest["cycles"][0] == oldest["cycles"][1] > 0
