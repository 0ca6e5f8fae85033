// SPDX-License-Identifier: Apache-2.0
//
// Says to which category each cycle of a run belongs, and counts.
//
// Streams: level inputs of the cycle from matmul and load in; categories of the same cycle and counters out.
// Latency: categories combinational; a counter shows an event in the next cycle.
// Stalls:  none.
// Reset:   rst_ni or start_i clears the counters; they keep their values after the run.
// Sum:     every busy cycle is exactly one of active, weight shift, weight stall, non-matrix (in this order of
//          precedence); raw and input stalls are parts of non-matrix.

module bm_accounting (
    input logic clk_i,
    input logic rst_ni,

    // Run control
    input logic start_i,  // clears the counters
    input logic busy_i,
    input logic run_i,    // busy, and the engines are out of their reset

    // From matmul and load
    input logic        active_i,
    input logic        weight_shift_i,
    input logic        weight_stall_i,
    input logic        wait_i,
    input logic        load_busy_i,
    input logic [16:0] useful_i,

    // Categories of this cycle
    output logic active_o,
    output logic weight_shift_o,
    output logic weight_stall_o,
    output logic raw_stall_o,
    output logic input_stall_o,

    // 64 bits each, from bit 0: cycles, active, weight shift, weight stall, non-matrix, raw stall, input stall, useful MACs
    output logic [8*64-1:0] counters_o
);

  logic matrix;
  logic [6:0] event_bits;

  assign active_o = run_i && active_i;
  assign weight_shift_o = run_i && !active_i && weight_shift_i;
  assign weight_stall_o = run_i && !active_i && !weight_shift_i && weight_stall_i;
  assign matrix = active_o || weight_shift_o || weight_stall_o;
  assign raw_stall_o = run_i && !matrix && wait_i && !load_busy_i;
  assign input_stall_o = run_i && !matrix && wait_i && load_busy_i;

  assign event_bits = {
    input_stall_o, raw_stall_o, busy_i && !matrix, weight_stall_o, weight_shift_o, active_o, busy_i
  };

  for (genvar k = 0; k < 7; k++) begin : gen_cycles
    always_ff @(posedge clk_i) begin
      if (!rst_ni || start_i) counters_o[64*k+:64] <= '0;
      else if (event_bits[k]) counters_o[64*k+:64] <= counters_o[64*k+:64] + 64'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) counters_o[64*7+:64] <= '0;
    else if (run_i) counters_o[64*7+:64] <= counters_o[64*7+:64] + 64'(useful_i);
  end

endmodule
