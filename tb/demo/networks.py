# SPDX-License-Identifier: Apache-2.0
"""The model's part of the demo: compile, run untimed over the whole test set, step clock by clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beatmatch import digits, functional
from beatmatch.compiler.network import compile_digits
from beatmatch.config import Config
from beatmatch.isa.fields import Error, Opcode
from beatmatch.machine import SteppedResult
from beatmatch.program import Program
from beatmatch.report import Recording, Timeline, record

CHUNK = 40
"""Images per functional program."""


@dataclass
class Case:
    """A network, its batch for the timed runs, and what the model makes of them.

    Attributes
    ----------
    program : Program
        The batch as one program.
    labels : list of str
        The layer of each of its instructions.
    reference : numpy.ndarray of int8, [360, 10]
        Logits of the naive integer oracle for the whole test set.
    functional : numpy.ndarray of int8, [360, 10]
        Logits of the functional tier.
    stepped : SteppedResult
    recording : Recording
    """

    network: digits.Network
    batch: int
    program: Program
    labels: list[str]
    reference: np.ndarray
    functional: np.ndarray | None = None
    stepped: SteppedResult | None = None
    recording: Recording | None = None

    @property
    def name(self) -> str:
        """``cnn`` or ``mlp``."""
        return self.network.name

    @property
    def logits(self) -> np.ndarray:
        """Logits of the batch on the stepped tier, int8 [batch, 10]."""
        return flat(self.stepped.values["logits"])

    def timeline(self) -> Timeline:
        """The stepped run as a timeline with the network's layers."""
        groups = {
            layer.name: [i for i, label in enumerate(self.labels) if label == layer.name]
            for layer in self.network.layers
        }
        return Timeline(self.recording, self.program, groups=groups)

    def streamed_rows(self) -> int:
        """Activation rows that the program sends through the array: no run is shorter."""
        found = [i for i in self.program.decoded() if i is not None and i.opcode == Opcode.MATMUL]
        return sum(i.outer * i.ky * i.kx * i.kc * i.y * i.x for i in found)


def flat(logits: np.ndarray) -> np.ndarray:
    """One row of logits per image."""
    return np.asarray(logits).reshape(len(logits), -1)


def prepare(name: str, batch: int, config: Config) -> Case:
    """Load a network and compile its first ``batch`` test images."""
    network = digits.load(name)
    images = network.quantize(network.images)
    batch = min(batch, len(images))
    labels: list[str] = []
    program = compile_digits(network, images[:batch], config, labels=labels)
    return Case(network, batch, program, labels, flat(digits.reference(network.layers, images)["logits"]))


def run_functional(case: Case, config: Config, progress: Callable[[int], None]) -> None:
    """The whole test set on the functional tier; ``progress`` gets the images done."""
    images = case.network.quantize(case.network.images)
    parts = []
    for first in range(0, len(images), CHUNK):
        program = compile_digits(case.network, images[first : first + CHUNK], config)
        outcome = functional.run(program)
        if outcome.error != Error.NONE:
            raise RuntimeError(f"{case.name} stopped on the functional tier: {outcome.text}")
        parts.append(flat(program.read(outcome.image)["logits"]))
        progress(first + len(parts[-1]))
    case.functional = np.concatenate(parts)


def run_stepped(case: Case, progress: Callable[[int], None]) -> None:
    """The batch on the stepped tier; ``progress`` gets the cycles done."""
    case.stepped, case.recording = record(case.program, progress=progress)
    if case.stepped.error != Error.NONE:
        raise RuntimeError(f"{case.name} stopped on the stepped tier with {case.stepped.error.name}.")
