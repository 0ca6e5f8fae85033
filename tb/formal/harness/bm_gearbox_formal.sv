// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_gearbox: every row gives exactly its bytes, in words that stand while stalled; beats are taken only
// for rows that need them.

module bm_gearbox_formal #(
  parameter int MEM_BITS = 32,
  parameter int OB = 8,
  parameter int MOST = 24,  // bytes of a row, at most
  localparam int MB = MEM_BITS / 8
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                flush_i,
  input logic                row_valid_i,
  input logic [        19:0] row_bytes_i,
  input logic                row_zero_i,
  input logic                row_meta_i,
  input logic                beat_valid_i,
  input logic [MEM_BITS-1:0] beat_data_i,
  input logic                word_ready_i
);

  logic row_pop, beat_ready, word_valid, word_last, word_meta;
  logic [8*OB-1:0] word_data;
  logic [8:0] word_bytes;
  logic [15:0] word_index;

  bm_gearbox #(
    .MEM_BITS(MEM_BITS),
    .OB(OB),
    .META_W(1)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .flush_i,
    .row_valid_i,
    .row_bytes_i,
    .row_zero_i,
    .row_meta_i,
    .row_pop_o(row_pop),
    .beat_valid_i,
    .beat_ready_o(beat_ready),
    .beat_data_i,
    .word_valid_o(word_valid),
    .word_ready_i,
    .word_data_o(word_data),
    .word_bytes_o(word_bytes),
    .word_last_o(word_last),
    .word_index_o(word_index),
    .word_meta_o(word_meta)
  );

  logic head_q, stalled_q, popped_q, zero_q, flush_q, pop_meta_q, pop_zero_q;
  logic [19:0] bytes_q;
  logic meta_q;
  logic [8*OB-1:0] data_q;
  logic [26:0] rest_q;      // of the word register: data's bytes, last, index
  logic [7:0] taken_q;      // bytes in the beats taken for the row at the head
  logic [7:0] given_q;      // bytes of the words moved to the register for it
  logic [7:0] row_of_pop_q; // bytes of the row popped in the last cycle
  logic moved;              // a word enters the register at the end of this cycle
  logic takes;

  assign moved = u_dut.move;
  assign takes = beat_valid_i && beat_ready && !flush_i;

  always_ff @(posedge clk_i) begin
    head_q     <= rst_ni && row_valid_i && !row_pop;
    bytes_q    <= row_bytes_i;
    zero_q     <= row_zero_i;
    meta_q     <= row_meta_i;
    stalled_q  <= rst_ni && word_valid && !word_ready_i && !flush_i;
    data_q     <= word_data;
    rest_q     <= {word_bytes, word_last, word_index, word_meta};
    popped_q   <= rst_ni && row_pop;
    pop_meta_q <= row_meta_i;
    pop_zero_q <= row_zero_i;
    row_of_pop_q <= 8'(row_bytes_i);
    if (!rst_ni) begin
      flush_q <= 1'b0;
      taken_q <= '0;
      given_q <= '0;
    end else begin
      flush_q <= flush_q || flush_i;
      if (row_pop) begin
        taken_q <= '0;
        given_q <= '0;
      end else begin
        if (takes) taken_q <= taken_q + 8'(MB);
        if (moved) given_q <= given_q + 8'(OB);
      end
    end
  end

  // Bytes of the row at the head in whole beats.
  logic [7:0] needed;
  assign needed = (8'(row_bytes_i) + 8'(MB - 1)) & ~8'(MB - 1);

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The head of the row list stays until it is popped.
      head_stays: assume (!head_q || (row_valid_i && row_bytes_i == bytes_q && row_zero_i == zero_q && row_meta_i == meta_q));
      // Rows have 1 to MOST bytes, zero rows at most those of a word.
      size: assume (!row_valid_i || (row_bytes_i != '0 && row_bytes_i <= (row_zero_i ? 20'(OB) : 20'(MOST))));
      // Flush stays until the reset.
      flush_stays: assume (!flush_q || flush_i);

      // A word that is not taken stays.
      if (stalled_q) not_dropped: assert (word_valid);
      // A word that is not taken does not change.
      if (stalled_q) stable: assert (word_data == data_q && {word_bytes, word_last, word_index, word_meta} == rest_q);
      // The row leaves the list with its last word, which says so and carries the row's description.
      if (popped_q && !flush_q) last_word: assert (word_valid && word_last && word_meta == pop_meta_q);
      // A word has 1 to OB bytes.
      if (word_valid) word_size: assert (word_bytes != '0 && word_bytes <= 9'(OB));
      // Only the last word of a row may be short.
      if (word_valid && !word_last) only_last_short: assert (word_bytes == 9'(OB));
      // A row that leaves has given exactly its bytes.
      if (popped_q && !flush_q) all_bytes: assert (8'(word_index) * 8'(OB) + 8'(word_bytes) == row_of_pop_q);
      // No more beats are taken than the row has.
      if (takes && row_valid_i) needs: assert (!row_zero_i && taken_q < needed);
      // A beat is taken only for a row.
      if (takes) has_row: assert (row_valid_i);
      // A row leaves only when all of its beats were taken, the last one in this cycle at the latest.
      if (row_pop && !row_zero_i) complete: assert (taken_q + (takes ? 8'(MB) : 8'd0) == needed);
      // Zero rows give a word of zeros.
      if (popped_q && pop_zero_q && !flush_q) zeros: assert (word_data == '0);
      // While flushed every beat is taken and no row leaves.
      if (flush_i) flushed: assert (beat_ready && !row_pop);
      // From the second flushed cycle on there is no word.
      if (flush_q) emptied: assert (!word_valid);
    end
  end

  // Bytes past the row's end are zero.
  logic tail_zero;
  always_comb begin
    tail_zero = 1'b1;
    for (int i = 0; i < OB; i++) if (9'(i) >= word_bytes && word_data[8*i+:8] != '0) tail_zero = 1'b0;
  end
  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Bytes past the row's end are zero.
      if (word_valid) tail: assert (tail_zero);
    end
  end

endmodule
