// SPDX-License-Identifier: Apache-2.0
//
// Write register of the vector engine: a finished row leaves as one int8 operand, or as four chunks of an int32 row.
//
// In:      the scaled stage; it never comes while chunks are left (the sequencer keeps int32 rows four cycles apart).
// Out:     scratchpad writes of one part of a word, always granted; chunk j has the channels from j*COLS/4 on.
// Latency: first write in the cycle after the scaled stage (q+5), chunk j in q+5+j. No stalls.
// Reset:   clears the register's valid flag.

module bm_vector_write #(
    parameter int COLS  = 8,   // 4..256, power of two
    parameter int LANES = 8,   // bytes of a scratchpad word
    parameter int SP_AW = 12,

    // Derived; do not override.
    localparam int PARTS = LANES / COLS,
    localparam int PART_AW = $clog2(PARTS),
    localparam int OP_AW = SP_AW + PART_AW
) (
    input logic clk_i,
    input logic rst_ni,

    // Scaled stage
    input logic               raw_i,
    input logic               scaled_valid_i,
    input logic               scaled_end_i,
    input logic [  OP_AW-1:0] scaled_dst_i,
    input logic [32*COLS-1:0] result_i,

    // To the scratchpad
    output logic               sp_wvalid_o,
    output logic [  SP_AW-1:0] sp_waddr_o,
    output logic [  LANES-1:0] sp_wenable_o,
    output logic [8*LANES-1:0] sp_wdata_o,

    // To retire (the last write of an iteration) and trace
    output logic              end_o,
    output logic [       1:0] chunk_o,
    output logic [ OP_AW-1:0] operand_o,
    output logic [8*COLS-1:0] data_o
);
  logic               valid_q;
  logic               end_q;
  logic [        1:0] chunk_q;
  logic [  OP_AW-1:0] dst_q;
  logic [32*COLS-1:0] data_q;
  logic               more;
  logic [ 8*COLS-1:0] narrow;

  for (genvar c = 0; c < COLS; c++) begin : gen_narrow
    assign narrow[8*c+:8] = result_i[32*c+:8];
  end

  assign more = valid_q && raw_i && chunk_q != 2'd3;

  always_ff @(posedge clk_i) begin
    if (scaled_valid_i) begin
      end_q  <= scaled_end_i;
      dst_q  <= scaled_dst_i;
      data_q <= raw_i ? result_i : {{24 * COLS{1'b0}}, narrow};
    end else begin
      dst_q  <= dst_q + OP_AW'(1);
      data_q <= data_q >> (8 * COLS);
    end
    if (!rst_ni) begin
      valid_q <= 1'b0;
      chunk_q <= 2'd0;
    end else begin
      valid_q <= scaled_valid_i || more;
      chunk_q <= more ? chunk_q + 2'd1 : 2'd0;
    end
  end

  assign sp_wvalid_o = valid_q;
  assign sp_waddr_o = dst_q[OP_AW-1:PART_AW];
  assign sp_wdata_o = {PARTS{data_o}};
  if (PARTS > 1) begin : gen_parts
    assign sp_wenable_o = LANES'({COLS{1'b1}}) << (32'(dst_q[PART_AW-1:0]) * COLS);
  end else begin : gen_whole
    assign sp_wenable_o = '1;
  end

  assign end_o = valid_q && end_q && !more;
  assign chunk_o = chunk_q;
  assign operand_o = dst_q;
  assign data_o = data_q[8*COLS-1:0];

`ifndef SYNTHESIS
  always @(posedge clk_i) if (rst_ni) assert (!(scaled_valid_i && more));
`endif
endmodule
