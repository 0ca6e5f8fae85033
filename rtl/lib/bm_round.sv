// SPDX-License-Identifier: Apache-2.0
//
// round_half_even(value, shift) of docs/numerics.md: value / 2^shift, nearest, ties to even. Combinational.
//
// Not: saturation; the magnitude of value must leave one bit free (below 2^62).

module bm_round (
    input  logic signed [63:0] value_i,
    input  logic        [ 5:0] shift_i,
    output logic signed [63:0] rounded_o
);
  logic signed [64:0] doubled;  // quotient, and below it the half bit
  logic        [63:0] below;    // bits under the half bit
  logic               sticky;
  logic               up;

  always_comb begin
    doubled = $signed({value_i, 1'b0}) >>> shift_i;
    below = ((64'd1 << shift_i) - 64'd1) >> 1;
    sticky = |(value_i & below);
    up = doubled[0] && (sticky || doubled[1]);
    rounded_o = $signed(doubled[64:1]) + $signed({63'd0, up});
  end
endmodule
