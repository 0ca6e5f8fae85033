// SPDX-License-Identifier: Apache-2.0
//
// Turns the beats of memory rows (MEM_BITS) into words of OB bytes, row by row; bytes past the row are 0.
//
// In: the description of the row at the head of the row list, and beats. Out: one word register.
// MB <= OB: a beat is taken while a row is at the head and the word register is free (empty, or taken in this
// cycle); the beat that fills a word or ends the row moves the word to the register.
// MB > OB: a beat is taken into the beat register when that is empty or its last needed word leaves, the row
// going on; one word moves per cycle. A zero row gives one zero word and takes no beat.
// The description is popped as its last word moves. flush_i (halt): beats are taken and dropped, the word
// register is emptied, everything else stands still until reset.

module bm_gearbox #(
  parameter int MEM_BITS = 64,  // bits of a beat: a power of two, 32 to 1024
  parameter int OB = 8,         // bytes of a word: a power of two, 4 to 256
  parameter int META_W = 1      // bits that go with a row, 1 and more
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                flush_i,
  // head of the row list
  input  logic                row_valid_i,
  input  logic [        19:0] row_bytes_i,
  input  logic                row_zero_i,
  input  logic [  META_W-1:0] row_meta_i,
  output logic                row_pop_o,
  // beats from the memory port
  input  logic                beat_valid_i,
  output logic                beat_ready_o,
  input  logic [MEM_BITS-1:0] beat_data_i,
  // word register
  output logic                word_valid_o,
  input  logic                word_ready_i,
  output logic [    8*OB-1:0] word_data_o,
  output logic [         8:0] word_bytes_o,  // of the row in this word, 1..OB
  output logic                word_last_o,   // last word of its row
  output logic [        15:0] word_index_o,  // of the word in its row
  output logic [  META_W-1:0] word_meta_o
);

  localparam int MB = MEM_BITS / 8;

  logic word_valid_q, word_last_q;
  logic [8*OB-1:0] word_data_q;
  logic [8:0] word_bytes_q;
  logic [15:0] word_index_q, index_q;
  logic [META_W-1:0] word_meta_q;

  logic word_free, move, last;
  logic [19:0] left;  // bytes of the row from the next word on
  logic [8:0] bytes;
  logic [8*OB-1:0] bits, mask;

  assign word_free = !word_valid_q || word_ready_i;
  assign left = row_bytes_i - (20'(index_q) << $clog2(OB));
  assign last = row_zero_i || left <= 20'(OB);
  assign bytes = left <= 20'(OB) ? left[8:0] : 9'(OB);
  assign row_pop_o = move && last && !flush_i;

  always_comb begin
    for (int i = 0; i < OB; i++) mask[8*i+:8] = {8{9'(i) < bytes}};
  end

  if (MB <= OB) begin : gen_up
    localparam int RATIO = OB / MB;
    localparam int SLOT_W = RATIO > 1 ? $clog2(RATIO) : 1;

    logic [SLOT_W-1:0] slot_q;  // beats of the next word already in the assembly register
    logic [8*OB-1:0] assembly_q, merged;
    logic take, ends;

    assign take = !flush_i && row_valid_i && !row_zero_i && word_free;
    assign beat_ready_o = flush_i || take;
    assign ends = slot_q == SLOT_W'(RATIO - 1) || left <= 20'(MB) * (20'(slot_q) + 20'd1);
    assign move = !flush_i && row_valid_i && word_free && (row_zero_i || (beat_valid_i && ends));
    assign merged = assembly_q | ((8 * OB)'(beat_data_i) << (MEM_BITS * 32'(slot_q)));
    assign bits = row_zero_i ? '0 : merged;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        slot_q <= '0;
        assembly_q <= '0;
      end else if (take && beat_valid_i) begin
        slot_q <= ends ? '0 : slot_q + 1'b1;
        assembly_q <= ends ? '0 : merged;
      end
    end
  end else begin : gen_down
    localparam int SPLIT = MB / OB;

    logic beat_full_q;
    logic [MEM_BITS-1:0] beat_q;
    logic take, ends;

    assign ends = last || index_q[$clog2(SPLIT)-1:0] == '1;
    assign move = !flush_i && row_valid_i && word_free && (row_zero_i || beat_full_q);
    assign take = !flush_i && row_valid_i && !row_zero_i && (!beat_full_q || (move && ends && !last));
    assign beat_ready_o = flush_i || take;
    assign bits = row_zero_i ? '0 : (8 * OB)'(beat_q >> (8 * OB * 32'(index_q[$clog2(SPLIT)-1:0])));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        beat_full_q <= 1'b0;
        beat_q <= '0;
      end else begin
        if (move && ends) beat_full_q <= 1'b0;
        if (take && beat_valid_i) begin
          beat_full_q <= 1'b1;
          beat_q <= beat_data_i;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      word_valid_q <= 1'b0;
      word_data_q  <= '0;
      word_bytes_q <= '0;
      word_last_q  <= 1'b0;
      word_index_q <= '0;
      word_meta_q  <= '0;
      index_q      <= '0;
    end else if (flush_i) begin
      word_valid_q <= 1'b0;
    end else if (move) begin
      word_valid_q <= 1'b1;
      word_data_q  <= bits & mask;
      word_bytes_q <= bytes;
      word_last_q  <= last;
      word_index_q <= index_q;
      word_meta_q  <= row_meta_i;
      index_q      <= last ? '0 : index_q + 1'b1;
    end else if (word_ready_i) begin
      word_valid_q <= 1'b0;
    end
  end

  assign word_valid_o = word_valid_q;
  assign word_data_o  = word_data_q;
  assign word_bytes_o = word_bytes_q;
  assign word_last_o  = word_last_q;
  assign word_index_o = word_index_q;
  assign word_meta_o  = word_meta_q;

endmodule
