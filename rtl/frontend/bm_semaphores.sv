// SPDX-License-Identifier: Apache-2.0
//
// The 32 counters that order the engines: waits subtract, signals add one.
//
// Streams: five waits in, five grants out in the same cycle (slice engine-1); five signal registers in.
// Latency: a grant is a function of registers; its subtraction and a signal's addition are seen in the next cycle.
// Stalls:  a wait that is not granted stays presented.
// Halt:    nothing is granted; signals still count.
// Errors:  a sum above 255: the counter keeps 255.
// Reset:   all counters 0; the program's header loads them.

module bm_semaphores
  import bm_pkg::*;
#(
    parameter bit TRACE = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic halt_i,

    // From decode: byte i is the first value of counter i
    input logic                    header_valid_i,
    input logic [8*SEMAPHORES-1:0] header_i,

    // Engines
    input  logic [     4:0] wait_valid_i,
    input  logic [5*18-1:0] wait_sync_i,   // {wait1_n, wait1_id, wait0_n, wait0_id} each
    output logic [     4:0] wait_grant_o,
    input  logic [5*12-1:0] sig_i,         // {sig1_id, sig1_en, sig0_id, sig0_en} each

    output logic        overflow_o,
    output logic [31:0] digest_o
);

  logic [8*SEMAPHORES-1:0] count_q, count_d;
  logic [SEMAPHORES-1:0] over;

  // Signals to one counter in this cycle.
  function automatic logic [10:0] given(input logic [5*12-1:0] signals, input logic [4:0] id);
    logic [10:0] sum;
    sum = '0;
    for (int k = 0; k < 5; k++) begin
      if (signals[12*k] && signals[12*k+1+:5] == id) sum = sum + 11'd1;
      if (signals[12*k+6] && signals[12*k+7+:5] == id) sum = sum + 11'd1;
    end
    return sum;
  endfunction

  // What the granted waits take from one counter.
  function automatic logic [10:0] taken(input logic [4:0] granted, input logic [5*18-1:0] waits, input logic [4:0] id);
    logic [10:0] sum;
    sum = '0;
    for (int k = 0; k < 5; k++) begin
      if (granted[k] && waits[18*k+:5] == id) sum = sum + 11'(waits[18*k+5+:4]);
      if (granted[k] && waits[18*k+9+:5] == id) sum = sum + 11'(waits[18*k+14+:4]);
    end
    return sum;
  endfunction

  function automatic logic [31:0] digest(input logic [8*SEMAPHORES-1:0] counts);
    logic [31:0] sum;
    sum = '0;
    for (int s = 0; s < SEMAPHORES; s++) sum = sum + 32'(2 * s + 1) * 32'(counts[8*s+:8]);
    return sum;
  endfunction

  // Grants: both counters high enough.
  for (genvar k = 0; k < 5; k++) begin : gen_grants
    logic [4:0] id0, id1;
    logic [3:0] n0, n1;
    assign {n1, id1, n0, id0} = wait_sync_i[18*k+:18];
    assign wait_grant_o[k] = wait_valid_i[k] && !halt_i && count_q[{id0, 3'd0}+:8] >= 8'(n0)
        && count_q[{id1, 3'd0}+:8] >= 8'(n1);
  end

  // Next values: exact sums (at most 10 signals and 5 pairs of waits), then clamped.
  for (genvar s = 0; s < SEMAPHORES; s++) begin : gen_counters
    logic [10:0] up, down;
    assign up = 11'(count_q[8*s+:8]) + given(sig_i, 5'(s));
    assign down = taken(wait_grant_o, wait_sync_i, 5'(s));
    assign over[s] = up > down + 11'd255;
    assign count_d[8*s+:8] = over[s] ? 8'd255 : (up < down) ? 8'd0 : 8'(up - down);
  end

  assign overflow_o = over != '0 && !halt_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= '0;
    else if (header_valid_i) count_q <= header_i;
    else count_q <= count_d;
  end

  if (TRACE) begin : gen_digest
    assign digest_o = digest(count_q);
  end else begin : gen_no_digest
    assign digest_o = '0;
  end

endmodule
