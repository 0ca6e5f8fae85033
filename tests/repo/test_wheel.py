# SPDX-License-Identifier: Apache-2.0
"""The wheel works alone, with the oldest numpy that it promises and with the newest: the same cycles and values."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def found(wheel, tmp_path_factory) -> dict[str, dict]:
    """What the script says with each numpy."""
    results = {}
    for kind, wanted in (("oldest", f"numpy=={NEEDED}.*"), ("newest", "numpy")):
        folder = tmp_path_factory.mktemp(kind)
        run(sys.executable, "-m", "venv", "env", cwd=folder)
        python = folder / "env/bin/python"
        run(python, "-m", "pip", "install", "--quiet", wheel, wanted, cwd=folder)
        (folder / "net.csv").write_text(TABLE)
        (folder / "script.py").write_text(SCRIPT)
        results[kind] = json.loads(run(python, "script.py", cwd=folder))
    return results


def test_the_oldest_and_the_newest_numpy_were_there(found):
    assert found["oldest"]["numpy"].startswith(NEEDED + ".")
    newest = tuple(int(part) for part in found["newest"]["numpy"].split(".")[:2])
    assert newest > tuple(int(part) for part in NEEDED.split("."))


def test_values_are_right_and_cycles_are_the_same(found):
    assert found["oldest"]["right"] == found["newest"]["right"] == [True] * 3
    assert found["oldest"]["cycles"] == found["newest"]["cycles"]
    assert found["oldest"]["cycles"][0] == found["oldest"]["cycles"][1] > 0
