// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_matmul_skew: lane i comes out i cycles later, or LANES-1-i cycles if FALLING.

module bm_matmul_skew_formal #(
  parameter int LANES = 4,
  parameter int WIDTH = 3,
  parameter bit FALLING = 1'b0
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [LANES*WIDTH-1:0] data_i
);

  logic [LANES*WIDTH-1:0] data;
  logic [31:0] digest;

  bm_matmul_skew #(
    .LANES(LANES),
    .WIDTH(WIDTH),
    .FALLING(FALLING),
    .TRACE(1'b0)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .data_i,
    .data_o  (data),
    .digest_o(digest)
  );

  // Everything that came in, age by age; 0 since the reset.
  logic [LANES-1:0][LANES*WIDTH-1:0] past_q;
  logic [LANES:0][LANES*WIDTH-1:0] at;
  assign at = {past_q, data_i};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) past_q <= '0;
    else past_q <= at[LANES-1:0];
  end

  logic [LANES-1:0] right;
  always_comb begin
    for (int i = 0; i < LANES; i++) begin
      right[i] = data[WIDTH*i+:WIDTH] == at[FALLING ? LANES - 1 - i : i][WIDTH*i+:WIDTH];
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The lane that is not delayed comes out in the cycle it came in.
      direct: assert (right[FALLING ? LANES-1 : 0]);
      // The last lane is delayed by one cycle less than there are lanes.
      longest: assert (right[FALLING ? 0 : LANES-1]);
      // Every lane has exactly its delay, and zeros since the reset.
      every_lane: assert (right == '1);
    end
  end

endmodule
