// SPDX-License-Identifier: Apache-2.0
//
// Row pipeline of the vector engine: valid flags and addresses beside COLS lanes.
//
// In:      the data stage from the operands; an element that is not its window's last ends there.
// Out:     a finished row in the scaled stage, taken by the write register at the end of the cycle.
// Latency: data -> biased -> product -> scaled, one cycle each; no stalls.
// Reset:   clears the valid flags.

module bm_vector_pipeline #(
    parameter int COLS  = 8,  // 4..256, power of two
    parameter int OP_AW = 12  // bits of a column operand's address
) (
    input logic clk_i,
    input logic rst_ni,

    // Context and parameters
    input logic               add_i,
    input logic               max_i,
    input logic               raw_i,
    input logic signed [ 7:0] zero_point_i,
    input logic signed [ 7:0] clip_low_i,
    input logic signed [ 7:0] clip_high_i,
    // verilator lint_off UNUSEDSIGNAL
    input logic [64*COLS-1:0] params_i,        // the upper two bits of a channel mean nothing
    // verilator lint_on UNUSEDSIGNAL
    input logic [24*COLS-1:0] multiplier_b_i,

    // Data stage
    input logic               data_valid_i,
    input logic               data_first_i,
    input logic               data_last_i,
    input logic               data_end_i,    // the last row of its iteration
    input logic [  OP_AW-1:0] data_dst_i,
    input logic [32*COLS-1:0] a_i,
    input logic [ 8*COLS-1:0] b_i,

    // Scaled stage, to the write register
    output logic               biased_valid_o,
    output logic               product_valid_o,
    output logic               scaled_valid_o,
    output logic               scaled_end_o,
    output logic [  OP_AW-1:0] scaled_dst_o,
    output logic [32*COLS-1:0] result_o
);
  logic [OP_AW-1:0] biased_dst_q;
  logic [OP_AW-1:0] product_dst_q;
  logic             biased_end_q;
  logic             product_end_q;

  always_ff @(posedge clk_i) begin
    biased_dst_q  <= data_dst_i;
    biased_end_q  <= data_end_i;
    product_dst_q <= biased_dst_q;
    product_end_q <= biased_end_q;
    scaled_dst_o  <= product_dst_q;
    scaled_end_o  <= product_end_q;
    if (!rst_ni) begin
      biased_valid_o  <= 1'b0;
      product_valid_o <= 1'b0;
      scaled_valid_o  <= 1'b0;
    end else begin
      biased_valid_o  <= data_valid_i && data_last_i;
      product_valid_o <= biased_valid_o;
      scaled_valid_o  <= product_valid_o;
    end
  end

  for (genvar c = 0; c < COLS; c++) begin : gen_lane
    bm_vector_lane u_lane (
        .clk_i,
        .add_i,
        .max_i,
        .raw_i,
        .zero_point_i,
        .clip_low_i,
        .clip_high_i,
        .bias_i(params_i[64*c+:32]),
        .multiplier_a_i(params_i[64*c+32+:24]),
        .multiplier_b_i(multiplier_b_i[24*c+:24]),
        .shift_i(params_i[64*c+56+:6]),
        .data_valid_i,
        .data_first_i,
        .a_i(a_i[32*c+:32]),
        .b_i(b_i[8*c+:8]),
        .biased_valid_i(biased_valid_o),
        .product_valid_i(product_valid_o),
        .result_o(result_o[32*c+:32])
    );
  end
endmodule
