# SPDX-License-Identifier: Apache-2.0
"""What each module of the RTL is made of, in terms of `beatmatch.explore.area.TERMS`: read off its source.

A module that is not here is the same in every configuration.
"""

FIXED = "one"

STRUCTURE: dict[str, tuple[str, ...]] = {
    # the array: rows of PEs, triangles of skew registers, a deskewed row out
    "bm_matmul_row": ("PEs",),
    "bm_matmul_array": (FIXED, "rows"),
    "bm_matmul_skew": ("skew of rows", "skew of cols"),
    "bm_matmul_commit": (FIXED, "rows", "cols", "lanes"),
    "bm_matmul_feed": (FIXED, "rows", "lanes"),
    "bm_matmul_loader": (FIXED, "cols", "weight FIFO address"),
    # memories and the words between them
    "bm_ram": ("RAM bits",),
    "bm_scratchpad": (FIXED, "lanes of scratchpad banks"),
    "bm_scratchpad_bank": ("scratchpad banks", "lanes of scratchpad banks"),
    "bm_accumulator": (FIXED, "cols", "cols of accumulator banks"),
    "bm_accumulator_bank": ("accumulator banks", "cols of accumulator banks"),
    "bm_weight_fifo": (FIXED, "weight FIFO address"),
    # a lane per column
    "bm_vector_lane": ("cols",),
    "bm_round": ("cols",),
    "bm_vector_operands": (FIXED, "cols"),
    "bm_vector_params": (FIXED, "cols"),
    "bm_vector_write": (FIXED, "cols", "lanes"),
    # between the port and words
    "bm_gearbox": (FIXED, "bytes of the port", "lanes", "cols", "port to lanes", "port to cols"),
    "bm_store_beats": (FIXED, "bytes of the port", "lanes", "port to lanes"),
    "bm_store_reader": (FIXED, "lanes", "scratchpad address"),
    "bm_weights": (FIXED, "cols", "lanes"),
    "bm_weights_reader": (FIXED, "cols", "lanes"),
    # queues and what is in flight
    "bm_fifo": (FIXED, "queue entries", "bursts", "bytes of the port"),
    "bm_queue": (FIXED, "queue entries"),
    "bm_row_bursts": (FIXED, "bursts", "bytes of the port"),
    "bm_fetch": (FIXED, "bytes of the port"),
    "bm_dispatch": (FIXED, "queue entries"),
}
