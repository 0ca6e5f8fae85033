// SPDX-License-Identifier: Apache-2.0
//
// Watches a run: keeps the first error, halts the engines, finds deadlocks, and says when the run is over.
//
// Streams: errors, busy, pending and stuck of the engines (bit or slice engine-1) and of the frontend in; halt, the
//          error register and the end of the run out.
// Latency: an error of cycle t is registered, and halt_o is 1, in t+1; done_set_o is combinational in the last cycle.
// Stalls:  none.
// Reset:   no error, no halt.
// Order:   of errors in one cycle: frontend (program, decode, semaphores, bus, deadlock, limit), load .. store.

module bm_monitor
  import bm_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    // From host
    input logic        run_i,
    input logic [31:0] prog_len_i,
    input logic [31:0] cycle_limit_i,
    input logic [63:0] cycles_i,

    // From the frontend
    input logic        program_error_i,
    input logic        decode_error_i,
    input logic [ 7:0] decode_code_i,
    input logic        overflow_i,
    input logic        bus_error_i,
    input logic        bus_decode_i,
    input logic [15:0] bus_seq_i,
    input logic        fetch_pending_i,
    input logic [31:0] dispatched_i,     // also the sequence number of the instruction in decode
    input logic        blocked_i,        // decode waits for room in a queue
    input logic [ 4:0] instr_valid_i,

    // From the engines
    input logic [     4:0] signalling_i,
    input logic [     4:0] err_valid_i,
    input logic [ 5*8-1:0] err_code_i,
    input logic [5*16-1:0] err_seq_i,
    input logic [     4:0] busy_i,
    input logic [     4:0] pending_i,
    input logic [     4:0] stuck_i,
    input logic [5*16-1:0] stuck_seq_i,

    // To host and engines
    output logic        halt_o,
    output logic        error_valid_o,   // one cycle
    output logic [ 7:0] error_code_o,
    output logic [ 3:0] error_engine_o,
    output logic [15:0] error_seq_o,
    output logic        done_set_o
);

  localparam logic [3:0] PATIENCE = 4'd15;  // cycles of deadlock before the one that raises it

  logic halt_q, new_q;
  logic [27:0] error_q;  // {code, engine, seq}
  logic [3:0] still_q;

  logic raised, front, all_dispatched, still, deadlock, limit;
  logic [27:0] error;
  logic [19:0] stuck;  // {engine, seq} of the first stuck engine

  always_comb begin
    stuck = '0;
    for (int k = 4; k >= 0; k--) if (stuck_i[k]) stuck = {4'(k + 1), stuck_seq_i[16*k+:16]};
  end

  always_comb begin
    all_dispatched = dispatched_i == prog_len_i;
    still = run_i && !halt_q && (all_dispatched || blocked_i) && stuck_i != '0 && signalling_i == '0
        && (stuck_i | ~(busy_i | instr_valid_i)) == '1;
    deadlock = still && still_q == PATIENCE;
    limit = run_i && !halt_q && cycle_limit_i != '0 && cycles_i == 64'(cycle_limit_i);

    front = program_error_i || decode_error_i || overflow_i || bus_error_i || deadlock || limit;
    raised = front || err_valid_i != '0;
    error = '0;
    for (int k = 4; k >= 0; k--) if (err_valid_i[k]) error = {err_code_i[8*k+:8], 4'(k + 1), err_seq_i[16*k+:16]};
    if (limit) error = {ErrCycleLimit, EngFrontend, 16'd0};
    if (deadlock) error = {ErrDeadlock, stuck};
    if (bus_error_i) error = {bus_decode_i ? ErrBusDecerr : ErrBusSlverr, EngFrontend, bus_seq_i};
    if (overflow_i) error = {ErrSemaphoreOverflow, EngFrontend, 16'd0};
    if (decode_error_i) error = {decode_code_i, EngFrontend, dispatched_i[15:0]};
    if (program_error_i) error = {ErrProgram, EngFrontend, 16'd0};

    if (halt_q) done_set_o = run_i && !fetch_pending_i && pending_i == '0;
    else done_set_o = run_i && !front && all_dispatched && instr_valid_i == '0 && busy_i == '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      halt_q  <= 1'b0;
      new_q   <= 1'b0;
      error_q <= '0;
      still_q <= '0;
    end else begin
      new_q <= raised && !halt_q;
      if (raised && !halt_q) begin
        halt_q  <= 1'b1;
        error_q <= error;
      end
      still_q <= still ? still_q + 4'd1 : 4'd0;
    end
  end

  assign halt_o = halt_q;
  assign error_valid_o = new_q;
  assign {error_code_o, error_engine_o, error_seq_o} = error_q;

endmodule
