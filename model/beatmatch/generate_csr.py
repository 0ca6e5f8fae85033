# SPDX-License-Identifier: Apache-2.0
"""What `beatmatch.generate` writes from ``rtl/host/bm_csr.rdl``; the only module that needs a SystemRDL compiler."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from peakrdl_pyuvm.exporter import PyUVMExporter
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, RegNode

SOURCE = "rtl/host/bm_csr.rdl"
ROOT = Path(__file__).resolve().parents[2]
ORIGIN = f"Generated from {SOURCE} by `make generate`; do not edit."


@cache
def register_map() -> AddrmapNode:
    """The declaration, elaborated."""
    compiler = RDLCompiler()
    compiler.compile_file(str(ROOT / SOURCE))
    return compiler.elaborate().top


def registers() -> tuple[RegNode, ...]:
    """The registers in address order, arrays as one node."""
    return tuple(node for node in register_map().children() if isinstance(node, RegNode))


def _place(node: RegNode) -> tuple[int, int, int]:
    """Address, count and stride of a register or an array of them."""
    if node.is_array:
        return node.raw_absolute_address, node.array_dimensions[0], node.array_stride
    return node.absolute_address, 1, node.size


def _access(node: RegNode) -> str:
    readable = any(field.is_sw_readable for field in node.fields())
    writable = any(field.is_sw_writable for field in node.fields())
    return "r" * readable + "w" * writable


def package() -> str:
    """The SystemVerilog package of addresses and fields."""
    lines = [
        f"// {ORIGIN}",
        "// SPDX-License-Identifier: Apache-2.0",
        "//",
        "// Byte addresses of the registers, low bit and width of their fields. 64-bit registers: low word first.",
        "",
        "// A package states all of its constants, whichever of them a design uses.",
        "// verilator lint_off UNUSEDPARAM",
        "package bm_csr_pkg;",
        "",
    ]
    for node in registers():
        address, count, stride = _place(node)
        name = f"CSR_{node.inst_name}"
        lines.append(f"  localparam logic [11:0] {name} = 12'h{address:03X};")
        if count > 1:
            lines.append(f"  localparam int {name}_COUNT = {count};")
            lines.append(f"  localparam int {name}_STRIDE = {stride};")
        for field in node.fields():
            lines.append(f"  localparam int {name}_{field.inst_name.upper()}_LSB = {field.low};")
            lines.append(f"  localparam int {name}_{field.inst_name.upper()}_WIDTH = {field.width};")
            if not field.is_hw_writable and not field.is_sw_writable and field.get_property("reset") is not None:
                value = field.get_property("reset")
                lines.append(f"  localparam int {name}_{field.inst_name.upper()}_VALUE = {value};")
        lines.append("")
    lines += [
        "  // Whether a register is at this address.",
        "  function automatic logic csr_mapped(input logic [11:0] address);",
        f"    return {_mapped()};",
        "  endfunction",
        "",
        "endpackage",
        "// verilator lint_on UNUSEDPARAM",
        "",
    ]
    return "\n".join(lines)


def _mapped() -> str:
    """The address ranges that hold registers, as a SystemVerilog expression."""
    ranges: list[list[int]] = []
    for node in registers():
        address, count, stride = _place(node)
        end = address + count * stride
        if ranges and ranges[-1][1] == address:
            ranges[-1][1] = end
        else:
            ranges.append([address, end])
    terms = [
        f"(address < 12'h{end:03X})" if start == 0 else f"(address >= 12'h{start:03X} && address < 12'h{end:03X})"
        for start, end in ranges
    ]
    return "\n        || ".join(terms)


def python_module() -> str:
    """The same for Python."""
    lines = [
        f"# {ORIGIN}",
        "# SPDX-License-Identifier: Apache-2.0",
        '"""The registers of a core: byte addresses and fields."""',
        "",
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass",
        "",
        "",
        "@dataclass(frozen=True)",
        "class Register:",
        '    """One register, or ``count`` of them ``stride`` bytes apart.',
        "",
        "    ``fields`` maps a name to (low bit, width); ``access`` is r, w or rw. 64-bit registers are two words,",
        "    the low one first.",
        '    """',
        "",
        "    name: str",
        "    address: int",
        "    bits: int",
        "    access: str",
        "    fields: dict[str, tuple[int, int]]",
        "    count: int = 1",
        "    stride: int = 0",
        "",
        "    def unpack(self, value: int) -> dict[str, int]:",
        '        """Fields of a value of the register by name."""',
        "        return {name: (value >> low) & ((1 << width) - 1) for name, (low, width) in self.fields.items()}",
        "",
        "    def pack(self, **values: int) -> int:",
        '        """A value of the register from fields by name; those left out are 0."""',
        "        places = ((value, *self.fields[name]) for name, value in values.items())",
        "        return sum((value & ((1 << width) - 1)) << low for value, low, width in places)",
        "",
        "",
    ]
    for node in registers():
        address, count, stride = _place(node)
        fields = ", ".join(f'"{field.inst_name}": ({field.low}, {field.width})' for field in node.fields())
        tail = f", {count}, {stride}" if count > 1 else ""
        name, bits = node.inst_name, node.get_property("regwidth")
        lines.append(f'{name} = Register("{name}", 0x{address:03X}, {bits}, "{_access(node)}", {{{fields}}}{tail})')
    for node in registers():
        for field in node.fields():
            if not field.is_hw_writable and not field.is_sw_writable and field.get_property("reset") is not None:
                lines.append(f"{node.inst_name}_{field.inst_name.upper()}_VALUE = {field.get_property('reset')}")
    lines += ["", "REGISTERS: tuple[Register, ...] = (", *[f"    {node.inst_name}," for node in registers()], ")"]
    lines += ['"""All registers in address order."""', ""]
    return "\n".join(lines)


def tables() -> str:
    """The register map as a document."""
    lines = [
        f"<!-- {ORIGIN} -->",
        "# Registers",
        "",
        "AXI4-Lite, 32-bit accesses, 12-bit byte addresses; address bits 1:0 are ignored. 64-bit registers are two",
        "words, the low one first. An address without a register answers SLVERR. Writes of read-only registers are",
        "ignored, and so is every write while busy.",
        "",
        "| address | register | access | bits | field | meaning |",
        "|---|---|---|---|---|---|",
    ]
    for node in registers():
        address, count, stride = _place(node)
        where = f"0x{address:03X}" + (f" + {stride}k, k < {count}" if count > 1 else "")
        lines.append(f"| {where} | `{node.inst_name}` | {_access(node)} | | | {node.get_property('name')} |")
        for field in node.fields():
            lines.append(f"| | | | {field.high}:{field.low} | `{field.inst_name}` | {field.get_property('desc')} |")
    return "\n".join(lines) + "\n"


def uvm_model() -> str:
    """The register model of the pyuvm environment, as PeakRDL exports it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registers.py"
        PyUVMExporter().export(register_map(), str(path))
        lines = [line.rstrip() for line in path.read_text().splitlines()]
    head = [f"# {ORIGIN}", "# SPDX-License-Identifier: Apache-2.0"]
    return "\n".join(head + lines).rstrip() + "\n"
