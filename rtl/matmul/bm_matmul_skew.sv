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

  localparam int STAGES = LANES - 1;
  localparam int STEP = 2 * LANES;  // between the digest's factors of neighbouring lanes

  logic [32*STAGES-1:0] stage_digest;

  function automatic logic [31:0] digest(input logic [STAGES*WIDTH-1:0] registers, input logic [31:0] factor);
    /*verilator no_inline_task*/ 
    digest = '0;
    /*verilator unroll_disable*/
    for (int k = 0; k < STAGES; k++) begin
      digest = digest + (factor + 32'(STEP * k)) * 32'($signed(registers[k*WIDTH+:WIDTH]));
    end
  endfunction

  // Stage d holds register d of the lanes that have one: LANES-1-d of them, the upper ones (FALLING: the lower).
  for (genvar d = 0; d < STAGES; d++) begin : gen_stage
    localparam int COUNT = STAGES - d;
    localparam int LOWEST = FALLING ? 0 : d + 1;
    logic [COUNT*WIDTH-1:0] stage_q;
    logic [(COUNT+1)*WIDTH-1:0] previous;

    if (d == 0) begin : gen_first
      assign previous = data_i;
    end else begin : gen_next
      assign previous = gen_stage[d-1].stage_q;
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) stage_q <= '0;
      else stage_q <= FALLING ? previous[COUNT*WIDTH-1:0] : previous[(COUNT+1)*WIDTH-1:WIDTH];
    end

    // The lane that goes no further.
    if (FALLING) begin : gen_upper
      assign data_o[COUNT*WIDTH+:WIDTH] = previous[COUNT*WIDTH+:WIDTH];
    end else begin : gen_lower
      assign data_o[d*WIDTH+:WIDTH] = previous[WIDTH-1:0];
    end

    assign stage_digest[32*d+:32] =
        TRACE ? digest((STAGES * WIDTH)'(stage_q), 32'(2 * (FIRST + LOWEST * LANES + d) + 1)) : '0;
  end

  if (FALLING) begin : gen_last_upper
    assign data_o[WIDTH-1:0] = gen_stage[STAGES-1].stage_q;
  end else begin : gen_last_lower
    assign data_o[STAGES*WIDTH+:WIDTH] = gen_stage[STAGES-1].stage_q;
  end

  always_comb begin
    digest_o = '0;
    /*verilator unroll_disable*/
    for (int d = 0; d < STAGES; d++) digest_o = digest_o + stage_digest[32*d+:32];
  end

endmodule
