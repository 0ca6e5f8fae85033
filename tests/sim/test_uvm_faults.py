# SPDX-License-Identifier: Apache-2.0
"""No test of the pyuvm environment passes for nothing: each planted mistake is refused, for the right reason."""

import pytest

from tests.sim import uvm_faults
from tests.sim.uvm_faults import FAULTS, SOUND


@pytest.fixture(scope="module")
def reasons():
    return uvm_faults.reasons("verilator")


def test_the_same_stimulus_without_a_mistake_passes(reasons):
    assert reasons[SOUND] == ""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_mistake_cannot_pass(fault, reasons):
    assert uvm_faults.caught(fault, reasons[fault.name]), f"{fault.what}: {reasons[fault.name] or 'it passed'}"


def test_every_mistake_of_the_bench_is_in_the_table():
    from tb.uvm.__main__ import tests_of

    assert set(tests_of(uvm_faults.MODULE)) == {SOUND, *(fault.name for fault in FAULTS)}
