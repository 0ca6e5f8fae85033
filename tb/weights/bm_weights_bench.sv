// SPDX-License-Identifier: Apache-2.0
//
// Bench top: the weights engine and the weight FIFO; frontend, memory, scratchpad and matmul are the bench.

module bm_weights_bench
  import bm_pkg::*;
#(
  parameter int ROWS        = 8,
  parameter int COLS        = 8,
  parameter int SP_WORDS    = 4096,
  parameter int MEM_BITS    = 64,
  parameter int OUTSTANDING = 8,
  parameter int FIFO_TILES  = 4,
  localparam int LANES      = (ROWS > COLS) ? ROWS : COLS,
  localparam int SP_AW      = $clog2(SP_WORDS),
  localparam int TRACE_W    = 32 * (5 + LANES / 4 + COLS / 4)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                halt_i,
  input  logic                instr_valid_i,
  input  logic [ INSTR_W-1:0] instr_i,
  input  logic [   SEQ_W-1:0] seq_i,
  output logic                wait_valid_o,
  output logic                wait_issue_o,
  output logic [        17:0] wait_sync_o,
  input  logic                wait_grant_i,
  output logic [        11:0] sig_o,
  output logic                err_valid_o,
  output logic [         7:0] err_code_o,
  output logic [   SEQ_W-1:0] err_seq_o,
  output logic                busy_o,
  output logic                pending_o,
  output logic                stuck_o,
  output logic [   SEQ_W-1:0] stuck_seq_o,
  input  logic [BASES*64-1:0] base_i,
  input  logic [BASES*64-1:0] size_i,
  output logic                ar_valid_o,
  output logic [        63:0] ar_addr_o,
  output logic [         7:0] ar_len_o,
  input  logic                ar_ready_i,
  input  logic                r_valid_i,
  input  logic [MEM_BITS-1:0] r_data_i,
  input  logic [         1:0] r_resp_i,
  input  logic                r_last_i,
  output logic                r_ready_o,
  output logic                sp_req_valid_o,
  output logic [   SP_AW-1:0] sp_req_addr_o,
  input  logic                sp_grant_i,
  input  logic [ 8*LANES-1:0] sp_rdata_i,
  input  logic                fifo_rvalid_i,
  input  logic [         3:0] fifo_rtile_i,
  input  logic [         7:0] fifo_rrow_i,
  output logic [  8*COLS-1:0] fifo_rdata_o,
  input  logic                fifo_release_i,
  output logic [         4:0] fifo_count_o,
  output logic [ TRACE_W-1:0] trace_o
);

  logic fifo_wvalid, fifo_tile_done;
  logic [3:0] fifo_wtile;
  logic [7:0] fifo_wrow;
  logic [8*COLS-1:0] fifo_wdata;

  bm_weights #(
    .ROWS       (ROWS),
    .COLS       (COLS),
    .SP_WORDS   (SP_WORDS),
    .MEM_BITS   (MEM_BITS),
    .OUTSTANDING(OUTSTANDING),
    .FIFO_TILES (FIFO_TILES)
  ) u_weights (
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
    .sig_o,
    .err_valid_o,
    .err_code_o,
    .err_seq_o,
    .busy_o,
    .pending_o,
    .stuck_o,
    .stuck_seq_o,
    .base_i,
    .size_i,
    .ar_valid_o,
    .ar_addr_o,
    .ar_len_o,
    .ar_ready_i,
    .r_valid_i,
    .r_data_i,
    .r_resp_i,
    .r_last_i,
    .r_ready_o,
    .sp_req_valid_o,
    .sp_req_addr_o,
    .sp_grant_i,
    .sp_rdata_i,
    .fifo_wvalid_o   (fifo_wvalid),
    .fifo_wtile_o    (fifo_wtile),
    .fifo_wrow_o     (fifo_wrow),
    .fifo_wdata_o    (fifo_wdata),
    .fifo_tile_done_o(fifo_tile_done),
    .fifo_count_i    (fifo_count_o),
    .fifo_release_i,
    .trace_o
  );

  bm_weight_fifo #(
    .ROWS      (ROWS),
    .COLS      (COLS),
    .FIFO_TILES(FIFO_TILES)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .wvalid_i   (fifo_wvalid),
    .wtile_i    (fifo_wtile),
    .wrow_i     (fifo_wrow),
    .wdata_i    (fifo_wdata),
    .tile_done_i(fifo_tile_done),
    .rvalid_i   (fifo_rvalid_i),
    .rtile_i    (fifo_rtile_i),
    .rrow_i     (fifo_rrow_i),
    .rdata_o    (fifo_rdata_o),
    .release_i  (fifo_release_i),
    .count_o    (fifo_count_o)
  );

endmodule
