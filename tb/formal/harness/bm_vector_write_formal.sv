// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_vector_write: one operand's bytes per write, one write per int8 row, four per int32 row.

module bm_vector_write_formal #(
  parameter int COLS = 4,
  parameter int LANES = 8,
  parameter int SP_AW = 4,
  localparam int PARTS = LANES / COLS,
  localparam int PART_AW = $clog2(PARTS),
  localparam int OP_AW = SP_AW + PART_AW
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               raw_i,
  input logic               scaled_valid_i,
  input logic               scaled_end_i,
  input logic [  OP_AW-1:0] scaled_dst_i,
  input logic [32*COLS-1:0] result_i
);

  logic wvalid, over;
  logic [SP_AW-1:0] waddr;
  logic [LANES-1:0] wenable;
  logic [8*LANES-1:0] wdata;
  logic [1:0] chunk;
  logic [OP_AW-1:0] operand;
  logic [8*COLS-1:0] data;

  bm_vector_write #(
    .COLS(COLS),
    .LANES(LANES),
    .SP_AW(SP_AW)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .raw_i,
    .scaled_valid_i,
    .scaled_end_i,
    .scaled_dst_i,
    .result_i,
    .sp_wvalid_o(wvalid),
    .sp_waddr_o(waddr),
    .sp_wenable_o(wenable),
    .sp_wdata_o(wdata),
    .end_o(over),
    .chunk_o(chunk),
    .operand_o(operand),
    .data_o(data)
  );

  logic [2:0] left_q;   // writes of the row still to come
  logic raw_q, end_q;
  logic [OP_AW-1:0] dst_q;
  logic [32*COLS-1:0] row_q;
  logic [1:0] index;
  logic [8*COLS-1:0] expected;
  assign index = raw_q ? 2'(3'd4 - left_q) : 2'd0;

  always_comb begin
    expected = row_q[8*COLS*32'(index)+:8*COLS];
    if (!raw_q) for (int c = 0; c < COLS; c++) expected[8*c+:8] = row_q[32*c+:8];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (scaled_valid_i) left_q <= raw_i ? 3'd4 : 3'd1;
    else if (left_q != '0) left_q <= left_q - 3'd1;
    if (scaled_valid_i) begin
      raw_q <= raw_i;
      end_q <= scaled_end_i;
      dst_q <= scaled_dst_i;
      row_q <= result_i;
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Rows of int32 come four cycles apart (bm_vector_sequencer).
      apart: assume (!scaled_valid_i || left_q <= 3'd1);
      // The format stays while chunks are left.
      format_stays: assume (left_q == '0 || raw_i == raw_q);

      // A row gives exactly its writes: one of int8, four of int32, without a gap.
      writes: assert (wvalid == (left_q != '0));
      // A write goes to the row's operand, chunk by chunk.
      if (wvalid) address: assert (operand == dst_q + OP_AW'(index) && waddr == SP_AW'(operand >> PART_AW));
      // A write enables exactly the bytes of its part of the word.
      if (wvalid) part: assert (wenable == LANES'({COLS{1'b1}}) << (COLS * (32'(operand) % PARTS)));
      // A write has the row's narrow values, or the chunk's channels.
      if (wvalid) values: assert (data == expected && wdata == {PARTS{data}});
      // Chunks are counted from 0.
      if (wvalid) chunks: assert (chunk == index);
      // The last write of an iteration is marked in its last chunk and only there.
      ends: assert (over == (left_q == 3'd1 && end_q));
    end
  end

endmodule
