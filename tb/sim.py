# SPDX-License-Identifier: Apache-2.0
"""Build and run RTL under Verilator or Icarus Verilog, through cocotb's runner.

    built = build("bm_core", rtl_sources(), "verilator", config.rtl_parameters())
    result = run(built, "tb.benches.core", seed=7)

A build is cached by content: the sources, parameters, flags and tool versions name its folder
under `sim_build/builds`, and a file lock keeps parallel workers apart. The clock comes from
cocotb's `Clock`; sample and drive at `FallingEdge`, which means the same on both simulators.
"""

import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import cocotb
from cocotb_tools.runner import get_runner
from filelock import FileLock

from tb import toolchain

if str(toolchain.ROOT) not in sys.path:  # the simulator's Python gets this list as its path
    sys.path.insert(0, str(toolchain.ROOT))

TIMESCALE = ("1ns", "1ps")
LOG_TAIL_LINES = 60


class SimulationError(RuntimeError):
    """A build or a run failed; the message ends with the tail of its log."""


@dataclass(frozen=True)
class Build:
    """A compiled design, ready to run any number of times."""

    top: str
    sim: str
    directory: Path
    waves: bool
    random_state: bool
    seconds: float  # 0.0 if it came from the cache


@dataclass(frozen=True)
class TestResult:
    """One cocotb test that passed (a failing one raises)."""

    name: str
    seconds: float
    sim_time_ns: float


@dataclass(frozen=True)
class RunResult:
    """A simulator run in which every test passed."""

    tests: tuple[TestResult, ...]
    seconds: float
    seed: int
    log: str
    waves: Path | None


def build(
    top: str,
    sources: Sequence[Path],
    sim: str = "verilator",
    parameters: Mapping[str, int | str] | None = None,
    *,
    defines: Mapping[str, int | str] | None = None,
    includes: Sequence[Path] = (),
    c_sources: Sequence[Path] = (),
    expose: Sequence[str] = (),
    waves: bool | None = None,
    random_state: bool = False,
    extra_args: Sequence[str] = (),
) -> Build:
    """Compile `top`, or find it compiled.

    Parameters
    ----------
    sources : files in compile order; `.vlt` files reach Verilator only.
    parameters : of the top module.
    c_sources : C++ for DPI imports (`extern "C"`); their symbols are visible to Python through
        `ctypes.CDLL(None)`. Verilator only.
    expose : modules whose signals Python reaches besides those of `top`; `["*"]` is all of them
        and several times slower. Icarus always shows all.
    waves : compile tracing in; default is the variable WAVES.
    random_state : Verilator starts every register at a random value drawn from the run's seed,
        and X becomes random. Icarus starts with X anyway.
    extra_args : handed to the simulator's compiler.

    Raises SimulationError if it does not compile, ToolError if the simulator is missing.
    """
    if sim == "icarus" and c_sources:
        raise ValueError("Icarus Verilog has no DPI: c_sources needs sim='verilator'.")
    parameters, defines = dict(parameters or {}), dict(defines or {})
    waves = toolchain.variable("WAVES", "0") != "0" if waves is None else waves
    sources = [Path(path).resolve() for path in sources]
    c_sources = [Path(path).resolve() for path in c_sources]

    headers = [path for folder in includes for path in sorted(Path(folder).glob("*.*vh"))]
    headers += sorted({path for source in c_sources for path in source.parent.glob("*.h")})
    key = hashlib.sha256()
    flags = (top, sim, sorted(parameters.items()), sorted(defines.items()), sorted(expose))
    tools = (toolchain.version(sim), cocotb.__version__, sys.version, sys.prefix)
    key.update(repr((flags, waves, random_state, list(extra_args), tools)).encode())
    for path in [*sources, *headers, *c_sources, Path(__file__), Path(toolchain.__file__)]:
        key.update(repr((path.name, hashlib.sha256(path.read_bytes()).digest())).encode())

    directory = toolchain.SIM_BUILD / "builds" / f"{top}-{sim}-{key.hexdigest()[:16]}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    done = directory / "done"
    started = time.monotonic()
    with FileLock(f"{directory}.lock"):
        if done.exists():
            return Build(top, sim, directory, waves, random_state, 0.0)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        if sim == "verilator":
            files, arguments = _verilator(directory, top, sources, c_sources, expose, random_state)
        else:
            files, arguments = _icarus(directory, top, sources, waves)
        log = directory / "build.log"
        try:
            with toolchain.environment():
                get_runner(sim).build(
                    sources=files,
                    includes=includes,
                    defines=defines,
                    parameters=parameters,
                    build_args=[*arguments, *extra_args],
                    hdl_toplevel=top,
                    build_dir=directory,
                    timescale=TIMESCALE,
                    waves=waves and sim == "verilator",
                    log_file=log,
                )
        except RuntimeError:
            raise SimulationError(_report(f"{sim} could not build {top}", log)) from None
        for pattern in ("*.o", "*.gch", "*.a"):  # hundreds of megabytes that no run needs
            for path in directory.glob(pattern):
                path.unlink()
        done.touch()
    return Build(top, sim, directory, waves, random_state, time.monotonic() - started)


def _verilator(directory, top, sources, c_sources, expose, random_state):
    """Files and flags of a fast build: only the bench top is reachable from Python."""
    control = directory / "expose.vlt"
    names = [top, *expose]
    lines = [f'public_flat_rw -module "{name}" -var "*"' for name in names if name != "*"]
    control.write_text("\n".join(["`verilator_config", *lines]) + "\n")
    unknown = "unique" if random_state else "fast"
    arguments = ["-O3", "--x-assign", unknown, "--x-initial", unknown, "--assert"]
    if "*" not in expose:  # the runner makes every signal public, at four times the run time
        arguments.append("--no-public-flat-rw")
    if c_sources:
        arguments += ["-LDFLAGS", "-rdynamic", *map(str, c_sources)]
    return [control, *sources], arguments


def _icarus(directory, top, sources, waves):
    """Files and flags for Icarus; the wave file is chosen per run, builds are shared."""
    files = [path for path in sources if path.suffix != ".vlt"]
    if not waves:
        return files, []
    dump = directory / "bm_dump.sv"
    dump.write_text(
        "module bm_dump;\n"
        "  string path;\n"
        '  initial if ($value$plusargs("dump=%s", path)) begin\n'
        f"    $dumpfile(path); $dumpvars(0, {top});\n"
        "  end\n"
        "endmodule\n"
    )
    return [*files, dump], ["-s", "bm_dump"]


def run(
    built: Build,
    test_module: str,
    testcase: str | Sequence[str] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    seed: int | None = None,
    plusargs: Sequence[str] = (),
    directory: Path | None = None,
    dump: bool = True,
) -> RunResult:
    """Run cocotb tests on a build; every one has to pass.

    Parameters
    ----------
    test_module : dotted name, importable from the repository's root.
    testcase : name(s) of the tests to run; default is all of the module's.
    seed : base seed; default is COCOTB_RANDOM_SEED, else 1.
    directory : where the simulator runs and leaves its files; default is a new folder, removed
        after success unless it holds waves.
    dump : with a build that has waves, record the whole run. If False the design may still
        record a part of it by $dumpfile and $dumpvars.

    Raises SimulationError with the log's tail if a test fails, the simulator dies, or no test ran.
    """
    seed = toolchain.base_seed() if seed is None else seed
    temporary = directory is None
    if temporary:
        runs = toolchain.SIM_BUILD / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix=f"{test_module}-{built.sim}-", dir=runs))
    directory = Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)

    log, xml = directory / "run.log", directory / "results.xml"
    dump = dump and built.waves
    wave_file = directory / ("dump.vcd" if built.sim == "verilator" else "dump.fst")
    plusargs, arguments = list(plusargs), []
    if built.sim == "verilator":
        arguments = ["--trace-file", str(wave_file)] if dump else []
        if built.random_state:
            plusargs += ["+verilator+rand+reset+2", f"+verilator+seed+{seed % 2**31 or 1}"]
    elif dump:
        plusargs.append(f"+dump={wave_file}")

    started = time.monotonic()
    died = False
    try:
        with toolchain.environment():
            get_runner(built.sim).test(
                test_module=test_module,
                testcase=testcase,
                hdl_toplevel=built.top,
                hdl_toplevel_lang="verilog",
                seed=seed,
                test_args=arguments,
                plusargs=plusargs,
                extra_env=dict(env or {}),
                waves=dump if built.sim == "verilator" else built.waves,
                build_dir=built.directory,
                test_dir=directory,
                results_xml=str(xml),
                log_file=log,
            )
    except (RuntimeError, SystemExit):
        died = True
    what = f"{test_module} on {built.top} under {built.sim}, COCOTB_RANDOM_SEED={seed}"
    tests = _passed(xml, what, log)
    if died:
        raise SimulationError(_report(f"The simulator ended with an error: {what}", log))
    result = RunResult(
        tests=tests,
        seconds=time.monotonic() - started,
        seed=seed,
        log=log.read_text(errors="replace"),
        waves=wave_file if wave_file.exists() else None,
    )
    if temporary and result.waves is None:
        shutil.rmtree(directory)
    return result


def _passed(xml: Path, what: str, log: Path) -> tuple[TestResult, ...]:
    """The tests of a results file. Raises SimulationError if one failed or there is none."""
    if not xml.exists():
        raise SimulationError(_report(f"The simulator died before its tests ended: {what}", log))
    cases = list(ElementTree.parse(xml).iter("testcase"))
    bad = [c.get("name") for c in cases if {"failure", "error"} & {child.tag for child in c}]
    if bad:
        raise SimulationError(_report(f"{', '.join(bad)} failed: {what}", log))
    passed = [case for case in cases if case.find("skipped") is None]
    if not passed:
        raise SimulationError(_report(f"No test ran: {what}", log))
    return tuple(_result(case) for case in passed)


def _result(case: ElementTree.Element) -> TestResult:
    values = {item.get("name"): item.get("value") for item in case.iter("property")}
    sim_time = float(values.get("sim_time_duration", 0))
    return TestResult(case.get("name"), float(case.get("time")), sim_time)


def _report(sentence: str, log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    tail = "\n".join(lines[-LOG_TAIL_LINES:])
    return f"{sentence}\nThe log is {log}; its last lines:\n{tail}"
