# SPDX-License-Identifier: Apache-2.0
"""Faults that the lockstep run has to find: where each is planted, and what its report must say."""

import dataclasses

from beatmatch.config import Config
from tb.lockstep.plant import Edit, Fault

CONFIG = Config(
    rows=4,
    cols=8,
    sp_words=96,
    sp_banks=3,
    acc_rows=24,
    acc_banks=3,
    fifo_tiles=2,
    queue_depth=2,
    mem_bits=64,
    outstanding=3,
    param_rows=4,
    name="planted",
)
SPLIT = dataclasses.replace(CONFIG, weight_port=1, name="split")
PATCHES = "tests.sim.model_faults"


def rtl(name, what, file, old, new, kinds, stations, config=CONFIG, **options):
    """A fault in the RTL."""
    kinds, stations = ((item,) if isinstance(item, str) else item for item in (kinds, stations))
    return Fault(name, what, kinds, stations, config, Edit(file, old, new), **options)


def model(name, what, kinds, stations, **options):
    """A fault in the model: the function of this name in `model_faults`."""
    kinds, stations = ((item,) if isinstance(item, str) else item for item in (kinds, stations))
    return Fault(name, what, kinds, stations, CONFIG, patch=f"{PATCHES}:{name}", **options)


FAULTS = (
    # ----- matrix unit -----
    rtl(
        "swapped_lanes",
        "neighbouring activation lanes are exchanged",
        "matmul/bm_matmul_feed.sv",
        "read_q ? operand[8*r+:8] : pad_q",
        "read_q ? operand[8*(r^1)+:8] : pad_q",
        "digest",
        "matmul",
    ),
    rtl(
        "padding_value",
        "padding rows are zero whatever the instruction says",
        "matmul/bm_matmul_feed.sv",
        "read_q ? operand[8*r+:8] : pad_q",
        "read_q ? operand[8*r+:8] : 8'd0",
        "digest",
        "matmul",
    ),
    rtl(
        "subtracted_product",
        "a processing element subtracts its product",
        "matmul/bm_matmul_row.sv",
        "sum_i[32*c+:32] + 32'($signed(product_q[16*c+:16]))",
        "sum_i[32*c+:32] - 32'($signed(product_q[16*c+:16]))",
        "digest",
        "matmul",
    ),
    rtl(
        "skew_off_by_one",
        "the swap reaches every row one column early",
        "matmul/bm_matmul_array.sv",
        "assign swap = {swap_q, swap_i};",
        "assign swap = {1'b0, swap_q};",
        "digest",
        "matmul",
    ),
    rtl(
        "stale_weight",
        "weights in the array survive a reset",
        "matmul/bm_matmul_row.sv",
        "      weight_q     <= '0;",
        "      weight_q     <= weight_q;",
        ("digest", "unknown_x"),
        "matmul",
    ),
    rtl(
        "early_tile",
        "the loader starts although the shadow is still full",
        "matmul/bm_matmul_loader.sv",
        "if (swap_i) shadow_full_q <= 1'b0;",
        "if (swap_i || busy_q) shadow_full_q <= 1'b0;",
        ("early", "extra", "digest"),
        "matmul",
    ),
    # ----- accumulators -----
    rtl(
        "no_forwarding",
        "adding to a row right after it was written reads its old value",
        "accumulator/bm_accumulator.sv",
        "assign old = (last_valid_q && last_addr_q == acc_addr_i) ? last_data_q : bank_rdata[write_bank];",
        "assign old = bank_rdata[write_bank];",
        "value",
        "accumulator",
    ),
    # ----- scratchpad -----
    rtl(
        "write_priority",
        "load wins over vector in a bank",
        "scratchpad/bm_scratchpad_bank.sv",
        "assign wgrant_o = write_i & (~write_i + 2'd1);",
        "assign wgrant_o = write_i[1] ? 2'b10 : write_i;",
        ("early", "extra"),
        "load",
    ),
    rtl(
        "read_priority",
        "store wins over vector in a bank",
        "scratchpad/bm_scratchpad_bank.sv",
        "assign rgrant_o = read_i & (~read_i + 4'd1);",
        "assign rgrant_o = read_i[3] && !read_i[1] && !read_i[0] ? 4'b1000 : read_i & (~read_i + 4'd1);",
        ("late", "early", "extra", "missing", "digest"),
        ("store", "vector"),
    ),
    # ----- memory port, transfers -----
    rtl(
        "port_priority",
        "load wins over fetch",
        "host/bm_port.sv",
        "if (fetch_ar_valid_i) id = FETCH;",
        "if (fetch_ar_valid_i && !load_ar_valid_i) id = FETCH;",
        ("order", "value"),
        "port",
    ),
    rtl(
        "port_lock",
        "a request that was shown and not accepted is replaced",
        "host/bm_port.sv",
        "if (kept_q) id = kept_id_q;",
        "if (kept_q && 1'b0) id = kept_id_q;",
        ("order", "value", "missing"),
        "port",
    ),
    rtl(
        "weight_port_late",
        "beats of the weight port reach weights one cycle late",
        "host/bm_weight_port.sv",
        "  assign weights_r_valid_o = OWN ? m_axi_weights_rvalid_i : port_r_valid_i;",
        "  logic seen_q;\n"
        "  always_ff @(posedge clk_i) seen_q <= m_axi_weights_rvalid_i && !m_axi_weights_rready_o;\n"
        "  assign weights_r_valid_o = OWN ? m_axi_weights_rvalid_i && seen_q : port_r_valid_i;",
        ("late", "missing", "digest"),
        "weights",
        config=SPLIT,
    ),
    rtl(
        "weight_port_held",
        "the weight port takes a beat only in the cycle behind the one in which weights is ready",
        "host/bm_weight_port.sv",
        "assign m_axi_weights_rready_o = OWN && m_axi_weights_rvalid_i && weights_r_ready_i;",
        "logic was_q; always_ff @(posedge clk_i) was_q <= OWN && m_axi_weights_rvalid_i && weights_r_ready_i;\n"
        "  assign m_axi_weights_rready_o = OWN && m_axi_weights_rvalid_i && was_q;",
        "late",
        "weight_port",
        config=SPLIT,
    ),
    rtl(
        "weight_port_shared",
        "the memory port sees the requests of weights although they have a port of their own",
        "host/bm_weight_port.sv",
        "assign port_ar_valid_o = !OWN && weights_ar_valid_i;",
        "assign port_ar_valid_o = weights_ar_valid_i;",
        ("extra", "order", "late", "value"),
        "port",
        config=SPLIT,
    ),
    rtl(
        "page_boundary",
        "bursts cross 4 KiB",
        "lib/bm_row_bursts.sv",
        "assign boundary = (20'd4096 - 20'(addr_q[11:0])) >> MB_LOG;",
        "assign boundary = (20'd8192 - 20'(addr_q[11:0])) >> MB_LOG;",
        ("value", "digest"),
        ("port", "load", "store", "weights"),
    ),
    rtl(
        "outstanding",
        "one burst too many is in flight",
        "lib/bm_row_bursts.sv",
        "inflight_q < 7'(OUTSTANDING)",
        "inflight_q <= 7'(OUTSTANDING)",
        ("early", "extra", "digest"),
        ("port", "load", "weights", "store"),
    ),
    rtl(
        "ring",
        "the local address never wraps",
        "lib/bm_transfer_rows.sv",
        "assign wraps = ring_q != 2'd0 && (outer_next & ring_mask) == 8'd0;",
        "assign wraps = ring_q == 2'd3 && (outer_next & ring_mask) == 8'd0;",
        ("value", "missing", "digest", "extra"),
        ("load", "store", "host"),
    ),
    rtl(
        "tail_bytes",
        "one byte past the row's end is kept",
        "lib/bm_gearbox.sv",
        "mask[8*i+:8] = {8{9'(i) < bytes}};",
        "mask[8*i+:8] = {8{9'(i) <= bytes}};",
        "value",
        ("load", "weights"),
    ),
    rtl(
        "strobe",
        "the last byte of a narrow tail is not written",
        "store/bm_store_beats.sv",
        "strobe[i] = 9'(i) < beat_bytes;",
        "strobe[i] = 9'(i) + 9'd1 < beat_bytes || beat_bytes == 9'(MB);",
        "value",
        "port",
    ),
    rtl(
        "weight_lanes",
        "one lane too many of a weight row from the scratchpad",
        "weights/bm_weights_reader.sv",
        "9'(c) < arrive_bytes_q",
        "9'(c) <= arrive_bytes_q",
        "value",
        "weights",
    ),
    # ----- vector -----
    rtl(
        "half_up",
        "ties are rounded up",
        "lib/bm_round.sv",
        "up = doubled[0] && (sticky || doubled[1]);",
        "up = doubled[0];",
        "value",
        "vector",
    ),
    rtl(
        "missing_saturation",
        "scaled values wrap instead of saturating",
        "vector/bm_vector_lane.sv",
        "else if (rounded > LIMIT) scaled = 32'd511;",
        "else if (rounded > LIMIT) scaled = rounded[31:0];",
        "value",
        "vector",
    ),
    rtl(
        "no_bias",
        "the bias is left out",
        "vector/bm_vector_lane.sv",
        "33'(reduced) + (add_i ? 33'sd0 : 33'(bias_i))",
        "33'(reduced)",
        "value",
        "vector",
    ),
    rtl(
        "minimum",
        "max pooling takes the least",
        "vector/bm_vector_lane.sv",
        "(a_i > reduced_q) ? a_i : reduced_q",
        "(a_i < reduced_q) ? a_i : reduced_q",
        "value",
        "vector",
    ),
    # ----- order, errors, host -----
    rtl(
        "lost_signal",
        "store gives no signals",
        "store/bm_store.sv",
        "sig_q <= answer[SIGNALS-LAST+:12];",
        "sig_q <= answer[SIGNALS-LAST+:12] & 12'd0;",
        "digest",
        "frontend",
    ),
    rtl(
        "second_wait",
        "the second wait takes nothing from its counter",
        "frontend/bm_semaphores.sv",
        "sum = sum + 11'(waits[18*k+14+:4]);",
        "sum = sum + 11'd0;",
        "digest",
        "frontend",
    ),
    rtl(
        "impatient",
        "a deadlock is declared a cycle early",
        "frontend/bm_monitor.sv",
        "deadlock = still && still_q == PATIENCE;",
        "deadlock = still && still_q == PATIENCE - 4'd1;",
        "early",
        "host",
        disturbed="deadlock",
    ),
    rtl(
        "watchdog",
        "the cycle limit is one cycle late",
        "frontend/bm_monitor.sv",
        "cycles_i == 64'(cycle_limit_i)",
        "cycles_i == 64'(cycle_limit_i) + 64'd1",
        "late",
        "host",
        disturbed="limit",
    ),
    rtl(
        "illegal_instance",
        "a reserved engine instance is accepted",
        "frontend/bm_legality.sv",
        "field = header.instance_ != '0 || (",
        "field = (",
        ("extra", "early"),
        "frontend",
        disturbed="instance",
    ),
    rtl(
        "done_too_soon",
        "done does not wait for the engines",
        "frontend/bm_monitor.sv",
        "all_dispatched && instr_valid_i == '0 && busy_i == '0;",
        "all_dispatched && instr_valid_i == '0;",
        ("early", "extra"),  # extra if the program goes on for longer than a report looks ahead
        "host",
    ),
    rtl(
        "late_ready",
        "the register bus is ready for a read one cycle late",
        "host/bm_axil.sv",
        "assign s_axil_arready_o = !ar_valid_q;",
        "assign s_axil_arready_o = !ar_valid_q && !r_valid_q;",
        ("late", "value"),
        "host",
    ),
    # ----- the model -----
    model(
        "model_ignores_second_wait",
        "the second wait is granted at once",
        ("late", "digest"),
        ("load", "weights", "matmul", "vector", "store", "frontend"),
    ),
    model("model_page_boundary", "bursts end at 2 KiB", ("value", "digest"), ("port", "load", "weights", "store")),
    model("model_accumulator_overwrites", "rows that add overwrite", "value", "accumulator"),
    model("model_patience", "a deadlock is declared a cycle late", "early", "host", disturbed="deadlock"),
    model("model_no_swap", "the weights in use are never replaced", "digest", "matmul"),
)
"""In the order of the units; each is found on Icarus."""
