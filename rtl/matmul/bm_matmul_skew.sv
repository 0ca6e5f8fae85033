// SPDX-License-Identifier: Apache-2.0
//
// A triangle of delays: lane i is delayed by i cycles, or by LANES-1-i if FALLING.
//
// Uses: rows into the array (lane = row), weight rows into the columns, and FALLING for the sums out of it.
// Stalls: none. Reset: all 0. digest_o weighs lane i's register d (d = 0 next to the input) as position
// FIRST + i * LANES + d of the array digest.

module bm_matmul_skew #(
  parameter int LANES   = 8,     // 4..256
  parameter int WIDTH   = 8,     // bits of a lane, at most 32
  parameter bit FALLING = 1'b0,
  parameter int FIRST   = 0,     // digest position of lane 0
  parameter bit TRACE   = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [LANES*WIDTH-1:0] data_i,
  output logic [LANES*WIDTH-1:0] data_o,
  output logic [           31:0] digest_o
);

  logic [32*LANES-1:0] lane_digest;

  function automatic logic [31:0] digest(input logic [LANES*WIDTH-1:0] delays, input logic [31:0] factor);
    /*verilator no_inline_task*/  // one copy of this code for all lanes
    digest = '0;
    for (int d = 0; d < LANES; d++) begin
      digest = digest + (factor + 32'(2 * d)) * 32'($signed(delays[d*WIDTH+:WIDTH]));
    end
  endfunction

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    localparam int DEPTH = FALLING ? LANES - 1 - i : i;
    if (DEPTH == 0) begin : gen_wire
      assign data_o[i*WIDTH+:WIDTH] = data_i[i*WIDTH+:WIDTH];
      assign lane_digest[32*i+:32] = '0;
    end else begin : gen_delay
      logic [DEPTH*WIDTH-1:0] delay_q;  // the youngest at bit 0
      always_ff @(posedge clk_i) begin
        if (!rst_ni) delay_q <= '0;
        else delay_q <= (DEPTH * WIDTH)'({delay_q, data_i[i*WIDTH+:WIDTH]});
      end
      assign data_o[i*WIDTH+:WIDTH] = delay_q[(DEPTH-1)*WIDTH+:WIDTH];
      assign lane_digest[32*i+:32] =
          TRACE ? digest((LANES * WIDTH)'(delay_q), 32'(2 * (FIRST + i * LANES) + 1)) : '0;
    end
  end

  always_comb begin
    digest_o = '0;
    for (int i = 0; i < LANES; i++) digest_o = digest_o + lane_digest[32*i+:32];
  end

endmodule
