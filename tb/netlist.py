# SPDX-License-Identifier: Apache-2.0
"""Share equal modules of a Yosys netlist.

The slang front end makes a module of its own for every instance, so an array of 16 rows is mapped to gates 16
times. `share` finds modules that are equal but for names that Yosys made up, keeps one of each, and counts how
often it is used; the mapping then costs the same for every size of array.
"""

import re
from collections import Counter

_MODULE = re.compile(r"^module (\S+)\n(.*?)^end\n", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^  cell .*\n(?:^    .*\n)*^  end\n|^  .*\n", re.MULTILINE)
_CELL = re.compile(r"^(  cell )(\S+)(?= )", re.MULTILINE)
_SOURCE = re.compile(r"^ *attribute \\(?:src|hdlname) .*\n", re.MULTILINE)
_NUMBER = re.compile(r"(?<=\$)\d+")


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
    first: dict[str, str] = {}
    keep = {name: first.setdefault(_fingerprint(name, body), name) for name, body in modules.items()}
    return {name: kept for name, kept in keep.items() if name != kept}


def _rename_cells(body: str, renamed: dict[str, str]) -> str:
    return _CELL.sub(lambda cell: cell[1] + renamed.get(cell[2], cell[2]), body)


def _fingerprint(name: str, body: str) -> str:
    """Text that is equal for modules that differ only in source lines, made-up numbers and order."""
    body = _SOURCE.sub("", body)
    # Numbers grow in the order of the source, so their ranks mean the same in equal modules.
    ranks = {number: rank for rank, number in enumerate(sorted(set(_NUMBER.findall(body)), key=int))}
    body = _NUMBER.sub(lambda number: f"{ranks[number[0]]:08d}", body)
    return base_name(name) + "\n" + "".join(sorted(_ITEM.findall(body)))


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
