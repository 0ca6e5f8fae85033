# SPDX-License-Identifier: Apache-2.0
"""Programs, products and convolutions in one call: values, cycles and where the cycles went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beatmatch import fidelity, functional
from beatmatch.compiler import CompileError, Requant, compile_conv2d, compile_gemm
from beatmatch.compiler.conv import output_size
from beatmatch.config import Config
from beatmatch.isa.encode import EncodingError
from beatmatch.isa.fields import Engine, Error
from beatmatch.memory import DramCounters, MemoryTiming
from beatmatch.program import Program

if TYPE_CHECKING:
    from beatmatch.accounting import Accounting
    from beatmatch.events import EventLog
    from beatmatch.fast import Intervals

TIERS = ("functional", "stepped", "fast")


@dataclass
class Run:
    """What a run gives.

    Attributes
    ----------
    values : dict of str to numpy.ndarray
        The program's named results.
    tier : str
    cycles : int or None
        From start to done; None on the functional tier.
    accounting : Accounting or None
        Cycles by category; None on the functional tier.
    events : EventLog, Intervals or None
        Everything that happened; None on the functional tier.
    overflow : bool or None
        Some accumulator sum left the signed 32-bit range; None: not known without values.
    error : Error
        NONE, or what stopped the machine; ``engine`` and ``seq`` say where, ``text`` in a sentence.
    standing : Fidelity or None
        What the numbers are worth, with the reason; None on the functional tier.
    dram : tuple of (DramCounters or None)
        What the memories did, by port: counters of a DRAM, None of others; empty on the functional tier.
    fidelity : str
        ``exact``: the RTL has been found equal here, in every cycle; ``unproven``: the model's own cycles, but outside
        of what has been in lockstep; ``values``: untimed.
    """

    values: dict[str, np.ndarray]
    tier: str
    cycles: int | None = None
    accounting: Accounting | None = None
    events: EventLog | Intervals | None = None
    overflow: bool | None = False
    error: Error = Error.NONE
    engine: Engine = Engine.FRONTEND
    seq: int = 0
    text: str = ""
    standing: fidelity.Fidelity | None = None
    dram: tuple[DramCounters | None, ...] = ()

    @property
    def fidelity(self) -> str:
        """What the numbers are worth."""
        return self.standing.label if self.standing else fidelity.UNTIMED

    @property
    def reason(self) -> str:
        """Why they are worth that, in a sentence."""
        return self.standing.reason if self.standing else "The functional tier has values and no time."


class MachineError(RuntimeError):
    """A run that the machine stopped with an error; the text says which."""


class Machine:
    """A core of one configuration.

    Parameters
    ----------
    config : Config or None
        None takes the program's.
    """

    def __init__(self, config: Config | None = None) -> None:
        if config is not None and not isinstance(config, Config):
            raise ValueError(f"config is {config!r}; it must be a Config, such as preset('small'), or None.")
        self.config = config

    def run(
        self,
        program: Program,
        tier: str = "functional",
        progress: Callable[[int], None] | None = None,
        values: bool = True,
    ) -> Run:
        """Run a program.

        Parameters
        ----------
        program : Program
            Made for this configuration.
        tier : str
            ``functional`` (untimed), ``stepped`` (one clock at a time) or ``fast`` (the same cycles as stepped, values
            by the functional tier); see docs/tiers.md.
        progress : callable or None
            Called with the number of cycles so far, now and then.
        values : bool
            False leaves them out on the fast tier, which then takes less time.

        Raises
        ------
        ValueError
            For another tier, a program of another configuration, or one that the fast tier refuses.
        """
        if tier not in TIERS:
            raise ValueError(f"tier is {tier!r}; it must be one of {', '.join(TIERS)}.")
        if self.config is not None and program.config != self.config:
            raise ValueError("The program was made for another configuration.")
        if tier == "functional":
            return _functional(program)
        if tier == "fast":
            return _fast(program, progress, values)
        from beatmatch.machine import run_stepped

        result = run_stepped(program, progress=progress)
        return _timed(program, tier, result, result.values, result.overflow)


def _timed(program: Program, tier: str, result, values: dict[str, np.ndarray], overflow: bool | None) -> Run:
    """A run out of the result of a tier that knows time."""
    text = ""
    if result.error:
        text = f"{result.error.name} from {result.error_engine.name.lower()}, instruction {result.error_seq}."
    return Run(
        values, tier, result.cycles, result.accounting, result.events, overflow, result.error, result.error_engine,
        result.error_seq, text, fidelity.of(program.config, program, result.error), result.dram,
    )  # fmt: skip


def _fast(program: Program, progress: Callable[[int], None] | None, values: bool) -> Run:
    from beatmatch.fast import FastError, run_fast

    if values and any(event.action == "reset" for event in program.host):
        raise FastError(
            "Values after a reset in mid-run depend on its cycle: run it on the stepped tier, or without values."
        )
    result = run_fast(program, progress=progress)
    if not values or result.error:  # what an error leaves in memory depends on its cycle
        return _timed(program, "fast", result, {}, result.overflow)
    outcome = functional.run(program)
    return _timed(program, "fast", result, program.read(outcome.image), outcome.overflow)


def _functional(program: Program) -> Run:
    outcome = functional.run(program)
    return Run(
        program.read(outcome.image), "functional", overflow=outcome.overflow, error=outcome.error,
        engine=outcome.engine, seq=outcome.seq, text=outcome.text,
    )  # fmt: skip


def _checked(run: Run) -> Run:
    if run.error:
        raise MachineError(f"The machine stopped: {run.text}")
    return run


def matmul(
    a: np.ndarray,
    b: np.ndarray,
    config: Config,
    out: str = "int32",
    requant: Requant | None = None,
    bias: np.ndarray | None = None,
    tier: str = "stepped",
    timing: MemoryTiming | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """``a @ b`` on the machine; the result's value is named ``out``.

    Parameters are those of `compiler.compile_gemm` and `Machine.run`.
    """
    program = compile_gemm(a, b, config, out, requant, bias, timing)
    run = _checked(Machine(config).run(program, tier, progress))
    if "out" not in run.values:  # the compiler wrote blocks of columns
        blocks = [run.values[f"out.{index}"] for index in range(len(run.values))]
        run.values = {"out": np.concatenate(blocks, axis=1)}
    return run


def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    config: Config,
    out: str = "int8",
    requant: Requant | None = None,
    bias: np.ndarray | None = None,
    stride: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    dilation: tuple[int, int] = (1, 1),
    pad_value: int = 0,
    tier: str = "stepped",
    timing: MemoryTiming | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """A convolution on the machine; the result's value is named ``out``, [N, OH, OW, F].

    Images that do not fit on the chip are cut into strips of output rows, one program each: cycles, and the counters
    of a DRAM, are then sums, and accounting and events those of the last strip. Parameters are those of
    `compiler.compile_conv2d`.
    """
    x, w = np.asarray(x), np.asarray(w)
    options = {"out": out, "requant": requant, "bias": bias, "dilation": dilation, "pad_value": pad_value}
    try:
        program = compile_conv2d(x, w, config, stride=stride, pads=pads, timing=timing, **options)
    except (CompileError, EncodingError):  # too large for the scratchpad, or for a field of the instructions
        height = output_size(x.shape[1], w.shape[0], stride[0], pads[0], pads[2], dilation[0])
        if height < 2 or tier not in TIERS:
            raise
        return _strips(x, w, config, stride, pads, height // 2, height, tier, timing, progress, options)
    return _checked(Machine(config).run(program, tier, progress))


def _strips(x, w, config, stride, pads, middle, height, tier, timing, progress, options) -> Run:
    """The upper and the lower output rows as two convolutions of the input rows that they need."""
    reach = options["dilation"][0] * (w.shape[0] - 1) + 1
    runs = []
    for first, last in ((0, middle), (middle, height)):
        low, high = first * stride[0] - pads[0], (last - 1) * stride[0] - pads[0] + reach
        inside = (min(max(low, 0), x.shape[1]), max(min(high, x.shape[1]), 0))
        edges = (inside[0] - low, pads[1], high - inside[1], pads[3])
        part = x[:, inside[0] : inside[1]]
        if not part.shape[1]:  # nothing but padding: let one row of it stand for the image
            part = np.full((len(x), 1, *x.shape[2:]), options["pad_value"], np.int8)
            edges = (0, pads[1], high - low - 1, pads[3])
        runs.append(
            conv2d(part, w, config, stride=stride, pads=edges, tier=tier, timing=timing, progress=progress, **options)
        )
    upper, lower = runs
    lower.values = {"out": np.concatenate([upper.values["out"], lower.values["out"]], axis=1)}
    lower.overflow |= upper.overflow
    lower.dram = tuple(below and above + below for above, below in zip(upper.dram, lower.dram, strict=True))
    if upper.standing and not upper.standing.exact:
        lower.standing = upper.standing
    if lower.cycles is not None:
        lower.cycles += upper.cycles
    return lower
