# SPDX-License-Identifier: Apache-2.0
"""What is proven: a harness per unit, and the parameters at which its properties are proven."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from tb import toolchain
from tb.formal.instrument import Check

HARNESSES = Path(__file__).parent / "harness"


@dataclass(frozen=True)
class Unit:
    """A harness and how to prove it.

    Attributes
    ----------
    name : str
        `harness/<name>_formal.sv` has the module of the same stem.
    title : str
        What the unit is.
    variants : tuple of dict
        Parameters of the harness; every property is proven for each.
    engine, engines : str, dict
        Name in `prove.ENGINES` or `prove.STEPS`; of single checks, where another one is better.
    holes : dict
        Assertions of the RTL inside that are not proven here, with the reason; the report lists them.
    """

    name: str
    title: str
    variants: tuple[dict[str, int], ...] = field(default=({},))
    engine: str = "pdr"
    engines: dict[str, str] = field(default_factory=dict)
    holes: dict[str, str] = field(default_factory=dict)

    @property
    def top(self) -> str:
        return f"{self.name}_formal"

    @property
    def harness(self) -> Path:
        return HARNESSES / f"{self.top}.sv"


def statements(harness: Path) -> dict[str, str]:
    """The sentence above each labelled check of a harness."""
    found = {}
    for comment, label in re.findall(r"((?:^ *// .*\n)+)^(?: *if \(.*\))?.*?(\w+): (?:assert|assume|cover)\b",
                                     harness.read_text(), re.MULTILINE):  # fmt: skip
        found[label] = " ".join(line.strip().removeprefix("// ") for line in comment.splitlines())
    return found


def sources(unit: Unit) -> list[Path]:
    """All RTL (Yosys keeps what the harness uses) and the harness."""
    return [*map(Path, toolchain.rtl_sources()), unit.harness]


def own_statement(check: Check) -> str:
    """For an assertion in the RTL itself: its source text."""
    name = Path(check.file).name  # Yosys names files from where it ran
    path = next(path for path in toolchain.rtl_sources() if path.name == name)
    return f"{name} asserts of its user: {path.read_text().splitlines()[check.line - 1].strip()}"


UNITS = (
    Unit(
        "bm_fifo",
        "First-in first-out list",
        ({"WIDTH": 2, "DEPTH": 4}, {"WIDTH": 2, "DEPTH": 3}, {"WIDTH": 3, "DEPTH": 1}),
    ),
    Unit("bm_semaphores", "Semaphores", ({"ID": 13},)),
    Unit(
        "bm_scratchpad",
        "Scratchpad arbitration and memory",
        ({"SP_BANKS": 2, "SP_WORDS": 32}, {"SP_BANKS": 1, "SP_WORDS": 16}),
        "scorr+pdr",
    ),
    Unit("bm_matmul_skew", "Skew", ({"LANES": 4, "FALLING": 0}, {"LANES": 4, "FALLING": 1})),
    Unit("bm_matmul_row", "Processing elements", ({"COLS": 2},), "pdr", {"multiplier": "induction+bdd"}),
    Unit(
        "bm_accumulator",
        "Accumulator",
        ({"ACC_ROWS": 4, "ACC_BANKS": 2},),
        "pdr",
        {"read_back": "scorr+pdr", "read_event": "scorr+pdr"},
    ),
    Unit("bm_axil", "AXI4-Lite slave"),
    Unit("bm_port", "AXI4 master"),
    Unit("bm_weight_port", "AXI4 master for weights", ({"WEIGHT_PORT": 0}, {"WEIGHT_PORT": 1})),
    Unit("bm_row_bursts", "Rows to bursts", ({"MEM_BITS": 64, "OUTSTANDING": 2},)),
    Unit("bm_weight_fifo", "Weight FIFO"),
    Unit("bm_accounting", "Cycle categories"),
    Unit("bm_monitor", "Errors, deadlock and the end of a run"),
    Unit(
        "bm_gearbox", "Beats to words", ({"MEM_BITS": 32, "OB": 8, "MOST": 24}, {"MEM_BITS": 64, "OB": 4, "MOST": 24})
    ),
    Unit(
        "bm_store_beats",
        "Words to write beats",
        ({"MEM_BITS": 32, "LANES": 8}, {"MEM_BITS": 64, "LANES": 4}),
        engines={"counted": "induction", "ends": "induction"},
    ),
    Unit("bm_transfer_rows", "Rows of load and store", ({"MEM_BITS": 32, "LANES": 4},), "induction"),
    Unit(
        "bm_fetch",
        "Program fetch",
        ({"MEM_BITS": 256},),
        engines={"bounded": "induction", "fresh": "induction"},
        holes={"bm_fifo:56": "the list of chunks never overflows: needs the account of entries on their way"},
    ),
    Unit("bm_dispatch", "Dispatch and queues", ({"QUEUE_DEPTH": 2},), "scorr+pdr"),
    Unit("bm_vector_write", "Vector writes", ({"COLS": 4, "LANES": 8, "SP_AW": 4},)),
)
