// SPDX-License-Identifier: Apache-2.0
//
// The matrix unit: activation rows from the scratchpad times stationary weight tiles, into the accumulators.
//
// Streams: instructions in, scratchpad rows in (one per cycle), weight tiles in from the FIFO, int32 rows out.
// Latency: a row generated in g is at the array's edge in X = g+3 and commits in A = X + ROWS + COLS + 1.
// Stalls: only before the first row of a tile (shadow registers, semaphores); a running tile never stalls, and
// nobody can stall this station. Tile interval: max(rows of the tile, ROWS). Reset: empty, weights 0.
// Parameters as in beatmatch.config; TRACE_W is 32 * (7 + LANES / 4). docs/timing.md, section Matmul.

module bm_matmul
  import bm_pkg::*;
#(
  parameter int ROWS       = 8,
  parameter int COLS       = 8,
  parameter int SP_WORDS   = 4096,
  parameter int ACC_ROWS   = 256,
  parameter int FIFO_TILES = 4,
  parameter int TRACE_W    = 32 * (7 + ((ROWS > COLS) ? ROWS : COLS) / 4),
  parameter bit TRACE      = 1'b1,
  localparam int LANES     = (ROWS > COLS) ? ROWS : COLS,
  localparam int SP_AW     = $clog2(SP_WORDS),
  localparam int ACC_AW    = $clog2(ACC_ROWS)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // frontend
  input  logic               halt_i,
  input  logic               instr_valid_i,
  input  logic [INSTR_W-1:0] instr_i,
  input  logic [  SEQ_W-1:0] seq_i,
  output logic               wait_valid_o,
  output logic               wait_issue_o,
  output logic [       17:0] wait_sync_o,
  input  logic               wait_grant_i,
  output logic [       11:0] sig_o,
  output logic               err_valid_o,
  output logic [        7:0] err_code_o,
  output logic [  SEQ_W-1:0] err_seq_o,
  output logic               busy_o,
  output logic               pending_o,
  output logic               stuck_o,
  output logic [  SEQ_W-1:0] stuck_seq_o,
  // scratchpad
  output logic               sp_req_valid_o,
  output logic [  SP_AW-1:0] sp_req_addr_o,
  input  logic [8*LANES-1:0] sp_rdata_i,
  // weight FIFO
  input  logic [        4:0] fifo_count_i,
  output logic               fifo_rvalid_o,
  output logic [        3:0] fifo_rtile_o,
  output logic [        7:0] fifo_rrow_o,
  input  logic [ 8*COLS-1:0] fifo_rdata_i,
  output logic               fifo_release_o,
  // accumulator
  output logic               acc_pre_valid_o,
  output logic [ ACC_AW-1:0] acc_pre_addr_o,
  output logic               acc_valid_o,
  output logic [ ACC_AW-1:0] acc_addr_o,
  output logic               acc_add_o,
  output logic [32*COLS-1:0] acc_data_o,
  // accounting: what this cycle is, at most one of the first four
  output logic               active_o,        // a row is at the array's edge
  output logic               weight_shift_o,  // a first row waits for weights that are on their way
  output logic               weight_stall_o,  // a first row waits, and there is no tile
  output logic               wait_o,          // waits for semaphores
  output logic [       16:0] useful_o,        // multiply-accumulates of the row at the edge that count
  output logic [TRACE_W-1:0] trace_o
);

  logic run, row, rows, shadow_full, shadow_wait, loader_busy, no_tile, waiting;
  logic [SEQ_W-1:0] run_seq;
  logic [7:0] loader_row;
  logic req_valid, req_swap, req_add, req_end;
  logic [2:0] req_part;
  logic [ACC_AW-1:0] req_acc, edge_acc;
  logic [8:0] req_lanes, req_cols;
  logic [7:0] req_pad;
  logic [36:0] req_retire, edge_retire;
  logic edge_valid, edge_swap, edge_pad, edge_add, edge_end;
  logic [8*ROWS-1:0] edge_act;
  logic weight_valid;
  logic [7:0] weight_row;
  logic [8*COLS-1:0] weight;
  logic retire_valid, read_valid;
  logic [24:0] retire;
  logic [SP_AW-1:0] read_addr;
  logic [31:0] issue_event, sequencer_digest, array_digest, state_digest;

  bm_matmul_sequencer #(
    .ROWS    (ROWS),
    .COLS    (COLS),
    .SP_WORDS(SP_WORDS),
    .ACC_ROWS(ACC_ROWS)
  ) u_sequencer (
    .clk_i,
    .rst_ni,
    .halt_i,
    .instr_valid_i,
    .instr_i,
    .seq_i,
    .wait_valid_o,
    .wait_issue_o,
    .wait_sync_o,
    .wait_grant_i,
    .err_valid_o,
    .run_o        (run),
    .run_seq_o    (run_seq),
    .shadow_full_i(shadow_full),
    .shadow_wait_o(shadow_wait),
    .swap_o       (req_swap),
    .row_o        (row),
    .req_valid_o  (req_valid),
    .req_read_o   (sp_req_valid_o),
    .req_addr_o   (sp_req_addr_o),
    .req_part_o   (req_part),
    .req_add_o    (req_add),
    .req_acc_o    (req_acc),
    .req_lanes_o  (req_lanes),
    .req_cols_o   (req_cols),
    .req_pad_o    (req_pad),
    .req_end_o    (req_end),
    .req_retire_o (req_retire),
    .issue_o      (issue_event),
    .digest_o     (sequencer_digest)
  );

  bm_matmul_loader #(
    .ROWS      (ROWS),
    .COLS      (COLS),
    .FIFO_TILES(FIFO_TILES)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .halt_i,
    .fifo_count_i,
    .fifo_rvalid_o,
    .fifo_rtile_o,
    .fifo_rrow_o,
    .fifo_rdata_i,
    .fifo_release_o,
    .swap_i        (req_swap),
    .shadow_full_o (shadow_full),
    .busy_o        (loader_busy),
    .row_o         (loader_row),
    .weight_valid_o(weight_valid),
    .weight_row_o  (weight_row),
    .weight_o      (weight)
  );

  bm_matmul_feed #(
    .ROWS  (ROWS),
    .COLS  (COLS),
    .SP_AW (SP_AW),
    .ACC_AW(ACC_AW)
  ) u_feed (
    .clk_i,
    .rst_ni,
    .req_valid_i  (req_valid),
    .req_read_i   (sp_req_valid_o),
    .req_swap_i   (req_swap),
    .req_addr_i   (sp_req_addr_o),
    .req_part_i   (req_part),
    .req_add_i    (req_add),
    .req_acc_i    (req_acc),
    .req_lanes_i  (req_lanes),
    .req_cols_i   (req_cols),
    .req_pad_i    (req_pad),
    .req_end_i    (req_end),
    .req_retire_i (req_retire),
    .sp_rdata_i,
    .edge_valid_o (edge_valid),
    .edge_act_o   (edge_act),
    .edge_swap_o  (edge_swap),
    .edge_pad_o   (edge_pad),
    .edge_add_o   (edge_add),
    .edge_acc_o   (edge_acc),
    .edge_useful_o(useful_o),
    .edge_end_o   (edge_end),
    .edge_retire_o(edge_retire),
    .read_valid_o (read_valid),
    .read_addr_o  (read_addr)
  );

  bm_matmul_array #(
    .ROWS (ROWS),
    .COLS (COLS),
    .TRACE(TRACE)
  ) u_array (
    .clk_i,
    .rst_ni,
    .act_i         (edge_act),
    .swap_i        (edge_swap),
    .weight_valid_i(weight_valid),
    .weight_row_i  (weight_row),
    .weight_i      (weight),
    .sum_o         (acc_data_o),
    .digest_o      (array_digest)
  );

  bm_matmul_commit #(
    .ROWS  (ROWS),
    .COLS  (COLS),
    .ACC_AW(ACC_AW)
  ) u_commit (
    .clk_i,
    .rst_ni,
    .halt_i,
    .row_i         (row),
    .edge_valid_i  (edge_valid),
    .edge_add_i    (edge_add),
    .edge_acc_i    (edge_acc),
    .edge_end_i    (edge_end),
    .edge_retire_i (edge_retire),
    .acc_pre_valid_o,
    .acc_pre_addr_o,
    .acc_valid_o,
    .acc_addr_o,
    .acc_add_o,
    .rows_o        (rows),
    .sig_o,
    .retire_valid_o(retire_valid),
    .retire_o      (retire)
  );

  assign no_tile = shadow_wait && !loader_busy && fifo_count_i == '0;
  assign waiting = wait_valid_o && !wait_grant_i;

  assign err_code_o = err_valid_o ? ErrLocalRange : ErrNone;
  assign err_seq_o = err_valid_o ? run_seq : '0;
  assign busy_o = run || rows || retire_valid;
  assign pending_o = rows;
  assign stuck_o = !rows && (waiting || no_tile);
  assign stuck_seq_o = run ? run_seq : seq_i;

  assign active_o = edge_valid;
  assign weight_shift_o = !edge_valid && shadow_wait && !no_tile;
  assign weight_stall_o = !edge_valid && no_tile;
  assign wait_o = !edge_valid && waiting;

  assign state_digest = sequencer_digest + 32'd15 * 32'(shadow_full) + 32'd17 * 32'(loader_busy)
      + 32'd19 * 32'(loader_row) + 32'd21 * 32'(fifo_count_i);
  assign trace_o = TRACE ? TRACE_W'({
    state_digest,
    array_digest,
    fifo_rvalid_o ? {1'b1, 19'd0, fifo_rtile_o, fifo_rrow_o} : 32'd0,
    edge_valid ? {1'b1, 16'd0, edge_pad, edge_swap, edge_add, 12'(edge_acc)} : 32'd0,
    read_valid ? sp_rdata_i : (8 * LANES)'(0),
    read_valid ? {1'b1, 11'd0, 20'(read_addr)} : 32'd0,
    retire_valid ? {1'b1, 6'd0, retire} : 32'd0,
    issue_event
  }) : '0;

endmodule
