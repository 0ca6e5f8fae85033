// SPDX-License-Identifier: Apache-2.0
//
// Cuts memory rows into AXI bursts: a row register, a burst register (AR or AW), and the list of rows begun.
//
// A row enters while row_ready_o (the row register is empty, or its last burst leaves in this cycle). One burst
// per cycle leaves it into the burst register while that is free and fewer than OUTSTANDING bursts are
// unanswered; no burst crosses 4 KiB or has more than 256 beats. A row's first burst (a zero row: the row alone,
// which has no burst) needs room in the row list and puts the row's description there, visible the cycle after.
// halt_i: no burst and no row is begun; the burst register waits for its handshake. Reset: all empty.

module bm_row_bursts #(
  parameter int MEM_BITS = 64,     // bits of a beat: a power of two, 32 to 1024
  parameter int OUTSTANDING = 8,   // unanswered bursts, 1 to 64
  parameter int META_W = 1         // bits that go with a row, 1 and more
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              halt_i,
  // rows from the address generator
  input  logic              row_valid_i,
  input  logic [      63:0] row_addr_i,   // a multiple of the beat
  input  logic [      19:0] row_bytes_i,  // 1 to 65536 (a zero row: of its word)
  input  logic              row_zero_i,
  input  logic [META_W-1:0] row_meta_i,
  output logic              row_ready_o,
  output logic              row_valid_o,  // the row register is occupied
  // burst register: AR or AW channel
  output logic              ax_valid_o,
  output logic [      63:0] ax_addr_o,
  output logic [       7:0] ax_len_o,
  input  logic              ax_ready_i,
  input  logic              answered_i,   // a burst ends: RLAST or B handshake
  output logic [       6:0] inflight_o,
  // what enters the burst register at the end of this cycle
  output logic              burst_put_o,
  output logic              burst_last_o,  // of its row
  output logic [META_W-1:0] burst_meta_o,
  // the row in the row register has begun, and this many of its bytes (whole beats) are in bursts
  output logic              open_o,
  output logic [      19:0] open_bytes_o,
  // head of the row list
  output logic              list_valid_o,
  output logic [      19:0] list_bytes_o,
  output logic              list_zero_o,
  output logic [META_W-1:0] list_meta_o,
  input  logic              list_pop_i,
  output logic [       6:0] list_count_o
);

  localparam int MB = MEM_BITS / 8;
  localparam int MB_LOG = $clog2(MB);
  localparam int DEPTH = OUTSTANDING + 1;
  localparam int COUNT_W = $clog2(DEPTH + 1);

  logic row_valid_q, row_zero_q, begun_q, ax_valid_q;
  logic [63:0] addr_q, ax_addr_q;
  logic [19:0] bytes_q, left_q, begun_bytes_q;  // left_q counts beats
  logic [META_W-1:0] meta_q;
  logic [7:0] ax_len_q;
  logic [6:0] inflight_q;

  logic list_room, put, row_leaves;
  logic [19:0] boundary, beats;
  logic [COUNT_W-1:0] list_count;

  assign list_room = list_count != COUNT_W'(DEPTH);
  assign boundary = (20'd4096 - 20'(addr_q[11:0])) >> MB_LOG;

  always_comb begin
    beats = left_q;
    if (beats > boundary) beats = boundary;
    if (beats > 20'd256) beats = 20'd256;
  end

  assign put = row_valid_q && !halt_i && !row_zero_q && (!ax_valid_q || ax_ready_i)
      && inflight_q < 7'(OUTSTANDING) && (begun_q || list_room);
  assign row_leaves = row_valid_q && !halt_i && (row_zero_q ? list_room : put && beats == left_q);
  assign row_ready_o = !halt_i && (!row_valid_q || row_leaves);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_valid_q <= 1'b0;
      row_zero_q <= 1'b0;
      begun_q <= 1'b0;
      addr_q <= '0;
      bytes_q <= '0;
      left_q <= '0;
      begun_bytes_q <= '0;
      meta_q <= '0;
      ax_valid_q <= 1'b0;
      ax_addr_q <= '0;
      ax_len_q <= '0;
      inflight_q <= '0;
    end else begin
      if (put) begin
        ax_valid_q <= 1'b1;
        ax_addr_q <= addr_q;
        ax_len_q <= 8'(beats - 20'd1);
        addr_q <= addr_q + (64'(beats) << MB_LOG);
        left_q <= left_q - beats;
        begun_q <= 1'b1;
        begun_bytes_q <= begun_bytes_q + (beats << MB_LOG);
      end else if (ax_ready_i) begin
        ax_valid_q <= 1'b0;
      end
      if (row_valid_i && row_ready_o) begin
        row_valid_q <= 1'b1;
        row_zero_q <= row_zero_i;
        begun_q <= 1'b0;
        addr_q <= row_addr_i;
        bytes_q <= row_bytes_i;
        left_q <= (row_bytes_i + 20'(MB - 1)) >> MB_LOG;
        begun_bytes_q <= '0;
        meta_q <= row_meta_i;
      end else if (row_leaves) begin
        row_valid_q <= 1'b0;
      end
      inflight_q <= inflight_q + 7'(put) - 7'(answered_i);
    end
  end

  bm_fifo #(
    .WIDTH(21 + META_W),
    .DEPTH(DEPTH)
  ) u_rows (
    .clk_i,
    .rst_ni,
    .push_i (put ? !begun_q : row_leaves),
    .data_i ({meta_q, row_zero_q, bytes_q}),
    .valid_o(list_valid_o),
    .data_o ({list_meta_o, list_zero_o, list_bytes_o}),
    .pop_i  (list_pop_i),
    .count_o(list_count)
  );

  assign row_valid_o = row_valid_q;
  assign ax_valid_o = ax_valid_q;
  assign ax_addr_o = ax_addr_q;
  assign ax_len_o = ax_len_q;
  assign inflight_o = inflight_q;
  assign burst_put_o = put;
  assign burst_last_o = beats == left_q;
  assign burst_meta_o = meta_q;
  assign open_o = row_valid_q && begun_q;
  assign open_bytes_o = begun_bytes_q;
  assign list_count_o = 7'(list_count);

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // an answer has a burst; rows are aligned, not empty, and short enough for the count of their beats
      assert (!answered_i || inflight_q != '0);
      assert (!row_valid_i || row_zero_i || row_addr_i[MB_LOG-1:0] == '0);
      assert (!row_valid_i || (row_bytes_i != '0 && row_bytes_i <= 20'd65536));
    end
  end

endmodule
