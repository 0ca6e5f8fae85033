# SPDX-License-Identifier: Apache-2.0
"""Figures of every verification run, made up so that each bar of sign-off is just met."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

_CAMPAIGN = {"events": 9, "digests": 9, "mismatches": 0, "seconds": 1.5, "cycles_per_second": 7, "seed": 1}
_CAMPAIGN |= {"trace_sha256": "ab" * 32, "shared_sha256": "cd" * 32, "failures": []}
_MODULE = {"total": 5000, "killed": 4990, "equivalent": 6, "unreachable": 4, "holes": 0}
_SURVIVOR = {"id": "7", "module": "bm_fifo", "file": "rtl/lib/bm_fifo.sv", "line": 9, "what": "& to |"}
_MODEL = {"total": 500, "killed": 490, "equivalent": 0, "unreachable": 0, "holes": 10, "seconds": 2.0}
_PROOF = {"name": "order", "unit": "fifo", "statement": "first in, first out", "engine": "induction", "seconds": 1.0}
_PROOF |= {"parameters": "DEPTH=4", "proven": True, "covered": True, "assumptions": ["no push when full"]}
_UNIT = {"flips": 5000, "unmasked": 4000, "flagged": 4000, "masked": 1000}
_ROW = {"name": "dropped", "what": "a record is lost", "where": "transport", "expected": "missing", "found": "missing"}

MET: dict[str, dict[str, Any]] = {
    "regress-verilator": {**_CAMPAIGN, "programs": 300, "configs": 6, "cycles": 300_000},
    "regress-icarus": {**_CAMPAIGN, "programs": 300, "configs": 30, "cycles": 300_000},
    "nightly-verilator": {**_CAMPAIGN, "programs": 5_000, "configs": 60, "cycles": 10_000_000},
    "nightly-icarus": {**_CAMPAIGN, "programs": 400, "configs": 30, "cycles": 500_000},
    "uvm": {**_CAMPAIGN, "programs": 40, "configs": 2, "cycles": 40_000, "sim": "verilator"},
    "coverage": {"functional": 100.0, "line": 100.0, "branch": 100.0, "toggle": 98.0, "waivers": 10, "holes": []}
    | {"groups": [{"name": "opcode", "kind": "architectural", "description": "x", "bins": 8, "hit": 8, "hit3": 8}]}
    | {"exclusions": [], "waiver_rows": [{"file": "rtl/a.sv", "line": 3, "kind": "toggle", "reason": "a constant"}]}
    | {"files": [{"file": "rtl/a.sv", "line": 100.0, "branch": 100.0, "toggle": 98.0}]},
    "mutants-rtl": {**_MODULE, "seconds": 9.0, "build_seconds": 3.0, "by_module": {"bm_fifo": _MODULE}}
    | {"survivors": [{**_SURVIVOR, "status": "equivalent", "reason": "proven"}]},
    "mutants-model": {**_MODEL, "by_module": {}, "survivors": [{**_SURVIVOR, "status": "hole", "reason": ""}]},
    "formal": {"properties": 60, "proven": 60, "covers": 60, "seconds": 9.0, "rows": [_PROOF]},
    "faults": {**_UNIT, "median_latency_cycles": 1, "by_unit": {"matmul": _UNIT}},
    "planted": {"total": 30, "caught": 30, "rows": [{**_ROW, "caught": True}]},
    "reruns": {"reruns": 200, "flaky": 0, "variations": ["workers"]},
    "testplan": {
        "testpoints": [
            {
                "name": f"point_{stage}",
                "stage": stage,
                "description": "x",
                "tests": ["t"],
                "coverage": [],
                "result": "pass",
            }
            for stage in ("V1", "V2", "V3")
        ]
    },
}

TESTS = """<testsuites><testsuite><testcase classname="a" name="fast" time="0.1"/>
<testcase classname="a" name="slow" time="9.5"/><testcase classname="a" name="off"><skipped/></testcase>
</testsuite></testsuites>"""


def write(folder: Path, changes: dict[str, dict[str, Any]] | None = None, tests: str = TESTS) -> Path:
    """Write the part files, with some figures replaced, and return their folder; a part changed to None is left out."""
    parts = folder / "parts"
    parts.mkdir(parents=True)
    for name, figures in MET.items():
        change = (changes or {}).get(name, {})
        if change is not None:
            (parts / f"{name}.json").write_text(json.dumps(copy.deepcopy(figures) | change))
    (parts / "tests.xml").write_text(tests)
    history = [{"sim": sim, "cycles_per_second": rate} for rate in (10, 20) for sim in ("icarus", "verilator")]
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in history))
    return parts
