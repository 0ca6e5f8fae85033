// SPDX-License-Identifier: Apache-2.0
//
// One row of processing elements: int8 weights stay, activations go right, int32 sums go down.
//
// Each cycle, per PE: a <= from the left; product <= a * w; sum <= sum from above + product;
// w <= swap ? shadow : w; shadow <= load ? weight : shadow. A weight row that stands at the array's edge in E
// (load_i) writes the shadow of column c at the end of E + c: load_q is that wave.
// Latency: an activation at act_i in t is in column c's sum in t + c + 3 (docs/timing.md, Array).
// Stalls: none. Reset: all 0. It never looks at how many rows there are: all rows are the same module.

module bm_matmul_row #(
  parameter int COLS  = 8,  // 4..256, power of two
  parameter int PLANE = 64, // rows * cols: registers of one kind, for the digest's positions
  parameter bit TRACE = 1'b1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // from the input skew and the swap wave
  input  logic [          7:0] act_i,
  input  logic [     COLS-1:0] swap_i,
  // from the weight edge and the weight skew
  input  logic                 load_i,
  input  logic [   8*COLS-1:0] weight_i,
  // from the row above, to the row below
  input  logic [  32*COLS-1:0] sum_i,
  output logic [  32*COLS-1:0] sum_o,
  // digest of the registers: weighted as row 0 of the array, and unweighted
  output logic [         31:0] digest_o,
  output logic [         31:0] digest_plain_o
);
  /*verilator no_inline_module*/  // build and run time of large arrays

  logic [8*COLS-1:0] activation_q, weight_q, shadow_q;
  logic [16*COLS-1:0] product_q;
  logic [32*COLS-1:0] sum_q;
  logic [COLS-2:0] load_q;
  logic [COLS-1:0] load;

  assign load  = {load_q, load_i};
  assign sum_o = sum_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      activation_q <= '0;
      weight_q     <= '0;
      shadow_q     <= '0;
      product_q    <= '0;
      sum_q        <= '0;
      load_q       <= '0;
    end else begin
      activation_q <= {activation_q[8*COLS-9:0], act_i};
      load_q       <= load[COLS-2:0];
      /*verilator unroll_disable*/
      for (int c = 0; c < COLS; c++) begin
        product_q[16*c+:16] <= 16'($signed(activation_q[8*c+:8]) * $signed(weight_q[8*c+:8]));
        sum_q[32*c+:32]     <= sum_i[32*c+:32] + 32'($signed(product_q[16*c+:16]));
        if (swap_i[c]) weight_q[8*c+:8] <= shadow_q[8*c+:8];
        if (load[c]) shadow_q[8*c+:8] <= weight_i[8*c+:8];
      end
    end
  end

  // Register k (0..4) of column c has the position k * PLANE + r * COLS + c and weighs 2 * position + 1: the
  // array adds the share of r, so that the rows stay one module.
  function automatic logic [63:0] digest(
    input logic [8*COLS-1:0] activation, input logic [8*COLS-1:0] weight, input logic [8*COLS-1:0] shadow,
    input logic [16*COLS-1:0] product, input logic [32*COLS-1:0] sum);
    /*verilator no_inline_task*/
    logic [31:0] w, s, p, all, weighted, plain;
    weighted = '0;
    plain = '0;
    /*verilator unroll_disable*/
    for (int c = 0; c < COLS; c++) begin
      w = 32'($signed(weight[8*c+:8]));
      s = 32'($signed(shadow[8*c+:8]));
      p = 32'($signed(product[16*c+:16]));
      all = 32'($signed(activation[8*c+:8])) + w + s + p + sum[32*c+:32];
      plain = plain + all;
      weighted = weighted + 32'(2 * c + 1) * all + 32'(2 * PLANE) * (w + 2 * s + 3 * p + 4 * sum[32*c+:32]);
    end
    return {plain, weighted};
  endfunction

  assign {digest_plain_o, digest_o} = TRACE ? digest(activation_q, weight_q, shadow_q, product_q, sum_q) : '0;

endmodule
