# SPDX-License-Identifier: Apache-2.0
"""Writes the files that are generated from the declarations: ``python -m beatmatch.generate [--check]``.

Every output names its source in line 1 and is committed; the tests run this with ``--check``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from beatmatch.isa.fields import (
    BASE_REGISTERS,
    ENGINE_OF,
    HEADER,
    INSTRUCTION_BITS,
    LAYOUTS,
    LEGAL_SPACES,
    SEMAPHORES,
    Engine,
    Error,
    Field,
    Format,
    Opcode,
    Space,
)
from beatmatch.stimulus import sv_include

ROOT = Path(__file__).resolve().parents[2]


SV_KEYWORDS = frozenset({"instance", "packed"})
"""Field names that SystemVerilog keeps for itself; members of the structs get an underscore behind them."""


def _member(field: Field) -> str:
    name = field.name + "_" * (field.name in SV_KEYWORDS)
    return f"    logic [{field.width - 1}:0] {name};"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _enum(kind: str, prefix: str, width: int, members) -> list[str]:
    rows = [f"    {prefix}{_camel(member.name)} = {width}'d{int(member)}" for member in members]
    return [f"  typedef enum logic [{width - 1}:0] {{", ",\n".join(rows), f"  }} {kind};", ""]


def _struct(opcode: Opcode) -> list[str]:
    layout = LAYOUTS[opcode]
    reserved = INSTRUCTION_BITS - sum(field.width for field in layout)
    rows = [f"    logic [{reserved - 1}:0] reserved;"] if reserved else []
    rows += [_member(field) for field in reversed(layout)]
    return ["  typedef struct packed {", *rows, f"  }} instr_{opcode.name.lower()}_t;", ""]


def package() -> str:
    """The SystemVerilog package with everything that RTL and model must agree on."""
    lines = [
        "// Generated from model/beatmatch/isa/fields.py by `make generate`; do not edit.",
        "// SPDX-License-Identifier: Apache-2.0",
        "//",
        "// Encodings only: nothing here depends on a configuration.",
        "",
        "// A package states all of its constants, whichever of them a design uses.",
        "// verilator lint_off UNUSEDPARAM",
        "package bm_pkg;",
        "",
        f"  localparam int INSTR_W = {INSTRUCTION_BITS};",
        f"  localparam int SEMAPHORES = {SEMAPHORES};",
        f"  localparam int BASES = {BASE_REGISTERS};",
        f"  localparam int SYNC_W = {sum(field.width for field in HEADER if field.name.startswith(('wait', 'sig')))};",
        "  localparam int SEQ_W = 16;",
        "",
    ]
    lines += _enum("engine_e", "Eng", 4, Engine)
    lines += _enum("opcode_e", "Op", 5, Opcode)
    lines += _enum("space_e", "Space", 2, Space)
    lines += _enum("format_e", "Fmt", 4, Format)
    lines += _enum("error_e", "Err", 8, Error)
    lines += ["  // The fields that every instruction starts with, at bit 0."]
    lines += ["  typedef struct packed {", *[_member(field) for field in reversed(HEADER)]]
    lines += ["  } instr_header_t;", ""]
    for opcode in Opcode:
        lines += _struct(opcode)
    lines += ["endpackage", "// verilator lint_on UNUSEDPARAM", ""]
    return "\n".join(lines)


def isa_tables() -> str:
    """The generated part of the ISA document."""
    lines = [
        "<!-- Generated from model/beatmatch/isa/fields.py by `make generate`; do not edit. -->",
        "# Instruction encodings",
        "",
        "256 bits, fields from bit 0 upwards; the rest is reserved and must be zero. "
        "*Minus one* fields hold the value less one; *non-zero* fields refuse 0.",
        "",
        "## Header of every instruction",
        "",
        *_table(HEADER),
    ]
    for opcode in Opcode:
        lines += [f"## {opcode.name} (opcode {int(opcode)}, engine {ENGINE_OF[opcode].name.lower()})", ""]
        lines += _table(LAYOUTS[opcode], skip=len(HEADER))
    lines += ["## Legal local operands", "", "| engine | space | access |", "|---|---|---|"]
    lines += [f"| {engine.name.lower()} | {space.name.lower()} | {access} |" for engine, space, access in LEGAL_SPACES]
    lines += ["", "## Error codes", "", "| code | name |", "|---|---|"]
    lines += [f"| {int(error)} | {error.name} |" for error in Error]
    return "\n".join(lines) + "\n"


def _table(layout, skip: int = 0) -> list[str]:
    lines = ["| bits | field | meaning |", "|---|---|---|"]
    shift = sum(field.width for field in layout[:skip])
    for field in layout[skip:]:
        notes = "; minus one" if field.minus_one else "; non-zero" if field.nonzero else ""
        lines.append(f"| {shift + field.width - 1}:{shift} | `{field.name}` | {field.doc}{notes} |")
        shift += field.width
    return [*lines, ""]


def _csr(name: str):
    """A generator of `beatmatch.generate_csr`, imported only when called: it needs a SystemRDL compiler."""

    def build() -> str:
        from beatmatch import generate_csr

        return getattr(generate_csr, name)()

    return build


OUTPUTS = {
    "rtl/bm_pkg.sv": package,
    "docs/isa_tables.md": isa_tables,
    "rtl/host/bm_csr_pkg.sv": _csr("package"),
    "model/beatmatch/csr.py": _csr("python_module"),
    "docs/csr_tables.md": _csr("tables"),
    "tb/uvm/bm_csr_model.py": _csr("uvm_model"),
    "tb/lockstep/bm_stimulus.svh": sv_include,
}
"""Path from the repository root, and the function that gives its text."""


def main(argv: list[str] | None = None) -> int:
    """Write (or with ``--check`` compare) every generated file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only report files that differ from what would be written")
    arguments = parser.parse_args(argv)
    stale = []
    for name, build in OUTPUTS.items():
        path, text = ROOT / name, build()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in stale:
        print(f"{'differs from its source' if arguments.check else 'wrote'}: {name}")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
