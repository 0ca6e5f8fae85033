# SPDX-License-Identifier: Apache-2.0
"""A slice of the proofs, and that the proofs can fail."""

import re
from dataclasses import replace

import pytest

from tb.formal import cones, planted, report
from tb.formal.counterexample import cycles
from tb.formal.instrument import Check, checks
from tb.formal.run import Result, prove_all, withdraw
from tb.formal.units import UNITS, own_statement, statements

LIMIT = 60


def unit(name):
    """The unit with its first set of parameters only."""
    found = next(unit for unit in UNITS if unit.name == name)
    return replace(found, variants=found.variants[:1])


@pytest.mark.parametrize(("name", "only"), [("bm_fifo", ""), ("bm_scratchpad", "at_once"), ("bm_semaphores", "asked")])
def test_properties_hold_and_are_not_vacuous(tmp_path, name, only):
    results = prove_all([unit(name)], tmp_path, 2, LIMIT, only=only)
    assert results
    assert [(r.name, r.said) for r in results if not (r.proven and r.covered)] == []
    assert all(r.statement and r.assumptions for r in results)


@pytest.mark.parametrize("fault", planted.FAULTS[:2], ids=lambda fault: fault.name)
def test_a_planted_fault_breaks_the_proof_with_a_readable_run(tmp_path, fault):
    [result] = planted.plant(fault, tmp_path, LIMIT)
    assert not result.proven
    found = result.counterexample
    assert found.wave.stat().st_size > 0
    assert found.violated == len(found.signals["rst_ni"]) - 1, "the witness ends with the violation"
    table = found.table()
    assert f"{found.violated}*" in table and "push_i" in table
    assert cycles(found.wave.read_text())[f"bad.{fault.check}"][-1] == "1"


def test_a_property_whose_antecedent_is_never_true_is_no_proof(tmp_path):
    fifo = unit("bm_fifo")
    harness = tmp_path / fifo.harness.name
    text = fifo.harness.read_text()
    harness.write_text(text.replace("room: assume (!push_i || count < COUNT_W'(DEPTH));", "room: assume (!push_i);"))
    sources = [path if path != fifo.harness else harness for path in planted.sources(fifo)]
    [result] = prove_all([fifo], tmp_path, 1, LIMIT, lambda unit: sources, "order")
    assert result.proven and not result.covered
    part = report.summary([report.row(result)], 1.0, 1, "test")
    assert (part["properties"], part["proven"], part["ok"]) == (1, 0, False)


def test_an_induction_falls_with_what_it_assumes():
    def result(name, engine, proven):
        return Result(name, "u", "", "assert", engine, {}, 0.0, proven, True, 1, [])

    results = [result("a", "induction", True), result("b", "pdr", True), result("c", "induction", False)]
    withdraw(results)
    assert [r.proven for r in results] == [False, True, False]
    assert "assumes c" in results[0].said


def test_every_property_and_assumption_has_a_sentence():
    for entry in UNITS:
        text = entry.harness.read_text()
        labels = set(re.findall(r"(\w+): (?:assert|assume|cover) \(", text))
        assert labels and labels == set(statements(entry.harness)), entry.name


def test_every_planted_fault_finds_its_line_and_its_property():
    for fault in planted.FAULTS:
        text = (planted.toolchain.ROOT / fault.file).read_text()
        assert text.count(fault.old) == 1, fault.name
        assert fault.check in statements(unit(fault.unit).harness), fault.name


def test_a_path_from_ready_to_valid_is_seen():
    def gate(kind, inputs, output):
        pins = {f"I{i}": [bit] for i, bit in enumerate(inputs)} | {"Y": [output]}
        directions = {pin: "output" if pin == "Y" else "input" for pin in pins}
        return {"type": kind, "connections": pins, "port_directions": directions, "parameters": {}}

    def ports(**bits):
        return {n: {"direction": "output" if n.endswith("_o") else "input", "bits": [b]} for n, b in bits.items()}

    pins = ports(ready_i=2, data_i=3, valid_o=5, held_o=6)
    cells = {"a": gate("$and", [2, 3], 4), "b": gate("$not", [4], 5), "c": gate("$dff", [4], 6)}
    assert cones.cones(cells, pins) == {"valid_o": {"ready_i", "data_i"}, "held_o": set()}


def test_an_assertion_of_the_rtl_is_quoted_wherever_yosys_ran():
    path = planted.toolchain.ROOT / "rtl/lib/bm_fifo.sv"
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "assert (!push_i" in text)
    said = own_statement(Check(f"bm_fifo:{line}", "assert", "../../somewhere/bm_fifo.sv", line))
    assert said.startswith("bm_fifo.sv asserts of its user: assert (!push_i")


def test_checks_are_read_from_a_netlist():
    text = (
        'module \\m\n  attribute \\src "a/bm_x_formal.sv:12.5-12.9"\n  cell $check \\order\n'
        '    parameter \\FLAVOR "assert"\n    connect \\EN \\e\n    connect \\A \\a\n  end\nend\n'
    )
    [(check, _, enable, condition)] = checks(text)
    assert (check.name, check.flavour, check.line, enable, condition) == ("order", "assert", 12, "\\e", "\\a")
