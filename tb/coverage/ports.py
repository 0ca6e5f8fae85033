# SPDX-License-Identifier: Apache-2.0
"""Ports of the RTL's modules, by file; a file holds one module of its own name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
DIRECTION = re.compile(r"\b(?:input|output|inout)\b")
NAME = re.compile(r"(\w+)\s*$")


@cache
def ports(path: Path) -> frozenset[str]:
    """Names of the ports of the module in a file; none for a package."""
    text = COMMENT.sub("", path.read_text())
    head = re.split(r"\bmodule\b", text, maxsplit=1)[-1] if re.search(r"\bmodule\b", text) else ""
    head = head.partition(");")[0]  # the port list is the first thing that ends so
    pieces = DIRECTION.split(head)[1:]
    found = set()
    for piece in pieces:
        for declared in re.sub(r"\[[^\]]*\]", " ", piece).split(","):
            match = NAME.search(declared.strip().rstrip(")"))
            if match:
                found.add(match[1])
    return frozenset(found)
