# SPDX-License-Identifier: Apache-2.0
"""What the sub-commands share: configurations and programs from the command line, output, progress."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from beatmatch.accounting import Accounting
from beatmatch.config import PRESETS, Config, ConfigError, preset
from beatmatch.isa.asm import assemble
from beatmatch.program import Program

PROBLEM = 1
"""Exit code: the command worked and found something wrong."""
USAGE = 2
"""Exit code: the command could not do what was asked."""

CONFIG_HELP = "a preset, a JSON file, or sizes: 'base', 'my.json', 'small,mem_bits=128', 'rows=8,cols=16'"


class CommandError(Exception):
    """Bad input; the text is one sentence for the user."""


def parse_config(text: str) -> Config:
    """A configuration from a preset name, a JSON file, or ``[preset,]name=value,...``."""
    return Config.from_dict(parse_sizes(text))


def parse_sizes(text: str) -> dict:
    """The fields of a configuration from the same text, legal or not."""
    first, *rest = text.split(",")
    if first.endswith(".json"):
        try:
            values = json.loads(Path(first).read_text())
        except OSError as error:
            raise ConfigError(f"{first} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise ConfigError(f"{first} is no JSON file.") from None
        if not isinstance(values, dict):
            raise ConfigError(f"{first} must hold one object with the sizes.")
        if not values:
            raise ConfigError(f'{first} sets no size; one is enough, as in {{"rows": 16}}.')
    elif "=" in first:
        values, rest = {}, [first, *rest]
    elif first not in PRESETS and Path(first).is_file():
        raise ConfigError(f"{first} is a file, but no JSON: the name of a configuration's file ends in .json.")
    else:
        values = preset(first).to_dict()
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals:
            raise ConfigError(f"{part!r} should be name=value.")
        values = {**values, "name": "custom"}
        if not key:
            raise ConfigError(f"{part!r} should be name=value.")
        try:
            values[key] = value if key == "name" else int(value, 0)
        except ValueError:
            raise ConfigError(f"{key} must be an integer, not {value!r}.") from None
    return values


def load_program(path: str, config: str | None = None) -> Program:
    """A program file, or a text file (``.bmasm``) that is assembled."""
    if path.endswith(".bmasm"):
        try:
            text = Path(path).read_text()
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise CommandError(f"{path} is no text file.") from None
        return assemble(text, parse_config(config) if config else None)
    if config:
        raise CommandError("A program file holds its configuration; --config goes with .bmasm files only.")
    return Program.load(path)


def add_config(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add ``--config``."""
    shown = f" ({default})" if default else ""
    parser.add_argument("--config", metavar="CONFIG", default=default, help=CONFIG_HELP + shown)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json [FILE]``."""
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="machine-readable output, to FILE if given"
    )


def write_json(data: object, target: str) -> None:
    """Write to a file, or to standard output for ``-``."""
    text = json.dumps(data, indent=2) + "\n"
    if target == "-":
        sys.stdout.write(text)
        return
    try:
        Path(target).write_text(text)
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}.") from None


def console() -> Console:
    """Where tables go."""
    out = Console(highlight=False, soft_wrap=True)
    if not out.is_terminal:
        out.width = 120  # a pipe has no width: tables keep theirs
    return out


@contextmanager
def stepping(label: str, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Show on standard error how many cycles were stepped."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    done = TextColumn("{task.completed:,} cycles")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), done, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda cycles: bar.update(task, completed=cycles)


def accounting_table(accounting: Accounting) -> Table:
    """Where the cycles went."""
    table = Table("category")
    table.add_column("cycles", justify="right")
    table.add_column("share", justify="right")
    for name, share in accounting.shares().items():
        label = name.replace("_", " ")
        label = f"  of it {label}" if name in ("raw_stall", "input_stall") else label
        table.add_row(label, f"{share * accounting.cycles:,.0f}", f"{100 * share:.1f} %")
    return table
