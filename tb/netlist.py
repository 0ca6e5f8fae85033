# SPDX-License-Identifier: Apache-2.0
"""Share equal modules of a Yosys netlist.

The slang front end makes a module of its own for every instance, so an array of 16 rows is mapped to gates 16
times. `share` finds modules that are equal but for names that Yosys made up, keeps one of each, and counts how
often it is used; the mapping then costs the same for every size of array.
"""

import re
from collections import Counter
from collections.abc import Container

_MODULE = re.compile(r"^module (\S+)\n(.*?)^end\n", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^  cell .*\n(?:^    .*\n)*^  end\n|^  .*\n", re.MULTILINE)
_CELL = re.compile(r"^(  cell )(\S+)(?= )", re.MULTILINE)
_SOURCE = re.compile(r"^ *attribute \\(?:src|hdlname) .*\n", re.MULTILINE)
_PORT = re.compile(r"  wire .*\b(?:input|output|inout) \d+ ")
_MADE_UP = re.compile(r"\$(?:[A-Za-z_]\w*\$)?\d+")  # $12, $procmux$12
_MADE_UP_CELL = re.compile(rf"  cell \S+ ({_MADE_UP.pattern})")


def share(rtlil: str, top: str) -> tuple[str, dict[str, int]]:
    """Netlist with one copy of each distinct module, and the number of instances of each copy.

    `rtlil` is what `write_rtlil` wrote after `proc`; names come back as in the text, `\\name$path`.
    """
    modules = dict(_MODULE.findall(rtlil))
    while renamed := _duplicates(modules):  # leaves first: parents become equal once their children have one name
        kept = {name: body for name, body in modules.items() if name not in renamed}
        modules = {name: _rename_cells(body, renamed) for name, body in kept.items()}
    head = f"attribute \\top 1\nmodule \\{top}\n"
    texts = (f"module {name}\n{body}end\n" for name, body in modules.items())
    return "".join(texts).replace(f"module \\{top}\n", head), _instances(modules, f"\\{top}")


def _duplicates(modules: dict[str, str]) -> dict[str, str]:
    """Each module that equals an earlier one, with the name of that one."""
    uses = Counter(base_name(name) for name in modules)
    first: dict[tuple[str, ...], str] = {}
    duplicates = {}
    for name, body in modules.items():
        if uses[base_name(name)] > 1:
            keep = first.setdefault((base_name(name), *_fingerprint(body)), name)
            if keep != name:
                duplicates[name] = keep
    return duplicates


def _rename_cells(body: str, renamed: dict[str, str]) -> str:
    return _CELL.sub(lambda cell: cell[1] + renamed.get(cell[2], cell[2]), body)


def _fingerprint(body: str) -> list[str]:
    """Items of a module in a form that does not depend on source lines, order, and made-up names.

    A cell with a made-up name is called after what it is and what it is connected to; rounds of renaming spread
    this over the netlist until they tell no more cells apart.
    """
    items = _ITEM.findall(_SOURCE.sub("", body))
    defined = {name[1]: item for item in items if (name := _MADE_UP_CELL.match(item))}
    labels = dict.fromkeys(defined, 0)
    distinct = 0

    def label(token: re.Match) -> str:
        return f"${labels.get(token[0], 0)}"

    while distinct < (distinct := len(set(labels.values()))):
        labels = {name: hash(_MADE_UP.sub(label, item)) for name, item in defined.items()}
    return sorted(_MADE_UP.sub(label, item) for item in items)


def contents(rtlil: str) -> dict[str, tuple[str, ...]]:
    """What each module of a shared netlist is, and all modules inside it, whatever the copies are called.

    Equal contents map to equal gates: no step of the mapping looks beyond a module. Good within one process.
    """
    modules = dict(_MODULE.findall(rtlil))
    found: dict[str, tuple[str, ...]] = {}

    def content(name: str) -> tuple[str, ...]:
        if name not in found:
            found[name] = (base_name(name), *_fingerprint(_CELL.sub(unnamed, modules[name])))
        return found[name]

    def unnamed(cell: re.Match) -> str:
        return f"{cell[1]}\\{hash(content(cell[2]))}" if cell[2] in modules else cell[0]

    return {name: content(name) for name in modules}


def without(rtlil: str, names: Container[str]) -> str:
    """The netlist with these modules as black boxes of which only the ports are left."""

    def box(module: re.Match) -> str:
        if module[1] not in names:
            return module[0]
        ports = "".join(item for item in _ITEM.findall(module[2]) if _PORT.match(item))
        return f"attribute \\blackbox 1\nmodule {module[1]}\n{ports}end\n"

    return _MODULE.sub(box, rtlil)


def base_name(name: str) -> str:
    """The name that the source gives to the module `\\name$path.of.the.instance`."""
    return name.lstrip("\\").split("$")[0]


def _instances(modules: dict[str, str], top: str) -> dict[str, int]:
    children = {
        name: Counter(cell[1] for cell in _CELL.findall(body) if cell[1] in modules) for name, body in modules.items()
    }
    counts: Counter[str] = Counter()

    def visit(name: str, times: int) -> None:
        counts[name] += times
        for child, number in children[name].items():
            visit(child, times * number)

    visit(top, 1)
    return dict(counts)
