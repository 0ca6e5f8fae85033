# SPDX-License-Identifier: Apache-2.0
"""Faults planted in the model; each function gets a function like `setattr`, so that it can be taken back."""

from beatmatch.stations import frontend, row_bursts
from beatmatch.stations.accumulator import Accumulator
from beatmatch.stations.array import Array
from beatmatch.stations.semaphores import Semaphores


def model_ignores_second_wait(replace):
    """Only the first wait of an instruction is looked at."""
    replace(Semaphores, "allows", lambda self, sync: self.count[sync & 31] >= sync >> 5 & 15)


def model_page_boundary(replace):
    """Bursts end at every 2 KiB."""
    replace(row_bursts, "BOUNDARY", 2048)


def model_accumulator_overwrites(replace):
    """Rows that add overwrite."""
    original = Accumulator.step
    replace(Accumulator, "step", lambda self, row, add, data: original(self, row, False, data))


def model_patience(replace):
    """A deadlock takes one more cycle."""
    replace(frontend, "PATIENCE", 16)


def model_no_swap(replace):
    """Tiles are shifted in and never used."""
    original = Array.step
    replace(Array, "step", lambda self, acts, swap, weights, first: original(self, acts, False, weights, first))
