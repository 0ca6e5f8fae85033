# SPDX-License-Identifier: Apache-2.0
"""Equality of the RTL's arithmetic and the golden model for all inputs, by SMT.

The functions of `beatmatch.numerics` run on bit vectors (`terms.py`), so what is compared is the model's own code.
The RTL side is what Yosys writes of a module in SMT-LIB, followed over as many clock edges as its pipeline has
registers. Z3 then looks for inputs on which the two differ. The vector lane is proven stage by stage, each for all
values of the registers before it: the stages put together are the model's formula.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import z3

from beatmatch import numerics
from tb import toolchain
from tb.formal import netlist
from tb.formal.terms import BITS, Term, on_terms

SCRIPT = """\
read_slang --top {top} {parameters} --ignore-initial --ignore-assertions {sources}
hierarchy -check -top {top}
proc
flatten
opt_clean
dffunmap
opt_clean
write_smt2 -wires -stbv {top}.smt2
"""


class Circuit:
    """A module followed over `edges` clock edges from any state."""

    def __init__(self, folder: Path, top: str, edges: int, parameters: str = "", sources: list[Path] | None = None):
        folder.mkdir(parents=True, exist_ok=True)
        files = " ".join(map(str, sources or toolchain.rtl_sources()))
        netlist.yosys(folder, SCRIPT.format(top=top, parameters=parameters, sources=files))
        text = (folder / f"{top}.smt2").read_text()
        self.widths = dict(re.findall(rf"\(define-fun \|{top}_n ([^|]+)\| .*?\) (Bool|\(_ BitVec \d+\)) ", text))
        states = "".join(f"(declare-fun s{i} () |{top}_s|)\n" for i in range(edges + 1))
        steps = "".join(f"(assert (|{top}_t| s{i} s{i + 1}))\n" for i in range(edges))
        values = []
        self.signals: dict[tuple[str, int], z3.ExprRef] = {}
        for name, sort in self.widths.items():
            for i in range(edges + 1):
                values.append(
                    f"(declare-fun |{name}@{i}| () {sort})\n(assert (= |{name}@{i}| (|{top}_n {name}| s{i})))\n"
                )
                width = re.search(r"\d+", sort)
                self.signals[name, i] = z3.BitVec(f"{name}@{i}", int(width[0])) if width else z3.Bool(f"{name}@{i}")
        self.formulas = list(z3.parse_smt2_string("".join([text, states, *values, steps])))

    def signed(self, name: str, edge: int, high: int | None = None, low: int = 0) -> Term:
        """The value of a signal after `edge` clock edges as a signed number; of its bits `high` to `low`."""
        bits = self.signals[name, edge]
        if high is not None:
            bits = z3.Extract(high, low, bits)
        return Term(bits if z3.is_bool(bits) else z3.SignExt(BITS - bits.size(), bits))

    def unsigned(self, name: str, edge: int) -> Term:
        """The value of a signal after `edge` clock edges, zero-extended."""
        bits = self.signals[name, edge]
        return Term(bits if z3.is_bool(bits) else z3.ZeroExt(BITS - bits.size(), bits))

    def set(self, name: str, edge: int, value: bool) -> z3.BoolRef:
        """A one-bit signal has this value after `edge` clock edges."""
        return self.signals[name, edge] == value

    def steady(self, *names: str, edges: int) -> list[z3.BoolRef]:
        """Signals that keep their value over the pipeline."""
        return [self.signals[name, i] == self.signals[name, i + 1] for name in names for i in range(edges)]


@dataclass(frozen=True)
class Equality:
    """One equality of RTL and model.

    Attributes
    ----------
    name, unit, statement : str
        As in the report.
    build : callable
        From a folder to (circuit, assumptions with their sentences, RTL value, model value).
    """

    name: str
    unit: str
    statement: str
    build: Callable


CONTEXT = ("add_i", "max_i", "raw_i", "zero_point_i", "clip_low_i", "clip_high_i", "bias_i", "multiplier_a_i",
           "multiplier_b_i", "shift_i")  # fmt: skip


def _lane(folder: Path, edges: int, **modes: bool):
    circuit = Circuit(folder / "bm_vector_lane", "bm_vector_lane", edges)
    facts = circuit.steady(*CONTEXT, edges=edges)
    facts += [circuit.set(f"{name}_i", 0, value) for name, value in modes.items()]
    return circuit, facts


def mac(folder: Path):
    """Activation and weight in their registers, two edges, the sum of column 0."""
    circuit = Circuit(folder / "bm_matmul_row", "bm_matmul_row", 2, "-G COLS=2 -G TRACE=0")
    facts = [circuit.set("rst_ni", i, True) for i in range(2)]
    product = numerics.multiply_accumulate(circuit.signed("activation_q", 0, 7), circuit.signed("weight_q", 0, 7))
    return (
        circuit,
        facts,
        circuit.signed("sum_o", 2, 31),
        numerics.accumulate(circuit.signed("sum_i", 1, 31), product)[0],
    )


def rounding(folder: Path):
    """bm_round against round_half_even, values of at most 62 bits."""
    circuit = Circuit(folder / "bm_round", "bm_round", 0)
    value = circuit.signed("value_i", 0)
    facts = [value.bits < (1 << 61), value.bits >= -(1 << 61)]
    return (
        circuit,
        facts,
        circuit.signed("rounded_o", 0),
        numerics.round_half_even(value, circuit.unsigned("shift_i", 0)),
    )


def biased(folder: Path):
    """First stage of REQUANT: a + bias, exact."""
    circuit, facts = _lane(folder, 1, add=False, data_valid=True, data_first=True)
    model = Term(circuit.signed("a_i", 0)) + circuit.signed("bias_i", 0)
    return circuit, facts, circuit.signed("biased_q", 1), model


def product(folder: Path):
    """Second stage of REQUANT: times the multiplier, exact (33 x 24 bits in 58)."""
    circuit, facts = _lane(folder, 1, add=False, raw=False, biased_valid=True)
    model = circuit.signed("biased_q", 0) * circuit.unsigned("multiplier_a_i", 0)
    return circuit, facts, circuit.signed("product_q", 1), model


def product_raw(folder: Path):
    """The second stage lets the biased value pass for an int32 result."""
    circuit, facts = _lane(folder, 1, add=False, raw=True, biased_valid=True)
    return circuit, facts, circuit.signed("product_q", 1), circuit.signed("biased_q", 0)


def other(folder: Path):
    """Second stage of ADD: the other operand times its multiplier, plus bias, exact."""
    circuit, facts = _lane(folder, 1, add=True, biased_valid=True)
    model = circuit.signed("b_q", 0) * circuit.unsigned("multiplier_b_i", 0) + circuit.signed("bias_i", 0)
    return circuit, facts, circuit.signed("other_q", 1), model


def total(folder: Path):
    """Stage 3 gives bm_round the sum of both products; one of 58 and 34 bits has fewer than 62."""
    circuit, facts = _lane(folder, 0)
    model = circuit.signed("product_q", 0) + circuit.signed("other_q", 0)
    return circuit, facts, circuit.signed("u_round.value_i", 0), model


def shift(folder: Path):
    """Stage 3 gives the channel's shift to bm_round, whose equality is `round`."""
    circuit, facts = _lane(folder, 0)
    return circuit, facts, circuit.unsigned("u_round.shift_i", 0), circuit.unsigned("shift_i", 0)


def clipped(folder: Path):
    """Stages 3 and 4 from the rounded value on: it is narrowed to a register, then zero point and clip."""
    circuit, facts = _lane(folder, 1, raw=False, product_valid=True)
    value = circuit.signed("u_round.rounded_o", 0)
    facts += [value.bits < (1 << 62), value.bits > -(1 << 62)]
    model = numerics.clip(value + circuit.signed("zero_point_i", 0), circuit.signed("clip_low_i", 0),
                          circuit.signed("clip_high_i", 0))  # fmt: skip
    return circuit, facts, circuit.signed("result_o", 1, 7), model


def raw(folder: Path):
    """The last stages of an int32 result: the low 32 bits of the exact sum."""
    circuit, facts = _lane(folder, 1, raw=True, product_valid=True)
    total = circuit.signed("product_q", 0) + circuit.signed("other_q", 0)
    return circuit, facts, circuit.signed("result_o", 1), numerics.wrap32(total)


def window_max(folder: Path):
    """A further element of a maximum window."""
    circuit, facts = _lane(folder, 1, max=True, data_valid=True, data_first=False)
    model = Term(z3.If(circuit.signed("a_i", 0).bits > circuit.signed("reduced_q", 0).bits,
                       circuit.signed("a_i", 0).bits, circuit.signed("reduced_q", 0).bits))  # fmt: skip
    return circuit, facts, circuit.signed("reduced_q", 1), model


def window_sum(folder: Path):
    """A further element of a sum window, modulo 2^32."""
    circuit, facts = _lane(folder, 1, max=False, data_valid=True, data_first=False)
    total = numerics.accumulate(circuit.signed("reduced_q", 0), circuit.signed("a_i", 0))[0]
    return circuit, facts, circuit.signed("reduced_q", 1), total


EQUALITIES = (
    Equality("mac", "bm_matmul_row", "A multiply-accumulate equals multiply_accumulate and accumulate.", mac),
    Equality("round", "bm_round", "Equals round_half_even for all shifts and all values of 62 bits.", rounding),
    Equality("biased", "bm_vector_lane", "Requantization, stage 1: operand plus bias is exact.", biased),
    Equality("product", "bm_vector_lane", "Requantization, stage 2: equals the model's exact product.", product),
    Equality("product_raw", "bm_vector_lane", "Int32 results pass stage 2 unscaled.", product_raw),
    Equality("other", "bm_vector_lane", "ADD, stage 2: second operand times multiplier plus bias.", other),
    Equality("total", "bm_vector_lane", "Stage 3: the sum of both products is exact.", total),
    Equality("shift", "bm_vector_lane", "Stage 3: the value is rounded by the channel's shift.", shift),
    Equality("clipped", "bm_vector_lane", "Stage 4: zero point and clip for every rounded value.", clipped),
    Equality("raw", "bm_vector_lane", "Stages 3 and 4 of int32 results: the low 32 bits of the exact sum.", raw),
    Equality("window_max", "bm_vector_lane", "A maximum window keeps the greater element.", window_max),
    Equality("window_sum", "bm_vector_lane", "A sum window adds modulo 2^32.", window_sum),
)  # fmt: skip


def check(folder: Path, limit: int, only: str = "") -> list[dict]:
    """Rows of the report, one per equality."""
    return [judge(equality, folder, limit) for equality in EQUALITIES if only in equality.name]


def judge(equality: Equality, folder: Path, limit: int) -> dict:
    """Look for inputs on which RTL and model differ; `covered` says that the assumptions leave any inputs at all."""
    started = time.monotonic()
    with on_terms():
        circuit, facts, rtl, model = equality.build(folder)
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", 1000 * limit)
    solver.add(*circuit.formulas, *facts)
    covered = solver.check() == z3.sat
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", 1000 * limit)
    solver.add(*circuit.formulas, *facts, rtl.bits != model.bits)
    verdict = solver.check()
    said = ""
    if verdict == z3.sat:
        found = solver.model()
        values = {
            f"{name}@{i}": found[s]
            for (name, i), s in circuit.signals.items()
            if found[s] is not None and "." not in name
        }
        said = ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))
    elif verdict == z3.unknown:
        said = f"unknown after {limit} s"
    return {
        "name": equality.name, "unit": "golden", "statement": f"{equality.unit}: {equality.statement}",
        "flavour": "assert", "engine": "SMT", "parameters": {}, "seconds": round(time.monotonic() - started, 2),
        "proven": verdict == z3.unsat, "covered": covered, "cover_cycle": 0,
        "assumptions": [" ".join((equality.build.__doc__ or "").split())], "said": said,
    }  # fmt: skip
