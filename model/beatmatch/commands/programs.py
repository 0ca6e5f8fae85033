# SPDX-License-Identifier: Apache-2.0
"""``config``, ``asm``, ``disasm``, ``run``, ``check`` and ``lockstep``."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.table import Table

from beatmatch import fidelity
from beatmatch.api import TIERS, Machine
from beatmatch.checker import check
from beatmatch.commands.common import (
    PROBLEM,
    USAGE,
    CommandError,
    accounting_table,
    add_config,
    add_json,
    console,
    load_program,
    parse_sizes,
    stepping,
    write_json,
)
from beatmatch.commands.memory import add_memory, dram_lines, dram_records, timing_of
from beatmatch.compiler.builder import default_timing
from beatmatch.config import DEFAULT_LATENCY, PRESETS, Config, ConfigError
from beatmatch.isa.disasm import disassemble

SHOWN = 8
"""Values of a result that are printed."""


def add_parsers(commands: argparse._SubParsersAction, make) -> None:
    """Declare the sub-commands."""
    parser = make(commands, "config", "list, show or check configurations", _config, """
  beatmatch config list
  beatmatch config show small,mem_bits=128 --json
  beatmatch config check my.json
""")  # fmt: skip
    parser.add_argument("action", choices=("list", "show", "check"))
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="what to show or check")
    add_json(parser)

    parser = make(commands, "asm", "assemble a text file into a program file", _asm, """
  beatmatch asm gemm.bmasm -o gemm.bmp
""")  # fmt: skip
    parser.add_argument("text", help="assembler text (.bmasm)")
    parser.add_argument("-o", "--output", required=True, help="program file to write")
    add_config(parser, None)
    add_json(parser)

    parser = make(commands, "disasm", "print a program file as assembler text", _disasm, """
  beatmatch disasm gemm.bmp | less
""")  # fmt: skip
    parser.add_argument("program")
    parser.add_argument("-o", "--output", help="text file to write instead")
    add_json(parser)

    parser = make(commands, "run", "run a program on the model", _run, """
  beatmatch run attention.bmasm
  beatmatch run gemm.bmp --tier stepped --json
  beatmatch run gemm.bmp --tier fast --memory hbm2@700
""")  # fmt: skip
    parser.add_argument("program", help="program file, or assembler text (.bmasm)")
    parser.add_argument("--tier", choices=TIERS, default="stepped", help="model tier (stepped); see docs/tiers.md")
    parser.add_argument("--save", metavar="FILE.npz", help="write the results as numpy arrays")
    add_memory(parser, "the program's")
    add_config(parser, None)
    add_json(parser)

    parser = make(commands, "check", "look for hazards, deadlocks and illegal instructions", _check, """
  beatmatch check gemm.bmp
""")  # fmt: skip
    parser.add_argument("program", help="program file, or assembler text (.bmasm)")
    add_config(parser, None)
    add_json(parser)

    commands.add_parser("lockstep", help="run programs on model and RTL and compare every cycle", add_help=False)


def _config(arguments: argparse.Namespace) -> int:
    if arguments.action == "list":
        if arguments.config is not None:
            raise CommandError(f"config list takes no configuration; it is given {arguments.config}.")
        if arguments.json:
            write_json([config.to_dict() for config in PRESETS.values()], arguments.json)
            return 0
        table = Table()
        headings = "preset", "array", "scratchpad", "accumulators", "FIFO", "queue", "memory", "bursts", "latency"
        for heading in headings:
            table.add_column(heading, no_wrap=True)
        for name, c in PRESETS.items():
            table.add_row(
                name, f"{c.rows}x{c.cols}", f"{c.sp_words} x {c.sp_banks}", f"{c.acc_rows} x {c.acc_banks}",
                str(c.fifo_tiles), str(c.queue_depth),
                f"{c.mem_bits} bit" + " and weights" * c.weight_port, str(c.outstanding),
                str(DEFAULT_LATENCY[name]),
            )  # fmt: skip
        console().print(table)
        return 0
    if arguments.config is None:
        raise CommandError(f"config {arguments.action} needs a configuration.")
    sizes = parse_sizes(arguments.config)
    try:
        config = Config.from_dict(sizes)
    except ConfigError as error:
        if arguments.action == "show":
            raise
        if arguments.json:
            write_json({"legal": False, "reason": str(error)}, arguments.json)
        else:
            print(f"beatmatch: {error}", file=sys.stderr)
        return PROBLEM
    standing = fidelity.of(config)
    if arguments.json:
        record = config.to_dict() | {"digest": config.digest()}
        proof = fidelity.proof(config, arguments.config)
        record |= {"fidelity": standing.label, "reason": standing.reason, "proof": proof}
        write_json(record if arguments.action == "show" else {"legal": True, **record}, arguments.json)
        return 0
    if arguments.action == "check":
        out = console()
        out.print(f"{arguments.config} is legal ({config.rows}x{config.cols}, digest {config.digest()}).", markup=False)
        out.print(f"fidelity: {standing.label}. {standing.reason}", markup=False)
        if not standing.exact:
            out.print(f"to prove it, in a checkout: {fidelity.proof(config, arguments.config)}", markup=False)
        return 0
    table = Table("field", "value")
    for name, value in config.to_dict().items():
        table.add_row(name, str(value))
    console().print(table)
    return 0


def _asm(arguments: argparse.Namespace) -> int:
    if not arguments.text.endswith(".bmasm"):
        raise CommandError(f"{arguments.text} should be a .bmasm file.")
    program = load_program(arguments.text, arguments.config)
    try:
        program.save(arguments.output)
    except OSError as error:
        raise CommandError(f"{arguments.output} cannot be written: {error.strerror}.") from None
    if arguments.json:
        record = {"program": arguments.output, "instructions": len(program.instructions), "digest": program.digest()}
        write_json(record, arguments.json)
    else:
        console().print(f"{arguments.output}: {len(program.instructions)} instructions, digest {program.digest()}.")
    return 0


def _disasm(arguments: argparse.Namespace) -> int:
    text = disassemble(load_program(arguments.program))
    if arguments.json:
        write_json({"program": arguments.program, "text": text}, arguments.json)
    elif arguments.output:
        try:
            Path(arguments.output).write_text(text)
        except OSError as error:
            raise CommandError(f"{arguments.output} cannot be written: {error.strerror}.") from None
    else:
        sys.stdout.write(text)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    program = load_program(arguments.program, arguments.config)
    timing = timing_of(arguments, program.timing)
    if timing != program.timing:
        program = program.replace(timing=timing or default_timing(program.config))
    with stepping(f"stepping {arguments.program}", arguments.tier == "functional") as progress:
        run = Machine().run(program, arguments.tier, progress)
    if arguments.save:
        try:
            np.savez_compressed(arguments.save, **run.values)
        except OSError as error:
            raise CommandError(f"{arguments.save} cannot be written: {error.strerror}.") from None
    record = {
        "program": arguments.program,
        "tier": run.tier,
        "fidelity": run.fidelity,
        "reason": run.reason,
        "cycles": run.cycles,
        "error": run.error.name,
        "text": run.text,
        "engine": run.engine.name.lower() if run.error else None,
        "seq": run.seq if run.error else None,
        "overflow": run.overflow,
        "accounting": run.accounting.to_dict() if run.accounting else None,
        "dram": dram_records(run.dram),
        "results": {name: {"dtype": str(v.dtype), "shape": list(v.shape)} for name, v in run.values.items()},
    }
    if arguments.json:
        write_json(record, arguments.json)
    else:
        out = console()
        if run.cycles is not None:
            out.print(f"{run.cycles:,} cycles (fidelity: {run.fidelity})")
            if run.fidelity == fidelity.UNPROVEN:
                out.print(f"unproven: {run.reason}", markup=False)
            out.print(accounting_table(run.accounting))
        for line in dram_lines(run.dram):
            out.print(line)
        for name, value in run.values.items():
            shown = " ".join(map(str, value.reshape(-1)[:SHOWN].tolist()))
            out.print(f"{name}: {value.dtype} {'x'.join(map(str, value.shape))}: {shown} ...", markup=False)
        if run.overflow:
            out.print("An accumulator sum left the signed 32-bit range.")
    if run.error:
        print(f"beatmatch: the machine stopped: {run.text}", file=sys.stderr)
        return PROBLEM
    return 0


def _check(arguments: argparse.Namespace) -> int:
    program = load_program(arguments.program, arguments.config)
    findings = check(program)
    if arguments.json:
        records = [{"kind": f.kind, "instructions": list(f.instructions), "text": f.text} for f in findings]
        write_json({"program": arguments.program, "findings": records}, arguments.json)
    elif findings:
        for finding in findings:
            console().print(str(finding), markup=False)
    else:
        console().print(f"{arguments.program}: {len(program.instructions)} instructions, nothing found.", markup=False)
    return PROBLEM if findings else 0


def lockstep(argv: list[str]) -> int:
    """Hand over to the benches, which are part of the repository and not of the package."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = find_spec("tb.lockstep.cli") is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        text = "lockstep needs the repository: run it in a checkout, where tb/ and rtl/ are."
        print(f"beatmatch: {text}", file=sys.stderr)
        return USAGE
    try:
        command = import_module("tb.lockstep.cli").main
    except ModuleNotFoundError as error:
        text = f"lockstep needs a simulator and {error.name}, which make setup puts into .venv: .venv/bin/beatmatch."
        print(f"beatmatch: {text}", file=sys.stderr)
        return USAGE
    return command(argv)
