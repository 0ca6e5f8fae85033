// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_store_beats: W beats stand while stalled, belong to bursts whose address is out, end them in the
// right beat, and strobe exactly the row's bytes.

module bm_store_beats_formal #(
  parameter int MEM_BITS = 32,
  parameter int LANES = 8,
  localparam int MB = MEM_BITS / 8
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               word_valid_i,
  input logic [8*LANES-1:0] word_data_i,
  input logic [        8:0] word_bytes_i,
  input logic               word_last_i,
  input logic               burst_valid_i,
  input logic [        7:0] burst_len_i,
  input logic               w_ready_i
);

  logic word_pop, burst_pop, w_valid, w_last;
  logic [MEM_BITS-1:0] w_data;
  logic [MB-1:0] w_strb;

  bm_store_beats #(
    .MEM_BITS(MEM_BITS),
    .LANES(LANES)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .word_valid_i,
    .word_data_i,
    .word_bytes_i,
    .word_last_i,
    .word_pop_o (word_pop),
    .burst_valid_i,
    .burst_len_i,
    .burst_pop_o(burst_pop),
    .w_valid_o  (w_valid),
    .w_data_o   (w_data),
    .w_strb_o   (w_strb),
    .w_last_o   (w_last),
    .w_ready_i
  );

  logic stalled_q, burst_q, word_q, popped_q, last_q, loaded;
  logic [7:0] len_q, beats_q;
  logic [8:0] bytes_q;
  logic [8*LANES-1:0] word_data_q;
  logic [MEM_BITS-1:0] data_q;
  logic [MB-1:0] strb_q;
  logic w_last_q;

  assign loaded = u_dut.loads;

  always_ff @(posedge clk_i) begin
    stalled_q   <= rst_ni && w_valid && !w_ready_i;
    data_q      <= w_data;
    strb_q      <= w_strb;
    w_last_q    <= w_last;
    burst_q     <= rst_ni && burst_valid_i && !burst_pop;
    len_q       <= burst_len_i;
    word_q      <= rst_ni && word_valid_i && !word_pop;
    bytes_q     <= word_bytes_i;
    last_q      <= word_last_i;
    word_data_q <= word_data_i;
    popped_q    <= rst_ni && burst_pop;
    if (!rst_ni) begin
      beats_q <= '0;
    end else if (loaded) begin
      beats_q <= burst_pop ? '0 : beats_q + 8'd1;
    end
  end

  // Strobes without a hole from byte 0 on.
  logic contiguous, masked;
  assign contiguous = (w_strb & (w_strb + MB'(1))) == '0 && w_strb[0];
  always_comb begin
    masked = 1'b1;
    for (int i = 0; i < MB; i++) if (!w_strb[i] && w_data[8*i+:8] != '0) masked = 1'b0;
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // A burst stays at the head until it is popped.
      burst_stays: assume (!burst_q || (burst_valid_i && burst_len_i == len_q));
      // A word stays at the head until it is popped.
      word_stays: assume (!word_q || (word_valid_i && word_bytes_i == bytes_q && word_last_i == last_q
          && word_data_i == word_data_q));
      // Words have 1 to LANES bytes, and only the last one of a row is short.
      word_size: assume (!word_valid_i || (word_bytes_i != '0 && word_bytes_i <= 9'(LANES)
          && (word_last_i || word_bytes_i == 9'(LANES))));

      // A beat that memory has not taken stays valid.
      if (stalled_q) not_dropped: assert (w_valid);
      // A beat that memory has not taken does not change.
      if (stalled_q) stable: assert (w_data == data_q && w_strb == strb_q && w_last == w_last_q);
      // A beat enters the register only for a burst whose address is out.
      if (loaded) owed: assert (burst_valid_i && word_valid_i);
      // The register is loaded only while it is free.
      if (loaded && w_valid) free: assert (w_ready_i);
      // Beats are counted from the burst's first one on.
      counted: assert (u_dut.beat_q == beats_q);
      // A burst ends in exactly its last beat.
      if (burst_pop) length: assert (loaded && beats_q == burst_len_i);
      // In its last beat a burst always ends.
      if (loaded && beats_q == burst_len_i) ends: assert (burst_pop);
      // The beat that ends its burst says so.
      if (popped_q) last: assert (w_valid && w_last);
      // Every beat strobes at least its first byte, and no hole is between strobed bytes.
      if (w_valid) strobes: assert (contiguous);
      // Bytes that are not strobed are zero.
      if (w_valid) unused_zero: assert (masked);
      // A word leaves only if it was there.
      if (word_pop) word_there: assert (word_valid_i);
    end
  end

endmodule
