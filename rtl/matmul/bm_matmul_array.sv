// SPDX-License-Identifier: Apache-2.0
//
// The systolic array: ROWS x COLS processing elements between input skew, weight skew and output deskew.
//
// In: one activation row (with the swap of a new tile) and one weight row per cycle, both at the edge; all zero
// when there is none. Out: the row's COLS sums, ROWS + COLS + 1 cycles after it stood at the edge in X.
// The swap reaches PE (r, c) with the row's element, at the end of X + r + c; a weight row at the edge in E
// reaches the shadows of column c at the end of E + c. Stalls: none. Reset: all 0.
// The sequencer and the loader see to it that a shadow is complete before it is swapped in.

module bm_matmul_array #(
  parameter int ROWS  = 8,  // 4..256, power of two
  parameter int COLS  = 8,  // 4..256, power of two
  parameter bit TRACE = 1'b1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // activation row at the edge
  input  logic [ 8*ROWS-1:0] act_i,
  input  logic               swap_i,
  // weight row at the edge
  input  logic               weight_valid_i,
  input  logic [        7:0] weight_row_i,
  input  logic [ 8*COLS-1:0] weight_i,
  // to the accumulator
  output logic [32*COLS-1:0] sum_o,
  output logic [       31:0] digest_o
);

  localparam int PLANE = ROWS * COLS;

  logic [8*ROWS-1:0] act;
  logic [8*COLS-1:0] weight;
  logic [ROWS+COLS-3:0] swap_q;
  logic [ROWS+COLS-2:0] swap;  // swap[k] reaches the PEs with r + c = k
  logic [32*ROWS-1:0] row_digest, row_plain;
  logic [31:0] act_digest, sum_digest, weight_digest, rows_digest;

  assign swap = {swap_q, swap_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) swap_q <= '0;
    else swap_q <= swap[ROWS+COLS-3:0];
  end

  bm_matmul_skew #(
    .LANES(ROWS),
    .WIDTH(8),
    .FIRST(5 * PLANE),
    .TRACE(TRACE)
  ) u_act_skew (
    .clk_i,
    .rst_ni,
    .data_i  (act_i),
    .data_o  (act),
    .digest_o(act_digest)
  );

  bm_matmul_skew #(
    .LANES(COLS),
    .WIDTH(8),
    .FIRST(5 * PLANE + ROWS * ROWS + COLS * COLS),
    .TRACE(TRACE)
  ) u_weight_skew (
    .clk_i,
    .rst_ni,
    .data_i  (weight_i),
    .data_o  (weight),
    .digest_o(weight_digest)
  );

  for (genvar r = 0; r < ROWS; r++) begin : gen_row
    logic [32*COLS-1:0] above, sum;
    if (r == 0) begin : gen_top
      assign above = '0;
    end else begin : gen_inner
      assign above = gen_row[r-1].sum;
    end
    bm_matmul_row #(
      .COLS (COLS),
      .PLANE(PLANE),
      .TRACE(TRACE)
    ) u_row (
      .clk_i,
      .rst_ni,
      .act_i         (act[8*r+:8]),
      .swap_i        (swap[r+:COLS]),
      .load_i        (weight_valid_i && weight_row_i == 8'(r)),
      .weight_i      (weight),
      .sum_i         (above),
      .sum_o         (sum),
      .digest_o      (row_digest[32*r+:32]),
      .digest_plain_o(row_plain[32*r+:32])
    );
  end

  bm_matmul_skew #(
    .LANES  (COLS),
    .WIDTH  (32),
    .FALLING(1'b1),
    .FIRST  (5 * PLANE + ROWS * ROWS),
    .TRACE  (TRACE)
  ) u_sum_deskew (
    .clk_i,
    .rst_ni,
    .data_i  (gen_row[ROWS-1].sum),
    .data_o  (sum_o),
    .digest_o(sum_digest)
  );

  always_comb begin
    rows_digest = '0;
    for (int r = 0; r < ROWS; r++) begin
      rows_digest = rows_digest + row_digest[32*r+:32] + 32'(2 * COLS * r) * row_plain[32*r+:32];
    end
  end
  assign digest_o = rows_digest + act_digest + sum_digest + weight_digest;

endmodule
