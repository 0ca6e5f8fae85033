# SPDX-License-Identifier: Apache-2.0
"""Works around a mistake in Verilator's run-time library that makes toggle coverage of wide signals too good.

For a signal of more than 64 bits `VL_COV_TOGGLE_CHG_ST_W` walks over its words, but lets the inner loop run to the end
of the signal instead of the word. Shifts by 32 and more then count each change of a word for all words behind it: a
bit that never toggles seems to, if the bit at the same place of a word before it does. The builds for coverage use a
copy of the header with the loop bound put right; a header without the mistake is left alone.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tb import toolchain

HEADER = "verilated_cov.h"
WRONG = "for (int j = 0; j < width - i * VL_EDATASIZE; ++j) {"
RIGHT = "for (int j = 0; j < VL_EDATASIZE && j < width - i * VL_EDATASIZE; ++j) {"


def corrected(text: str) -> str:
    """The header's text with every such loop ended at its word."""
    return text.replace(WRONG, RIGHT)


def flags(folder: Path) -> list[str]:
    """Arguments for Verilator that put the corrected header, written to `folder`, in front of its own."""
    root = subprocess.run(
        [toolchain.require("verilator"), "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = (Path(root) / "include" / HEADER).read_text()
    if WRONG not in text:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / HEADER
    if not path.exists() or path.read_text() != corrected(text):
        path.write_text(corrected(text))
    return ["-CFLAGS", f"-iquote{folder}"]
