# SPDX-License-Identifier: Apache-2.0
"""The bytes of the memory outside the core."""

from __future__ import annotations

import hashlib

import numpy as np

PAGE = 4096
"""Bytes of a page; no burst crosses one."""
ADDRESSES = 1 << 64


class MemoryImage:
    """Bytes at 64-bit addresses, kept in pages; what was never written is 0."""

    __slots__ = ("pages",)

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}

    @staticmethod
    def _check(address: int, size: int) -> None:
        if not 0 <= address <= address + size <= ADDRESSES:
            raise ValueError(f"{size} bytes at address {address:#x} are not inside the 64-bit address space.")

    def read(self, address: int, size: int) -> np.ndarray:
        """A copy of ``size`` bytes, uint8 [size]."""
        self._check(address, size)
        result = np.zeros(size, np.uint8)
        done = 0
        while done < size:
            number, start = divmod(address + done, PAGE)
            count = min(size - done, PAGE - start)
            page = self.pages.get(number)
            if page is not None:
                result[done : done + count] = np.frombuffer(page, np.uint8, count, start)
            done += count
        return result

    def write(self, address: int, data: np.ndarray | bytes) -> None:
        """Store bytes; an array is taken as the bytes it holds, in C order."""
        raw = data if isinstance(data, bytes | bytearray) else np.ascontiguousarray(data).tobytes()
        self._check(address, len(raw))
        done = 0
        while done < len(raw):
            number, start = divmod(address + done, PAGE)
            count = min(len(raw) - done, PAGE - start)
            self.page(number)[start : start + count] = raw[done : done + count]
            done += count

    def page(self, number: int) -> bytearray:
        """The page that holds addresses ``number * PAGE`` and up, made if need be."""
        page = self.pages.get(number)
        if page is None:
            page = self.pages[number] = bytearray(PAGE)
        return page

    def snapshot(self) -> MemoryImage:
        """An independent copy."""
        image = MemoryImage()
        image.pages = {number: bytearray(page) for number, page in self.pages.items()}
        return image

    def _filled(self) -> dict[int, bytes]:
        return {number: bytes(page) for number, page in self.pages.items() if any(page)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryImage) and self._filled() == other._filled()

    __hash__ = None

    def differences(self, other: MemoryImage, limit: int = 16) -> list[tuple[int, int, int]]:
        """The first differing bytes as (address, byte here, byte there), at most ``limit``."""
        found: list[tuple[int, int, int]] = []
        for number in sorted(self.pages.keys() | other.pages.keys()):
            here, there = self.read(number * PAGE, PAGE), other.read(number * PAGE, PAGE)
            for index in np.flatnonzero(here != there)[: limit - len(found)]:
                found.append((number * PAGE + int(index), int(here[index]), int(there[index])))
            if len(found) == limit:
                break
        return found

    def digest(self) -> str:
        """Sixteen hex digits over all bytes that are not 0; equal images have equal digests."""
        state = hashlib.sha256()
        for number, page in sorted(self._filled().items()):
            state.update(number.to_bytes(8, "little") + page)
        return state.hexdigest()[:16]
