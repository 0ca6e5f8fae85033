# SPDX-License-Identifier: Apache-2.0
"""Streams of random numbers derived from one base seed by name, so that every program replays alone."""

from __future__ import annotations

import hashlib
import random


def derive(base: int, *names: object) -> int:
    """A seed of 63 bits: the first bits of SHA-256 over base seed and names."""
    text = "/".join(str(part) for part in (base, *names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def stream(base: int, *names: object) -> random.Random:
    """An independent generator of this name."""
    return random.Random(derive(base, *names))


def small(rng: random.Random, high: int) -> int:
    """From 1 to `high`, small numbers far more often than large ones."""
    return min(high, 1 + int((high) * rng.random() ** 3))
