# SPDX-License-Identifier: Apache-2.0
"""The command line: ``beatmatch COMMAND``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from beatmatch.api import MachineError
from beatmatch.commands import explore, kernels, network, programs
from beatmatch.commands.common import USAGE, CommandError

EXAMPLES = """examples:
  beatmatch config list
  beatmatch gemm 256 256 256 --config base
  beatmatch conv 32 8 8 16 16 --pad 1 --config small
  beatmatch network resnet50 --config mxu128
  beatmatch run program.bmasm --tier functional
  beatmatch lockstep --random 100 --seed 7
"""


def _make(
    commands: argparse._SubParsersAction, name: str, text: str, handler: Callable, examples: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=f"examples:{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(handler=handler)
    return parser


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    result = argparse.ArgumentParser(
        prog="beatmatch",
        description="A TPU-style int8 matrix core: assemble, check and run programs on its golden model.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(dest="command", metavar="COMMAND", required=True)
    programs.add_parsers(commands, _make)
    kernels.add_parsers(commands, _make)
    network.add_parsers(commands, _make)
    explore.add_parsers(commands, _make)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 1 if something is wrong with the program, 2 for bad input."""
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        if not argv:
            parser().print_help()
            return USAGE
        if argv[:1] == ["lockstep"]:
            return programs.lockstep(argv[1:])
        arguments = parser().parse_args(argv)
        return arguments.handler(arguments)
    except (CommandError, MachineError, ValueError) as error:  # all refusals of the package are ValueErrors
        print(f"beatmatch: {error}", file=sys.stderr)
        return USAGE
    except MemoryError:
        print("beatmatch: there is not enough memory for it on this computer.", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
