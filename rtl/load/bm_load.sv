// SPDX-License-Identifier: Apache-2.0
//
// Load engine: rows of memory into the scratchpad or the parameter memory.
//
// instruction -> row -> bursts (AR) ... beats (R) -> words -> write requests. Rows of the next instruction are requested
// while those of the last are still received; words are written in the order of the rows.
// Latency: row in the row register in issue + 2, its AR in issue + 3; a word is requested the cycle after its
// last beat; signals are given the cycle after the last write (docs/timing.md, Load).
// Stalls: the AR channel, OUTSTANDING bursts, and scratchpad write grants (vector writes first).
// halt_i: words are dropped, beats taken and dropped. Reset: idle.

module bm_load
  import bm_pkg::*;
#(
  parameter int ROWS = 8,
  parameter int COLS = 8,
  parameter int SP_WORDS = 4096,
  parameter int MEM_BITS = 64,
  parameter int OUTSTANDING = 8,
  parameter int PARAM_ROWS = 32,
  localparam int LANES = ROWS > COLS ? ROWS : COLS,             // derived
  localparam int PARAM_WORDS = PARAM_ROWS * 8 * COLS / LANES,
  localparam int SP_AW = $clog2(SP_WORDS),
  localparam int PAR_AW = $clog2(PARAM_WORDS),
  parameter int TRACE_W = 32 * (4 + (LANES + 31) / 32 + LANES / 4),
  parameter bit TRACE = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // frontend
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
  // host
  input  logic [BASES*64-1:0] base_i,
  input  logic [BASES*64-1:0] size_i,
  // memory port
  output logic                ar_valid_o,
  output logic [        63:0] ar_addr_o,
  output logic [         7:0] ar_len_o,
  input  logic                ar_ready_i,
  input  logic                r_valid_i,
  input  logic [MEM_BITS-1:0] r_data_i,
  input  logic [         1:0] r_resp_i,
  input  logic                r_last_i,
  output logic                r_ready_o,
  // scratchpad
  output logic                sp_wvalid_o,
  output logic [   SP_AW-1:0] sp_waddr_o,
  output logic [   LANES-1:0] sp_wenable_o,
  output logic [ 8*LANES-1:0] sp_wdata_o,
  input  logic                sp_wgrant_i,
  // parameter memory, always granted
  output logic                par_wvalid_o,
  output logic [  PAR_AW-1:0] par_waddr_o,
  output logic [   LANES-1:0] par_wenable_o,
  output logic [ 8*LANES-1:0] par_wdata_o,

  output logic [ TRACE_W-1:0] trace_o
);

  // What goes with a row (bm_transfer_rows): {seq, iteration, signals, ends, last, space, local}.
  localparam int META_W = 58;
  localparam int LOCAL = 0, SPACE = 18, LAST = 20, ENDS = 21, SIGNALS = 22, SYNC = 34;

  logic [INSTR_W-1:0] transfer;  // the instruction without its space
  logic to_parameter, generated, row_ready, row_valid, run, starting, answered;
  logic [63:0] row_addr;
  logic [15:0] row_bytes;
  logic [META_W-1:0] row_meta, list_meta, word_meta;
  logic [7:0] outer;
  logic [11:0] row;
  logic [SEQ_W-1:0] seq;
  error_e row_err;
  logic [24:0] issue;
  logic [6:0] inflight, list_count;
  logic list_valid, list_zero, list_pop, burst_put, burst_last, open;
  logic [META_W-1:0] burst_meta;
  logic [19:0] list_bytes, open_bytes;
  logic word_valid, word_last, word_ready, word_to_parameter, written, bus_error;
  logic [8*LANES-1:0] word_data;
  logic [8:0] word_bytes;
  logic [15:0] word_index;
  logic [17:0] word_addr;
  logic [LANES-1:0] word_enable;
  logic [11:0] sig_q;
  logic retire_valid_q;
  logic [24:0] retire_q;  // {last, iteration, seq}

  assign transfer = {2'b00, instr_i[INSTR_W-1:48], instr_i[45:0]};
  assign to_parameter = instr_i[47:46] == SpaceParameter;

  bm_transfer_rows #(
    .MEM_BITS(MEM_BITS),
    .LANES(LANES),
    .META_W(META_W)
  ) u_rows (
    .clk_i,
    .rst_ni,
    .halt_i,
    .instr_valid_i,
    .instr_i(transfer),
    .seq_i,
    .space_i(instr_i[47:46]),
    .limit_i(to_parameter ? 19'(PARAM_WORDS) : 19'(SP_WORDS)),
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

  assign answered = r_valid_i && r_ready_o && r_last_i;

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
    .ax_valid_o(ar_valid_o),
    .ax_addr_o(ar_addr_o),
    .ax_len_o(ar_len_o),
    .ax_ready_i(ar_ready_i),
    .answered_i(answered),
    .inflight_o(inflight),
    .burst_put_o(burst_put),
    .burst_last_o(burst_last),
    .burst_meta_o(burst_meta),
    .open_o(open),
    .open_bytes_o(open_bytes),
    .list_valid_o(list_valid),
    .list_bytes_o(list_bytes),
    .list_zero_o(list_zero),
    .list_meta_o(list_meta),
    .list_pop_i(list_pop),
    .list_count_o(list_count)
  );

  bm_gearbox #(
    .MEM_BITS(MEM_BITS),
    .OB(LANES),
    .META_W(META_W)
  ) u_gearbox (
    .clk_i,
    .rst_ni,
    .flush_i(halt_i),
    .row_valid_i(list_valid),
    .row_bytes_i(list_bytes),
    .row_zero_i(list_zero),
    .row_meta_i(list_meta),
    .row_pop_o(list_pop),
    .beat_valid_i(r_valid_i),
    .beat_ready_o(r_ready_o),
    .beat_data_i(r_data_i),
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_data_o(word_data),
    .word_bytes_o(word_bytes),
    .word_last_o(word_last),
    .word_index_o(word_index),
    .word_meta_o(word_meta)
  );

  // The word register is the write request.
  assign word_to_parameter = word_meta[SPACE+:2] == SpaceParameter;
  assign word_ready = word_to_parameter || sp_wgrant_i;
  assign written = word_valid && word_ready && !halt_i;
  assign word_addr = word_meta[LOCAL+:18] + 18'(word_index);

  always_comb begin
    for (int i = 0; i < LANES; i++) word_enable[i] = 9'(i) < word_bytes;
  end

  assign sp_wvalid_o = word_valid && !word_to_parameter && !halt_i;
  assign sp_waddr_o = word_addr[SP_AW-1:0];
  assign sp_wenable_o = word_enable;
  assign sp_wdata_o = word_data;
  assign par_wvalid_o = word_valid && word_to_parameter && !halt_i;
  assign par_waddr_o = word_addr[PAR_AW-1:0];
  assign par_wenable_o = word_enable;
  assign par_wdata_o = word_data;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sig_q <= '0;
      retire_valid_q <= 1'b0;
      retire_q <= '0;
    end else if (written && word_last && word_meta[ENDS]) begin
      sig_q <= word_meta[SIGNALS+:12];
      retire_valid_q <= 1'b1;
      retire_q <= {word_meta[LAST], word_meta[SYNC+:8], word_meta[SYNC+8+:16]};
    end else begin
      sig_q <= '0;
      retire_valid_q <= 1'b0;
      retire_q <= '0;
    end
  end

  assign sig_o = sig_q;

  // A bus error belongs to an older instruction than a row that can't be generated.
  assign bus_error = r_valid_i && r_ready_o && !halt_i && r_resp_i != 2'd0;
  always_comb begin
    err_code_o = row_err;
    err_seq_o  = row_err == ErrNone ? '0 : seq;
    if (bus_error) begin
      err_code_o = r_resp_i == 2'd3 ? ErrBusDecerr : ErrBusSlverr;
      err_seq_o  = list_meta[SYNC+8+:16];
    end
  end

  assign err_valid_o = err_code_o != ErrNone;
  assign busy_o = run || row_valid || list_valid || inflight != '0 || word_valid || retire_valid_q;
  assign pending_o = inflight != '0;
  assign stuck_o = !wait_grant_i && ((instr_valid_i && !busy_o)
      || (starting && !row_valid && !list_valid && inflight == '0 && !word_valid));
  assign stuck_seq_o = run ? seq : seq_i;

  // What only store wants to know of its bursts.
  logic unused;
  assign unused = &{1'b0, burst_put, burst_last, burst_meta, open, open_bytes, word_addr};

  if (TRACE) begin : gen_trace
    localparam int ENABLE_W = 32 * ((LANES + 31) / 32);
    logic [31:0] issue_slot, retire_slot, write_slot, state;
    logic [ENABLE_W-1:0] enable;

    assign issue_slot = wait_grant_i ? {1'b1, 6'd0, issue} : '0;
    assign retire_slot = {retire_valid_q, 6'd0, retire_q};
    assign write_slot = written ? {1'b1, 9'd0, word_meta[SPACE+:2], 20'(word_addr)} : '0;
    assign enable = written ? ENABLE_W'(word_enable) : '0;
    assign state = 32'(run) + 32'd3 * 32'(outer) + 32'd5 * 32'(row) + 32'd7 * 32'(inflight) + 32'd9 * 32'(row_valid)
        + 32'd11 * 32'(list_count) + 32'd13 * 32'(word_valid);
    assign trace_o = {state, written ? word_data : '0, enable, write_slot, retire_slot, issue_slot};
  end else begin : gen_no_trace
    logic unused_trace;
    assign unused_trace = &{1'b0, issue, outer, row, list_count, retire_q};
    assign trace_o = '0;
  end

endmodule
