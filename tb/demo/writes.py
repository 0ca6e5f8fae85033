# SPDX-License-Identifier: Apache-2.0
"""What the core wrote to memory, put together from its AW and W channels in trace records alone."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.memory import MemoryImage
from beatmatch.trace import VALID, layout


class WriteBeats:
    """Collects the bursts and beats of records, of the RTL or of the model.

    Parameters
    ----------
    config : Config
    """

    def __init__(self, config: Config) -> None:
        self._bytes = config.mem_bytes
        place = layout(config)
        self._aw, self._w = place.slot("port", "aw"), place.slot("port", "w")
        self._bursts: list[np.ndarray] = []
        self._beats: list[np.ndarray] = []

    def add(self, records: np.ndarray) -> None:
        """Append records, uint32 [cycles, words]."""
        for placed, kept in ((self._aw, self._bursts), (self._w, self._beats)):
            found = (records[:, placed.offset] & VALID).astype(bool)
            if found.any():
                kept.append(records[found, placed.offset : placed.offset + placed.words])

    def apply(self, image: MemoryImage) -> int:
        """Write every strobed byte of every beat into ``image``; returns the number of beats.

        Raises
        ------
        ValueError
            Bursts and beats do not fit together.
        """
        bursts, beats = _joined(self._bursts), _joined(self._beats)
        strobe_at, strobe_words = self._relative("strobe")
        data_at, data_words = self._relative("data")
        done = 0
        for header, low, high in bursts.tolist():
            address, count = low | high << 32, (header & 0xFF) + 1
            if done + count > len(beats):
                raise ValueError(f"The burst at {address:#x} has {count} beats, but only {len(beats) - done} came.")
            for beat in beats[done : done + count]:
                strobe = np.unpackbits(
                    beat[strobe_at : strobe_at + strobe_words].astype("<u4").view(np.uint8), bitorder="little"
                )[: self._bytes].astype(bool)
                old = image.read(address, self._bytes)
                data = beat[data_at : data_at + data_words].astype("<u4").view(np.uint8)
                image.write(address, np.where(strobe, data, old))
                address += self._bytes
            done += count
        if done != len(beats):
            raise ValueError(f"{len(beats) - done} beats came without a burst.")
        return done

    def _relative(self, name: str) -> tuple[int, int]:
        offset, words = self._w.data[name]
        return offset - self._w.offset, words


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros((0, 3), np.uint32)
