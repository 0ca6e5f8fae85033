// SPDX-License-Identifier: Apache-2.0
//
// Turns words of rows into W beats.
//
// In: words (with their bytes and whether they end the row) and the lengths of bursts whose AW had its handshake.
// Out: the W register; strobes cover the row's bytes, unused bytes are 0.
// MEM_BITS / 8 <= LANES: a word feeds one beat per cycle and is popped with its last needed one.
// MEM_BITS / 8 > LANES: words are collected one per cycle; the one that fills a beat or ends the row moves with the
// others into the W register. The register is loaded only while it is free (empty, or its handshake is in this
// cycle) and the burst at the head of burst_* exists. Reset: empty.

module bm_store_beats #(
  parameter int MEM_BITS = 64,
  parameter int LANES = 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // head of the word buffer
  input  logic                  word_valid_i,
  input  logic [   8*LANES-1:0] word_data_i,
  input  logic [           8:0] word_bytes_i,
  input  logic                  word_last_i,
  output logic                  word_pop_o,
  // head of the bursts whose address is out
  input  logic                  burst_valid_i,
  input  logic [           7:0] burst_len_i,
  output logic                  burst_pop_o,
  // W channel
  output logic                  w_valid_o,
  output logic [  MEM_BITS-1:0] w_data_o,
  output logic [MEM_BITS/8-1:0] w_strb_o,
  output logic                  w_last_o,
  input  logic                  w_ready_i
);

  localparam int MB = MEM_BITS / 8;

  logic w_valid_q, w_last_q;
  logic [MEM_BITS-1:0] w_data_q;
  logic [MB-1:0] w_strb_q;
  logic [7:0] beat_q;  // of the burst, next into the W register

  logic w_free, loads, ends_burst;
  logic [MEM_BITS-1:0] bits, mask;
  logic [MB-1:0] strobe;
  logic [8:0] beat_bytes;  // of the row, 1..MB

  assign w_free = burst_valid_i && (!w_valid_q || w_ready_i);
  assign ends_burst = beat_q == burst_len_i;
  assign burst_pop_o = loads && ends_burst;

  always_comb begin
    for (int i = 0; i < MB; i++) begin
      strobe[i] = 9'(i) < beat_bytes;
      mask[8*i+:8] = {8{9'(i) < beat_bytes}};
    end
  end

  if (MB <= LANES) begin : gen_split
    localparam int RATIO = LANES / MB;
    localparam int SLOT_W = RATIO > 1 ? $clog2(RATIO) : 1;

    logic [SLOT_W-1:0] slot_q;
    logic [8:0] left;  // bytes of the word from this beat on
    logic word_ends;

    assign left = word_bytes_i - 9'(32'(slot_q) * MB);
    assign word_ends = left <= 9'(MB);
    assign loads = w_free && word_valid_i;
    assign word_pop_o = loads && word_ends;
    assign beat_bytes = word_ends ? left : 9'(MB);
    assign bits = MEM_BITS'(word_data_i >> (MEM_BITS * 32'(slot_q)));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) slot_q <= '0;
      else if (loads) slot_q <= word_ends ? '0 : slot_q + 1'b1;
    end

    // A word's bytes say enough here.
    logic unused;
    assign unused = word_last_i;
  end else begin : gen_collect
    localparam int RATIO = MB / LANES;
    localparam int SLOT_W = $clog2(RATIO);

    logic [SLOT_W-1:0] slot_q;
    logic [MEM_BITS-1:0] assembly_q;
    logic beat_ends;

    assign beat_ends = word_last_i || slot_q == SLOT_W'(RATIO - 1);
    assign loads = w_free && word_valid_i && beat_ends;
    assign word_pop_o = word_valid_i && (loads || !beat_ends);
    assign beat_bytes = 9'(32'(slot_q) * LANES) + word_bytes_i;
    assign bits = assembly_q | (MEM_BITS'(word_data_i) << (8 * LANES * 32'(slot_q)));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        slot_q <= '0;
        assembly_q <= '0;
      end else if (word_pop_o) begin
        slot_q <= beat_ends ? '0 : slot_q + 1'b1;
        assembly_q <= beat_ends ? '0 : bits;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_valid_q <= 1'b0;
      w_data_q <= '0;
      w_strb_q <= '0;
      w_last_q <= 1'b0;
      beat_q <= '0;
    end else if (loads) begin
      w_valid_q <= 1'b1;
      w_data_q <= bits & mask;
      w_strb_q <= strobe;
      w_last_q <= ends_burst;
      beat_q <= ends_burst ? '0 : beat_q + 8'd1;
    end else if (w_ready_i) begin
      w_valid_q <= 1'b0;
    end
  end

  assign w_valid_o = w_valid_q;
  assign w_data_o = w_data_q;
  assign w_strb_o = w_strb_q;
  assign w_last_o = w_last_q;

endmodule
