# SPDX-License-Identifier: Apache-2.0
"""What all tests share: the simulator fixture, and skips that nobody can overlook."""

import os

import pytest
from hypothesis import settings

from tb import toolchain

# The same examples on every run and machine; a deadline would make slow machines fail.
settings.register_profile("beatmatch", derandomize=True, deadline=None)
settings.load_profile("beatmatch")

WITHOUT_ICARUS = "Icarus Verilog is not installed (Debian, Ubuntu: apt-get install iverilog)"


def pytest_configure(config):
    """Refuse to start without Icarus where skipping its tests is not allowed."""
    required = os.environ.get("BEATMATCH_REQUIRE_ICARUS", "0") not in ("", "0")
    if required and not toolchain.has("icarus"):
        raise pytest.UsageError(f"BEATMATCH_REQUIRE_ICARUS is set and {WITHOUT_ICARUS}.")


def pytest_collection_modifyitems(items):
    """Skip what needs Icarus if there is none."""
    if toolchain.has("icarus"):
        return
    for item in items:
        if item.get_closest_marker("icarus"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_ICARUS))


def pytest_terminal_summary(terminalreporter):
    """Say loudly how many tests were skipped for want of Icarus."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(WITHOUT_ICARUS in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.section("NOT TESTED UNDER ICARUS", sep="!", red=True, bold=True)
        terminalreporter.line(f"{count} tests were skipped: {WITHOUT_ICARUS}.", red=True, bold=True)


@pytest.fixture(params=["verilator", pytest.param("icarus", marks=pytest.mark.icarus)])
def sim(request) -> str:
    """Each simulator in turn, by the name that `tb.sim.build` takes."""
    return request.param
