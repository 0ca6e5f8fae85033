// SPDX-License-Identifier: Apache-2.0
//
// Store engine: scratchpad words to rows of memory.
//
// instruction -> row -> bursts (AW), and from the list of rows begun: words read -> buffer -> beats (W) ... B.
// Latency: row in the row register in issue + 2, its AW and its row list entry in issue + 3; signals are given the
// cycle after the last B of the iteration or instruction (docs/timing.md, Store).
// Stalls: AW and W channels, OUTSTANDING bursts, scratchpad read grants (store comes last).
// halt_i: no row or burst is begun; W beats of bursts in the AW register or beyond are finished. Reset: idle.

module bm_store
  import bm_pkg::*;
#(
  parameter int ROWS = 8,
  parameter int COLS = 8,
  parameter int SP_WORDS = 4096,
  parameter int MEM_BITS = 64,
  parameter int OUTSTANDING = 8,
  localparam int LANES = ROWS > COLS ? ROWS : COLS,  // derived
  localparam int SP_AW = $clog2(SP_WORDS),
  parameter int TRACE_W = 32 * (4 + LANES / 4),
  parameter bit TRACE = 1'b1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // frontend
  input  logic                  halt_i,
  input  logic                  instr_valid_i,
  input  logic [   INSTR_W-1:0] instr_i,
  input  logic [     SEQ_W-1:0] seq_i,
  output logic                  wait_valid_o,
  output logic                  wait_issue_o,
  output logic [          17:0] wait_sync_o,
  input  logic                  wait_grant_i,
  output logic [          11:0] sig_o,
  output logic                  err_valid_o,
  output logic [           7:0] err_code_o,
  output logic [     SEQ_W-1:0] err_seq_o,
  output logic                  busy_o,
  output logic                  pending_o,
  output logic                  stuck_o,
  output logic [     SEQ_W-1:0] stuck_seq_o,
  // host
  input  logic [  BASES*64-1:0] base_i,
  input  logic [  BASES*64-1:0] size_i,
  // scratchpad
  output logic                  sp_req_valid_o,
  output logic [     SP_AW-1:0] sp_req_addr_o,
  input  logic                  sp_grant_i,
  input  logic [   8*LANES-1:0] sp_rdata_i,
  // memory port
  output logic                  aw_valid_o,
  output logic [          63:0] aw_addr_o,
  output logic [           7:0] aw_len_o,
  input  logic                  aw_ready_i,
  output logic                  w_valid_o,
  output logic [  MEM_BITS-1:0] w_data_o,
  output logic [MEM_BITS/8-1:0] w_strb_o,
  output logic                  w_last_o,
  input  logic                  w_ready_i,
  input  logic                  b_valid_i,
  input  logic [           1:0] b_resp_i,

  output logic [   TRACE_W-1:0] trace_o
);

  // What goes with a row (bm_transfer_rows): {seq, iteration, signals, ends, last, space, local}.
  localparam int META_W = 58;
  localparam int LOCAL = 0, LAST = 20, ENDS = 21, SIGNALS = 22, SYNC = 34;
  // What goes with a burst: the same without space and local, `ends` only in the row's last burst.
  localparam int BURST_W = 38;
  localparam logic [1:0] SCRATCHPAD = SpaceScratchpad;

  logic generated, row_ready, row_valid, run, starting;
  logic [63:0] row_addr;
  logic [15:0] row_bytes;
  logic [META_W-1:0] row_meta, list_meta, put_meta;
  logic [7:0] outer;
  logic [11:0] row;
  logic [SEQ_W-1:0] seq;
  error_e row_err;
  logic [24:0] issue;
  logic [6:0] inflight, list_count;
  logic list_valid, list_zero, list_pop, put, put_last, open;
  logic [19:0] list_bytes, open_bytes;
  logic word_valid, word_last, word_pop, arrives;
  logic [8*LANES-1:0] word_data;
  logic [8:0] word_bytes;
  logic [2:0] word_count;
  logic [SP_AW-1:0] arrives_addr;
  logic out_valid, out_pop, answer_valid;
  logic [7:0] out_len;
  logic [$clog2(OUTSTANDING+1)-1:0] out_count, answer_count;
  logic [BURST_W-1:0] answer;  // burst that the next B belongs to
  logic [11:0] sig_q;
  logic retire_valid_q, bus_error;
  logic [24:0] retire_q;  // {last, iteration, seq}

  bm_transfer_rows #(
    .MEM_BITS(MEM_BITS),
    .LANES(LANES),
    .META_W(META_W)
  ) u_rows (
    .clk_i,
    .rst_ni,
    .halt_i,
    .instr_valid_i,
    .instr_i,
    .seq_i,
    .space_i(SCRATCHPAD),
    .limit_i(19'(SP_WORDS)),
    .wait_valid_o,
    .wait_issue_o,
    .wait_sync_o,
    .wait_grant_i,
    .base_i,
    .size_i,
    .row_valid_o(generated),
    .row_addr_o(row_addr),
    .row_bytes_o(row_bytes),
    .row_meta_o(row_meta),
    .row_ready_i(row_ready),
    .row_empty_i(!row_valid),
    .run_o(run),
    .outer_o(outer),
    .row_o(row),
    .starting_o(starting),
    .seq_o(seq),
    .err_o(row_err),
    .issue_o(issue)
  );

  bm_row_bursts #(
    .MEM_BITS(MEM_BITS),
    .OUTSTANDING(OUTSTANDING),
    .META_W(META_W)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .halt_i,
    .row_valid_i(generated),
    .row_addr_i(row_addr),
    .row_bytes_i(20'(row_bytes)),
    .row_zero_i(1'b0),
    .row_meta_i(row_meta),
    .row_ready_o(row_ready),
    .row_valid_o(row_valid),
    .ax_valid_o(aw_valid_o),
    .ax_addr_o(aw_addr_o),
    .ax_len_o(aw_len_o),
    .ax_ready_i(aw_ready_i),
    .answered_i(b_valid_i),
    .inflight_o(inflight),
    .burst_put_o(put),
    .burst_last_o(put_last),
    .burst_meta_o(put_meta),
    .open_o(open),
    .open_bytes_o(open_bytes),
    .list_valid_o(list_valid),
    .list_bytes_o(list_bytes),
    .list_zero_o(list_zero),
    .list_meta_o(list_meta),
    .list_pop_i(list_pop),
    .list_count_o(list_count)
  );

  // The row in the row register is the last of the list once it has begun.
  bm_store_reader #(
    .LANES(LANES),
    .SP_AW(SP_AW)
  ) u_reader (
    .clk_i,
    .rst_ni,
    .halt_i,
    .row_valid_i(list_valid),
    .row_bytes_i(list_bytes),
    .row_local_i(list_meta[LOCAL+:18]),
    .row_pop_o(list_pop),
    .row_partial_i(open && list_count == 7'd1),
    .row_begun_i(open_bytes),
    .sp_req_valid_o,
    .sp_req_addr_o,
    .sp_grant_i,
    .sp_rdata_i,
    .arrives_o(arrives),
    .arrives_addr_o(arrives_addr),
    .word_valid_o(word_valid),
    .word_data_o(word_data),
    .word_bytes_o(word_bytes),
    .word_last_o(word_last),
    .word_pop_i(word_pop),
    .word_count_o(word_count)
  );

  // Bursts whose AW had its handshake: they may have W beats from the next cycle on.
  bm_fifo #(
    .WIDTH(8),
    .DEPTH(OUTSTANDING)
  ) u_out (
    .clk_i,
    .rst_ni,
    .push_i (aw_valid_o && aw_ready_i),
    .data_i (aw_len_o),
    .valid_o(out_valid),
    .data_o (out_len),
    .pop_i  (out_pop),
    .count_o(out_count)
  );

  bm_store_beats #(
    .MEM_BITS(MEM_BITS),
    .LANES(LANES)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .word_valid_i(word_valid),
    .word_data_i(word_data),
    .word_bytes_i(word_bytes),
    .word_last_i(word_last),
    .word_pop_o(word_pop),
    .burst_valid_i(out_valid),
    .burst_len_i(out_len),
    .burst_pop_o(out_pop),
    .w_valid_o,
    .w_data_o,
    .w_strb_o,
    .w_last_o,
    .w_ready_i
  );

  // Bursts without their answer, oldest first.
  bm_fifo #(
    .WIDTH(BURST_W),
    .DEPTH(OUTSTANDING)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .push_i (put),
    .data_i ({put_meta[META_W-1:ENDS+1], put_meta[ENDS] && put_last, put_meta[LAST]}),
    .valid_o(answer_valid),
    .data_o (answer),
    .pop_i  (b_valid_i),
    .count_o(answer_count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sig_q <= '0;
      retire_valid_q <= 1'b0;
      retire_q <= '0;
    end else if (b_valid_i && !halt_i && answer[ENDS-LAST]) begin
      sig_q <= answer[SIGNALS-LAST+:12];
      retire_valid_q <= 1'b1;
      retire_q <= {answer[0], answer[SYNC-LAST+:8], answer[SYNC-LAST+8+:16]};
    end else begin
      sig_q <= '0;
      retire_valid_q <= 1'b0;
      retire_q <= '0;
    end
  end

  assign sig_o = sig_q;

  // A bus error belongs to an older instruction than a row that can't be generated.
  assign bus_error = b_valid_i && !halt_i && b_resp_i != 2'd0;
  always_comb begin
    err_code_o = row_err;
    err_seq_o  = row_err == ErrNone ? '0 : seq;
    if (bus_error) begin
      err_code_o = b_resp_i == 2'd3 ? ErrBusDecerr : ErrBusSlverr;
      err_seq_o  = answer[SYNC-LAST+8+:16];
    end
  end

  assign err_valid_o = err_code_o != ErrNone;
  assign busy_o = run || row_valid || list_valid || inflight != '0 || retire_valid_q;
  assign pending_o = inflight != '0;
  assign stuck_o = !wait_grant_i && ((instr_valid_i && !busy_o)
      || (starting && !row_valid && !list_valid && inflight == '0));
  assign stuck_seq_o = run ? seq : seq_i;

  // Store has no zero rows, and a row's space is known.
  logic unused;
  assign unused = &{1'b0, list_zero, list_meta[META_W-1:18], put_meta[19:0], answer_valid, out_count, answer_count};

  if (TRACE) begin : gen_trace
    logic [31:0] issue_slot, retire_slot, read_slot, state;

    assign issue_slot = wait_grant_i ? {1'b1, 6'd0, issue} : '0;
    assign retire_slot = {retire_valid_q, 6'd0, retire_q};
    assign read_slot = arrives ? {1'b1, 11'd0, 20'(arrives_addr)} : '0;
    assign state = 32'(run) + 32'd3 * 32'(outer) + 32'd5 * 32'(row) + 32'd7 * 32'(inflight) + 32'd9 * 32'(row_valid)
        + 32'd11 * 32'(list_count) + 32'd13 * 32'(word_count) + 32'd15 * 32'(w_valid_o);
    assign trace_o = {state, arrives ? sp_rdata_i : '0, read_slot, retire_slot, issue_slot};
  end else begin : gen_no_trace
    logic unused_trace;
    assign unused_trace = &{1'b0, issue, outer, row, word_count, arrives, arrives_addr, retire_q};
    assign trace_o = '0;
  end

  always @(posedge clk_i) begin
    if (rst_ni) assert (!b_valid_i || answer_valid);  // no B without a burst
  end

endmodule
