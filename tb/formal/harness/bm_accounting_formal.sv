// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_accounting: every busy cycle has exactly one category, and is counted there once.

module bm_accounting_formal (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        start_i,
  input logic        busy_i,
  input logic        run_i,
  input logic        active_i,
  input logic        weight_shift_i,
  input logic        weight_stall_i,
  input logic        wait_i,
  input logic        load_busy_i,
  input logic [16:0] useful_i
);

  logic active, weight_shift, weight_stall, raw_stall, input_stall;
  logic [511:0] counters, counters_q;

  bm_accounting u_dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .busy_i,
    .run_i,
    .active_i,
    .weight_shift_i,
    .weight_stall_i,
    .wait_i,
    .load_busy_i,
    .useful_i,
    .active_o      (active),
    .weight_shift_o(weight_shift),
    .weight_stall_o(weight_stall),
    .raw_stall_o   (raw_stall),
    .input_stall_o (input_stall),
    .counters_o    (counters)
  );

  logic counting_q, cleared_q, idle_q;
  always_ff @(posedge clk_i) begin
    counters_q <= counters;
    counting_q <= rst_ni && !start_i && busy_i;
    idle_q     <= rst_ni && !start_i && !busy_i;
    cleared_q  <= rst_ni && start_i;
  end

  // Which counter moved since the last cycle: its lowest bit changes with every step.
  logic [6:0] moved;
  always_comb begin
    for (int k = 0; k < 7; k++) moved[k] = counters[64*k] != counters_q[64*k];
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // A run is busy.
      run_is_busy: assume (!run_i || busy_i);

      // Categories exclude one another.
      if (run_i) exclusive: assert (3'(active) + 3'(weight_shift) + 3'(weight_stall) + 3'(raw_stall) + 3'(input_stall) <= 3'd1);
      // A row at the array's edge goes before everything else.
      if (run_i && active_i) active_first: assert (active && !weight_shift && !weight_stall && !raw_stall && !input_stall);
      // Stalls have no category outside a run.
      if (!run_i) outside: assert (!active && !weight_shift && !weight_stall && !raw_stall && !input_stall);
      // A wait that meets a busy load is an input stall, any other one a raw stall.
      if (raw_stall || input_stall) stall_kind: assert (wait_i && input_stall == load_busy_i);
      // Every busy cycle is counted as a cycle and in exactly one of active, shift, stall and non-matrix.
      if (counting_q) partition: assert (moved[0] && 3'(moved[1]) + 3'(moved[2]) + 3'(moved[3]) + 3'(moved[4]) == 3'd1);
      // Raw and input stalls are parts of non-matrix.
      if (counting_q && (moved[5] || moved[6])) parts: assert (moved[4]);
      // Nothing is counted while not busy.
      if (idle_q) idle: assert (moved == '0);
      // Start clears all counters.
      if (cleared_q) cleared: assert (counters == '0);
    end
  end

endmodule
