// SPDX-License-Identifier: Apache-2.0
//
// Weights engine: tiles from memory or from the scratchpad into the weight FIFO.
//
// instruction -> row -> bursts (AR) ... beats (R) -> FIFO rows, or row -> scratchpad read -> FIFO row.
// Latency: as load; a FIFO row is written the cycle after its last beat, or the cycle after its read's grant;
// signals are given the cycle after the last write (docs/timing.md, Weights).
// Stalls: the AR channel, OUTSTANDING bursts, scratchpad read grants, free slots of the FIFO; writes never stall.
// halt_i: rows still to come are dropped. Reset: idle, all slots free. TRACE_W is 32 * (5 + LANES/4 + COLS/4).

module bm_weights
  import bm_pkg::*;
#(
  parameter int ROWS        = 8,
  parameter int COLS        = 8,
  parameter int SP_WORDS    = 4096,
  parameter int MEM_BITS    = 64,
  parameter int OUTSTANDING = 8,
  parameter int FIFO_TILES  = 4,
  localparam int LANES      = (ROWS > COLS) ? ROWS : COLS,  // derived
  localparam int SP_AW      = $clog2(SP_WORDS),
  parameter int TRACE_W     = 32 * (5 + LANES / 4 + COLS / 4),
  parameter bit TRACE       = 1'b1
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
  output logic                sp_req_valid_o,
  output logic [   SP_AW-1:0] sp_req_addr_o,
  input  logic                sp_grant_i,
  input  logic [ 8*LANES-1:0] sp_rdata_i,
  // weight FIFO
  output logic                fifo_wvalid_o,
  output logic [         3:0] fifo_wtile_o,
  output logic [         7:0] fifo_wrow_o,
  output logic [  8*COLS-1:0] fifo_wdata_o,
  output logic                fifo_tile_done_o,
  input  logic [         4:0] fifo_count_i,    // for the trace
  input  logic                fifo_release_i,

  output logic [ TRACE_W-1:0] trace_o
);

  localparam int META_W = 38;  // {ends, sig, last, iteration, seq}
  localparam int PART_W = $clog2(LANES / COLS);

  logic run, wants_wait, wants_slot, slot_free, reserve, mem_row, sp_row, zero, ends;
  logic [63:0] addr;
  logic [43:0] operand;
  logic [19:0] bytes;
  logic [36:0] retire;
  logic [SEQ_W-1:0] seq;
  error_e row_err;
  logic [31:0] issue_event, rows_digest;

  logic mem_ready, row_valid, list_valid, list_zero, list_pop, answered, mem_quiet, bus_error;
  logic burst_put, burst_last, open;
  logic [6:0] inflight, list_count;
  logic [19:0] list_bytes, open_bytes;
  logic [META_W-1:0] list_meta, burst_meta, word_meta, arrive_meta, write_meta;
  logic word_valid, word_last;
  logic [8*COLS-1:0] word_data, arrive_data;
  logic [8:0] word_bytes;
  logic [15:0] word_index;

  logic sp_ready, request, arrive, read;
  logic [SP_AW-1:0] read_word;

  logic [4:0] reserved_q;
  logic [3:0] tile_q;
  logic [7:0] row_q;
  logic last_row, retires, idle, retire_valid_q;
  logic [11:0] sig_q;
  logic [24:0] retire_q;

  bm_weights_rows #(
    .ROWS    (ROWS),
    .COLS    (COLS),
    .SP_WORDS(SP_WORDS),
    .MEM_BITS(MEM_BITS)
  ) u_rows (
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
    .base_i,
    .size_i,
    .slot_free_i (slot_free),
    .mem_ready_i (mem_ready),
    .mem_empty_i (!row_valid),
    .mem_quiet_i (mem_quiet),
    .sp_ready_i  (sp_ready),
    .sp_empty_i  (!request),
    .sp_quiet_i  (!request && !arrive),
    .mem_valid_o (mem_row),
    .sp_valid_o  (sp_row),
    .reserve_o   (reserve),
    .addr_o      (addr),
    .operand_o   (operand),
    .bytes_o     (bytes),
    .zero_o      (zero),
    .ends_o      (ends),
    .retire_o    (retire),
    .run_o       (run),
    .seq_o       (seq),
    .wants_wait_o(wants_wait),
    .wants_slot_o(wants_slot),
    .err_o       (row_err),
    .issue_o     (issue_event),
    .digest_o    (rows_digest)
  );

  assign answered = r_valid_i && r_ready_o && r_last_i;
  assign mem_quiet = !row_valid && !list_valid && !word_valid;

  bm_row_bursts #(
    .MEM_BITS   (MEM_BITS),
    .OUTSTANDING(OUTSTANDING),
    .META_W     (META_W)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .halt_i,
    .row_valid_i (mem_row),
    .row_addr_i  (addr),
    .row_bytes_i (bytes),
    .row_zero_i  (zero),
    .row_meta_i  ({ends, retire}),
    .row_ready_o (mem_ready),
    .row_valid_o (row_valid),
    .ax_valid_o  (ar_valid_o),
    .ax_addr_o   (ar_addr_o),
    .ax_len_o    (ar_len_o),
    .ax_ready_i  (ar_ready_i),
    .answered_i  (answered),
    .inflight_o  (inflight),
    .burst_put_o (burst_put),
    .burst_last_o(burst_last),
    .burst_meta_o(burst_meta),
    .open_o      (open),
    .open_bytes_o(open_bytes),
    .list_valid_o(list_valid),
    .list_bytes_o(list_bytes),
    .list_zero_o (list_zero),
    .list_meta_o (list_meta),
    .list_pop_i  (list_pop),
    .list_count_o(list_count)
  );

  bm_gearbox #(
    .MEM_BITS(MEM_BITS),
    .OB      (COLS),
    .META_W  (META_W)
  ) u_gearbox (
    .clk_i,
    .rst_ni,
    .flush_i     (halt_i),
    .row_valid_i (list_valid),
    .row_bytes_i (list_bytes),
    .row_zero_i  (list_zero),
    .row_meta_i  (list_meta),
    .row_pop_o   (list_pop),
    .beat_valid_i(r_valid_i),
    .beat_ready_o(r_ready_o),
    .beat_data_i (r_data_i),
    .word_valid_o(word_valid),
    .word_ready_i(1'b1),
    .word_data_o (word_data),
    .word_bytes_o(word_bytes),
    .word_last_o (word_last),
    .word_index_o(word_index),
    .word_meta_o (word_meta)
  );

  bm_weights_reader #(
    .COLS  (COLS),
    .LANES (LANES),
    .SP_AW (SP_AW),
    .META_W(META_W)
  ) u_reader (
    .clk_i,
    .rst_ni,
    .row_valid_i(sp_row),
    .row_word_i (SP_AW'(operand >> PART_W)),
    .row_part_i (operand[2:0] & ~(3'b111 << PART_W)),
    .row_bytes_i(bytes[8:0]),
    .row_zero_i (zero),
    .row_meta_i ({ends, retire}),
    .ready_o    (sp_ready),
    .request_o  (request),
    .sp_req_valid_o,
    .sp_req_addr_o,
    .sp_grant_i,
    .sp_rdata_i,
    .arrive_o   (arrive),
    .read_o     (read),
    .word_o     (read_word),
    .data_o     (arrive_data),
    .meta_o     (arrive_meta)
  );

  // The two sources never write in one cycle: an instruction starts only when the other's rows are all written.
  assign fifo_wvalid_o = (word_valid || arrive) && !halt_i;
  assign fifo_wtile_o = tile_q;
  assign fifo_wrow_o = row_q;
  assign fifo_wdata_o = arrive ? arrive_data : word_data;
  assign last_row = row_q == 8'(ROWS - 1);
  assign fifo_tile_done_o = fifo_wvalid_o && last_row;
  assign write_meta = arrive ? arrive_meta : word_meta;
  assign retires = fifo_wvalid_o && write_meta[META_W-1] && (arrive || word_last);
  assign slot_free = reserved_q < 5'(FIFO_TILES);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reserved_q     <= '0;
      tile_q         <= '0;
      row_q          <= '0;
      sig_q          <= '0;
      retire_valid_q <= 1'b0;
      retire_q       <= '0;
    end else begin
      reserved_q <= reserved_q + 5'(reserve) - 5'(fifo_release_i);
      if (fifo_wvalid_o) row_q <= last_row ? '0 : row_q + 8'd1;
      if (fifo_tile_done_o) tile_q <= tile_q == 4'(FIFO_TILES - 1) ? '0 : tile_q + 4'd1;
      sig_q          <= retires ? write_meta[36:25] : '0;
      retire_valid_q <= retires;
      retire_q       <= retires ? write_meta[24:0] : '0;
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
      err_seq_o  = list_meta[15:0];
    end
  end

  assign err_valid_o = err_code_o != ErrNone;
  assign idle = mem_quiet && inflight == '0 && !request && !arrive;
  assign busy_o = run || !idle || retire_valid_q;
  assign pending_o = inflight != '0;
  // A full FIFO only holds up for good if no tile of it is on its way into the array.
  assign stuck_o = idle && (run ? (wants_slot ? fifo_count_i == 5'(FIFO_TILES) : wants_wait && !wait_grant_i)
      : instr_valid_i && !wait_grant_i && !retire_valid_q);
  assign stuck_seq_o = run ? seq : seq_i;

  // What only store and load want to know.
  logic unused;
  assign unused = &{1'b0, burst_put, burst_last, burst_meta, open, open_bytes, word_bytes, word_index, operand};

  logic [31:0] state_digest;
  assign state_digest = rows_digest + 32'd9 * 32'(reserved_q) + 32'd11 * 32'(fifo_count_i) + 32'd13 * 32'(inflight)
      + 32'd15 * 32'(row_valid) + 32'd17 * 32'(list_count) + 32'd19 * 32'(word_valid) + 32'd21 * 32'(request);
  assign trace_o = TRACE ? TRACE_W'({
    state_digest,
    fifo_wvalid_o ? fifo_wdata_o : (8 * COLS)'(0),
    fifo_wvalid_o ? {1'b1, 19'd0, tile_q, row_q} : 32'd0,
    read ? sp_rdata_i : (8 * LANES)'(0),
    read ? {1'b1, 11'd0, 20'(read_word)} : 32'd0,
    retire_valid_q ? {1'b1, 6'd0, retire_q} : 32'd0,
    issue_event
  }) : '0;

endmodule
