# SPDX-License-Identifier: Apache-2.0
"""tb/sim.py builds once, runs on both simulators, and fails when it should."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import pywellen

from tb import toolchain
from tb.sim import SimulationError, build, run

HERE = Path(__file__).parent
BENCH = "tests.sim.counter_bench"
SOURCES = [HERE / "counter.sv"]
LIMIT = 7


def counter(sim, **options):
    return build("counter", SOURCES, sim, {"LIMIT": LIMIT}, **options)


def run_counter(built, testcase="counts", expect="", **options):
    return run(built, BENCH, testcase, env={"LIMIT": str(LIMIT), "EXPECT": expect}, **options)


def test_it_runs_and_reports(sim):
    result = run_counter(counter(sim), seed=3)
    assert [test.name for test in result.tests] == ["counts"]
    assert result.tests[0].sim_time_ns == pytest.approx(2015)
    assert result.seed == 3
    assert result.waves is None


@pytest.mark.parametrize(("value", "seed"), [("", 1), ("12", 12)])
def test_the_seed_comes_from_the_environment(monkeypatch, value, seed):
    monkeypatch.setenv("COCOTB_RANDOM_SEED", value)
    assert run_counter(counter("verilator")).seed == seed


def test_a_seed_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setenv("COCOTB_RANDOM_SEED", "lucky")
    with pytest.raises(toolchain.ToolError, match="must be a decimal number"):
        run_counter(counter("verilator"))


def test_the_second_build_comes_from_the_cache(sim):
    first = counter(sim)
    second = counter(sim)
    assert second.directory == first.directory
    assert second.seconds == 0.0


def test_whatever_changes_the_design_changes_the_build(tmp_path):
    # Icarus or not makes no difference to the key, and Icarus builds in milliseconds.
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    edited = tmp_path / "counter.sv"
    edited.write_text(SOURCES[0].read_text() + "// edited\n")
    builds = [
        counter(sim),
        counter(sim, waves=True),
        counter(sim, defines={"UNUSED": 1}),
        build("counter", SOURCES, sim, {"LIMIT": 8}),
        build("counter", [edited], sim, {"LIMIT": LIMIT}),
    ]
    assert len({built.directory for built in builds}) == len(builds)


def test_workers_that_build_the_same_wait_for_one_of_them(sim, tmp_path):
    source = tmp_path / "counter.sv"
    source.write_text(SOURCES[0].read_text() + f"// {tmp_path}\n")  # not built before

    def work(_):
        return build("counter", [source], sim, {"LIMIT": LIMIT}).directory

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(work, range(3)))) == 1


def test_a_failing_test_raises_with_seed_and_log(sim, tmp_path):
    with pytest.raises(SimulationError) as raised:
        run_counter(counter(sim), "fails", expect="failure", seed=11, directory=tmp_path)
    assert "fails failed" in str(raised.value)
    assert "COCOTB_RANDOM_SEED=11" in str(raised.value)
    assert "planted fault" in str(raised.value)


def test_a_run_without_tests_is_a_failure(sim, tmp_path):
    with pytest.raises(SimulationError, match="No test ran"):
        run_counter(counter(sim), "no_such_test", directory=tmp_path)


def test_a_module_that_cannot_be_imported_is_a_failure(sim, tmp_path):
    with pytest.raises(SimulationError, match="no_such_bench"):
        run(counter(sim), "tests.sim.no_such_bench", directory=tmp_path)


def test_a_source_that_does_not_compile_is_reported(sim, tmp_path):
    broken = tmp_path / "counter.sv"
    broken.write_text("module counter; wire a = ; endmodule\n")
    with pytest.raises(SimulationError, match=r"(?s)could not build counter.*counter\.sv:1"):
        build("counter", [broken], sim)


def test_an_unknown_simulator_is_refused():
    with pytest.raises(toolchain.ToolError, match="choose one of"):
        counter("questa")


def test_waves_hold_the_run(sim, tmp_path):
    result = run_counter(counter(sim, waves=True), directory=tmp_path)
    names = {var.full_name for var in pywellen.Waveform(str(result.waves)).all_vars()}
    assert "counter.count_o" in names


def test_waves_are_left_out_on_demand(sim):
    assert run_counter(counter(sim, waves=True), dump=False).waves is None


def test_python_and_dpi_share_memory():
    built = counter("verilator", defines={"COUNTER_DPI": 1}, c_sources=[HERE / "counter_dpi.cpp"])
    run_counter(built, "shares_memory_with_c", expect="dpi")


def test_dpi_is_refused_under_icarus():
    with pytest.raises(ValueError, match="no DPI"):
        counter("icarus", c_sources=[HERE / "counter_dpi.cpp"])


def test_only_the_top_is_exposed_unless_asked(tmp_path):
    inner = "module inner(input logic clk_i); logic secret; always_ff @(posedge clk_i) "
    inner += "secret <= !secret; endmodule\n"
    top = "module outer(input logic clk_i); inner i_inner(.clk_i); endmodule\n"
    source = tmp_path / "outer.sv"
    source.write_text(inner + top)
    hidden = build("outer", [source], "verilator")
    shown = build("outer", [source], "verilator", expose=["inner"])
    assert "secret" not in _symbols(hidden.directory)
    assert "secret" in _symbols(shown.directory)


def _symbols(directory: Path) -> str:
    """The table that makes signals reachable by name."""
    return "".join(path.read_text() for path in directory.glob("Vtop__Syms*.cpp"))


def test_random_state_follows_the_seed(tmp_path):
    """A register without reset starts at a value drawn from the seed, not always at zero."""
    source = tmp_path / "counter.sv"
    source.write_text(
        "module counter(input logic clk_i, input logic d_i, output logic [31:0] q_o);\n"
        "  always_ff @(posedge clk_i) if (d_i) q_o <= '0;\n"
        '  initial $display("start %0d", q_o);\n'
        "endmodule\n"
    )
    built = build("counter", [source], "verilator", random_state=True)
    bench = "tests.sim.idle_bench"
    starts = [
        next(line for line in run(built, bench, seed=seed).log.splitlines() if "start " in line) for seed in (1, 2, 1)
    ]
    assert starts[0] == starts[2] != starts[1]
