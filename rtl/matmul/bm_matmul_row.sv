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
  if (TRACE) begin : gen_digest
    logic [31:0] weighted, plain, planes, all, later;
    always_comb begin
      weighted = '0;
      plain = '0;
      planes = '0;
      all = '0;
      later = '0;
      for (int c = 0; c < COLS; c++) begin
        all = 32'($signed(activation_q[8*c+:8])) + 32'($signed(weight_q[8*c+:8])) + 32'($signed(shadow_q[8*c+:8]))
            + 32'($signed(product_q[16*c+:16])) + sum_q[32*c+:32];
        later = 32'($signed(weight_q[8*c+:8])) + (32'($signed(shadow_q[8*c+:8])) << 1)
            + 32'd3 * 32'($signed(product_q[16*c+:16])) + (sum_q[32*c+:32] << 2);
        weighted = weighted + (32'(2 * c) + 32'd1) * all;
        plain = plain + all;
        planes = planes + later;
      end
    end
    assign digest_o = weighted + 32'(2 * PLANE) * planes;
    assign digest_plain_o = plain;
  end else begin : gen_no_digest
    assign digest_o = '0;
    assign digest_plain_o = '0;
  end

endmodule
