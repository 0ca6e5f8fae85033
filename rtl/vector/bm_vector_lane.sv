// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of one channel: window reduction, bias, multiply, round half to even, zero point, clip.
//
// Stages:  data (inputs) -> biased -> product -> scaled (registers) -> result_o, taken by the write register.
//          A stage's register is loaded when the valid flag of the stage before is set; nothing stalls.
// Context: op and parameters, stable from an iteration's first element to its last write.
// Latency: four cycles from data to write register (docs/timing.md, Vector). Reset: none, flags live in the pipeline.
// Raw:     result_o is the low 32 bits of the exact sum; otherwise its low 8 bits are the int8 result.

module bm_vector_lane (
    input logic clk_i,

    // Context
    input logic               add_i,           // two operands with own multipliers
    input logic               max_i,           // windows: maximum instead of sum
    input logic               raw_i,           // int32 result
    input logic signed [ 7:0] zero_point_i,
    input logic signed [ 7:0] clip_low_i,
    input logic signed [ 7:0] clip_high_i,
    input logic signed [31:0] bias_i,
    input logic        [23:0] multiplier_a_i,
    input logic        [23:0] multiplier_b_i,
    input logic        [ 5:0] shift_i,

    // Data stage, and the valid flags of the stages after it
    input logic               data_valid_i,
    input logic               data_first_i,     // of a window
    input logic signed [31:0] a_i,
    input logic signed [ 7:0] b_i,
    input logic               biased_valid_i,
    input logic               product_valid_i,

    output logic [31:0] result_o
);
  /*verilator no_inline_module*/

  localparam logic signed [63:0] LIMIT = 64'sd511;  // past it, clip gives the same for every zero point

  logic signed [31:0] reduced;
  logic signed [31:0] reduced_q;
  logic signed [32:0] biased_q;
  logic signed [ 7:0] b_q;
  logic signed [57:0] product_q;
  logic signed [33:0] other_q;  // of ADD: b * mb + bias
  logic signed [63:0] sum;
  logic signed [63:0] rounded;
  logic        [31:0] scaled;
  logic        [31:0] scaled_q;
  logic signed [10:0] shifted;
  logic signed [ 7:0] at_least_low;
  logic               below_low;

  always_comb begin
    reduced = a_i;
    if (!data_first_i) begin
      if (max_i) reduced = (a_i > reduced_q) ? a_i : reduced_q;
      else reduced = a_i + reduced_q;
    end
  end

  assign sum = 64'(product_q) + 64'(other_q);

  bm_round u_round (
      .value_i(sum),
      .shift_i,
      .rounded_o(rounded)
  );

  always_comb begin
    if (raw_i) scaled = sum[31:0];
    else if (rounded > LIMIT) scaled = 32'd511;
    else if (rounded < -LIMIT) scaled = -32'd511;
    else scaled = rounded[31:0];
  end

  always_comb begin
    shifted = 11'($signed(scaled_q[9:0])) + 11'(zero_point_i);
    below_low = shifted < 11'(clip_low_i);
    at_least_low = below_low ? clip_low_i : (shifted > 11'(clip_high_i)) ? clip_high_i : shifted[7:0];
    if (raw_i) result_o = scaled_q;
    else result_o = {24'd0, (at_least_low > clip_high_i) ? clip_high_i : at_least_low};
  end

  always_ff @(posedge clk_i) begin
    if (data_valid_i) begin
      reduced_q <= reduced;
      biased_q  <= 33'(reduced) + (add_i ? 33'sd0 : 33'(bias_i));
      b_q       <= b_i;
    end
    if (biased_valid_i) begin
      product_q <= (raw_i && !add_i) ? 58'(biased_q) : 58'(biased_q) * $signed({34'd0, multiplier_a_i});
      other_q   <= add_i ? 34'(b_q) * $signed({10'd0, multiplier_b_i}) + 34'(bias_i) : 34'sd0;
    end
    if (product_valid_i) scaled_q <= scaled;
  end
endmodule
