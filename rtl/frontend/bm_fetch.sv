// SPDX-License-Identifier: Apache-2.0
//
// Reads the program in chunks that end at multiples of 256 bytes and hands it on in entries of 32 bytes.
//
// Streams: read bursts out, beats in (through a gearbox); entries out, for which the receiver always has room, because
//          a chunk is requested only when the 16-entry buffer will hold all of it.
// Latency: first request register set at the end of the first cycle with run_i; docs/timing.md, Frontend.
// Stalls:  none of the receiver; pop_i tells that an entry has left the buffer.
// Halt:    nothing new is requested, beats are taken and dropped, no entry is given any more.
// Errors:  a program that is empty or unaligned; a beat with an error response (the entry number it belongs to).

module bm_fetch
  import bm_pkg::*;
#(
    parameter int MEM_BITS = 64  // 32..1024, power of two
) (
    input logic clk_i,
    input logic rst_ni,

    // From host
    input logic        run_i,
    input logic        halt_i,
    input logic [63:0] prog_addr_i,
    input logic [31:0] prog_len_i,

    // Memory port
    output logic                ar_valid_o,
    output logic [        63:0] ar_addr_o,
    output logic [         7:0] ar_len_o,
    input  logic                ar_ready_i,
    input  logic                r_valid_i,
    input  logic [MEM_BITS-1:0] r_data_i,
    input  logic [         1:0] r_resp_i,
    input  logic                r_last_i,
    output logic                r_ready_o,

    // To decode
    output logic         entry_valid_o,
    output logic [255:0] entry_o,
    output logic [ 15:0] entry_seq_o,    // of the instruction; 65535 is the header
    input  logic         pop_i,

    // To monitor
    output logic        pending_o,
    output logic        program_error_o,
    output logic        bus_error_o,
    output logic        bus_decode_o,    // DECERR, not SLVERR
    output logic [15:0] bus_seq_o
);

  localparam int MB = MEM_BITS / 8;
  localparam int ALIGN = (MB > 32) ? MB : 32;
  localparam int ENTRIES = 16;  // of the buffer in bm_decode
  localparam int CHUNKS = 4;    // more than can be open: the first, one of 8 entries, the last

  logic [32:0] next_q, next_d;  // entry that the next chunk starts with
  logic [4:0] reserved_q, reserved_d;  // entries in the buffer or on their way
  logic [2:0] inflight_q, inflight_d;  // bursts without their last beat
  logic ar_valid_q, ar_valid_d;
  logic [63:0] ar_addr_q, ar_addr_d;
  logic [7:0] ar_len_q, ar_len_d;
  logic [15:0] entry_seq_q, entry_seq_d;

  logic [63:0] address;
  logic [32:0] left;
  logic [3:0] to_boundary, entries;
  logic put, beat, beat_ready, row_valid, row_pop, word_valid;
  logic [8:0] row_bytes;

  always_comb begin
    address = prog_addr_i + {26'd0, next_q, 5'd0};
    left = {1'b0, prog_len_i} + 33'd1 - next_q;
    to_boundary = 4'd8 - {1'b0, address[7:5]};
    entries = (left < 33'(to_boundary)) ? left[3:0] : to_boundary;
    program_error_o = run_i && !halt_i && (prog_len_i == '0 || (prog_addr_i & 64'(ALIGN - 1)) != '0);
    put = run_i && !halt_i && !program_error_o && left != '0 && (!ar_valid_q || ar_ready_i)
        && 5'(ENTRIES) - reserved_q >= 5'(entries);
    beat = r_valid_i && r_ready_o;

    next_d = next_q + (put ? 33'(entries) : 33'd0);
    reserved_d = reserved_q + (put ? 5'(entries) : 5'd0) - 5'(pop_i);
    inflight_d = inflight_q + 3'(put) - 3'(beat && r_last_i);
    ar_valid_d = put || (ar_valid_q && !ar_ready_i);
    ar_addr_d = put ? address : ar_addr_q;
    ar_len_d = put ? 8'((32'(entries) * 32 + MB - 1) / MB - 1) : ar_len_q;
    entry_seq_d = entry_seq_q + 16'(entry_valid_o);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_q      <= '0;
      reserved_q  <= '0;
      inflight_q  <= '0;
      ar_valid_q  <= 1'b0;
      ar_addr_q   <= '0;
      ar_len_q    <= '0;
      entry_seq_q <= '1;
    end else begin
      next_q      <= next_d;
      reserved_q  <= reserved_d;
      inflight_q  <= inflight_d;
      ar_valid_q  <= ar_valid_d;
      ar_addr_q   <= ar_addr_d;
      ar_len_q    <= ar_len_d;
      entry_seq_q <= entry_seq_d;
    end
  end

  assign ar_valid_o = ar_valid_q;
  assign ar_addr_o = ar_addr_q;
  assign ar_len_o = ar_len_q;
  assign r_ready_o = beat_ready || halt_i;
  assign entry_valid_o = word_valid && !halt_i;
  assign entry_seq_o = entry_seq_q;
  assign pending_o = inflight_q != '0;
  assign bus_error_o = beat && !halt_i && r_resp_i != 2'd0;
  assign bus_decode_o = r_resp_i == 2'd3;

  // Shared parts show more than is needed here.
  // verilator lint_off PINCONNECTEMPTY

  // Chunks in the order of their requests: rows for the gearbox.
  bm_fifo #(
      .WIDTH(9),
      .DEPTH(CHUNKS)
  ) i_chunks (
      .clk_i,
      .rst_ni,
      .push_i (put),
      .data_i ({entries, 5'd0}),
      .valid_o(row_valid),
      .data_o (row_bytes),
      .pop_i  (row_pop),
      .count_o()
  );

  bm_gearbox #(
      .MEM_BITS(MEM_BITS),
      .OB      (32),
      .META_W  (1)
  ) i_gearbox (
      .clk_i,
      .rst_ni,
      .flush_i     (halt_i),
      .row_valid_i (row_valid),
      .row_bytes_i (20'(row_bytes)),
      .row_zero_i  (1'b0),
      .row_meta_i  (1'b0),
      .row_pop_o   (row_pop),
      .beat_valid_i(r_valid_i),
      .beat_ready_o(beat_ready),
      .beat_data_i (r_data_i),
      .word_valid_o(word_valid),
      .word_ready_i(1'b1),
      .word_data_o (entry_o),
      .word_bytes_o(),
      .word_last_o (),
      .word_index_o(),
      .word_meta_o ()
  );

  // verilator lint_on PINCONNECTEMPTY

  // Which entry a beat belongs to: the program is fetched without gaps, so the bytes taken say it.
  if (MB < 32) begin : gen_narrow
    localparam int SUB = $clog2(32 / MB);
    logic [15+SUB:0] beats_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) beats_q <= '0;
      else beats_q <= beats_q + (16 + SUB)'(beat);
    end
    assign bus_seq_o = beats_q[SUB+:16] - 16'd1;
  end else begin : gen_wide
    logic [15:0] seq_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) seq_q <= '1;
      else seq_q <= seq_q + (beat ? 16'(MB / 32) : 16'd0);
    end
    assign bus_seq_o = seq_q;
  end

endmodule
