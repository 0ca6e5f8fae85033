// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_matmul_row: each processing element, its multiplier included, against a multiplier written out bit
// by bit; weights, their shadows, and the delay of activations.

module bm_matmul_row_formal #(
  parameter int COLS = 3
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic [        7:0] act_i,
  input logic [   COLS-1:0] swap_i,
  input logic               load_i,
  input logic [ 8*COLS-1:0] weight_i,
  input logic [32*COLS-1:0] sum_i
);

  logic [32*COLS-1:0] sum;
  logic [31:0] digest, digest_plain;

  bm_matmul_row #(
    .COLS (COLS),
    .PLANE(COLS),
    .TRACE(1'b0)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .act_i,
    .swap_i,
    .load_i,
    .weight_i,
    .sum_i,
    .sum_o         (sum),
    .digest_o      (digest),
    .digest_plain_o(digest_plain)
  );

  // Two's complement product, one partial product per bit of b; the top bit counts negatively.
  function automatic logic [15:0] product(input logic [7:0] a, input logic [7:0] b);
    logic [15:0] wide, total;
    wide = {{8{a[7]}}, a};
    total = '0;
    for (int i = 0; i < 7; i++) if (b[i]) total = total + (wide << i);
    if (b[7]) total = total - (wide << 7);
    return total;
  endfunction

  // The same row, built anew from the contract: values by age, weights by event.
  logic [COLS-1:0][7:0] act_q, weight_q, shadow_q;
  logic [COLS-1:0][15:0] product_q;
  logic [COLS-1:0][31:0] sum_q;
  logic [COLS:0] load;
  logic [COLS-1:0] load_q;
  assign load = {load_q, load_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {act_q, weight_q, shadow_q, product_q, sum_q, load_q} <= '0;
    end else begin
      load_q <= load[COLS-1:0];
      for (int c = 0; c < COLS; c++) begin
        act_q[c] <= c == 0 ? act_i : act_q[c == 0 ? 0 : c-1];
        product_q[c] <= product(u_dut.activation_q[8*c+:8], u_dut.weight_q[8*c+:8]);
        sum_q[c] <= sum_i[32*c+:32] + {{16{u_dut.product_q[16*c+15]}}, u_dut.product_q[16*c+:16]};
        if (swap_i[c]) weight_q[c] <= shadow_q[c];
        if (load[c]) shadow_q[c] <= weight_i[8*c+:8];
      end
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Activations move one column to the right per cycle.
      activations: assert (u_dut.activation_q == act_q);
      // A weight row reaches column c's shadow register c cycles after it stood at the edge.
      shadows: assert (u_dut.shadow_q == shadow_q);
      // The swap takes the shadow, nothing else changes a weight.
      weights: assert (u_dut.weight_q == weight_q);
      // The product is the exact signed 8 x 8 bit product of activation and weight, for all of them.
      multiplier: assert (u_dut.product_q == product_q);
      // The sum is that from above plus the sign-extended product.
      accumulate: assert (sum == sum_q);
    end
  end

endmodule
