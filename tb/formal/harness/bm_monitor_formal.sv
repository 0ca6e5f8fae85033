// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_monitor: the first error wins and stays, deadlock needs 16 cycles of it, done means done.

module bm_monitor_formal
  import bm_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        run_i,
  input logic [31:0] prog_len_i,
  input logic [31:0] cycle_limit_i,
  input logic [63:0] cycles_i,
  input logic        program_error_i,
  input logic        decode_error_i,
  input logic [ 7:0] decode_code_i,
  input logic        overflow_i,
  input logic        bus_error_i,
  input logic        bus_decode_i,
  input logic [15:0] bus_seq_i,
  input logic        fetch_pending_i,
  input logic [31:0] dispatched_i,
  input logic        blocked_i,
  input logic [ 4:0] instr_valid_i,
  input logic [ 4:0] signalling_i,
  input logic [ 4:0] err_valid_i,
  input logic [39:0] err_code_i,
  input logic [79:0] err_seq_i,
  input logic [ 4:0] busy_i,
  input logic [ 4:0] pending_i,
  input logic [ 4:0] stuck_i,
  input logic [79:0] stuck_seq_i
);

  logic halt, error_valid, done_set;
  logic [7:0] code;
  logic [3:0] engine;
  logic [15:0] seq;

  bm_monitor u_dut (
    .clk_i,
    .rst_ni,
    .run_i,
    .prog_len_i,
    .cycle_limit_i,
    .cycles_i,
    .program_error_i,
    .decode_error_i,
    .decode_code_i,
    .overflow_i,
    .bus_error_i,
    .bus_decode_i,
    .bus_seq_i,
    .fetch_pending_i,
    .dispatched_i,
    .blocked_i,
    .instr_valid_i,
    .signalling_i,
    .err_valid_i,
    .err_code_i,
    .err_seq_i,
    .busy_i,
    .pending_i,
    .stuck_i,
    .stuck_seq_i,
    .halt_o        (halt),
    .error_valid_o (error_valid),
    .error_code_o  (code),
    .error_engine_o(engine),
    .error_seq_o   (seq),
    .done_set_o    (done_set)
  );

  // Nobody can go on: each engine is stuck or has nothing to do, one is stuck, and no signal is on its way.
  logic locked, told, limit;
  logic [4:0] locked_q;   // for how many cycles, at most 16
  logic halt_q, told_q, program_q, limit_q, any_q, deadlocked_q, engine_q;
  logic [27:0] error_q;
  logic [15:0] first_seq_q;

  assign locked = run_i && !halt && (dispatched_i == prog_len_i || blocked_i) && stuck_i != '0 && signalling_i == '0
      && ((busy_i | instr_valid_i) & ~stuck_i) == '0;
  assign limit = run_i && cycle_limit_i != '0 && cycles_i == 64'(cycle_limit_i);
  assign told = program_error_i || decode_error_i || overflow_i || bus_error_i || err_valid_i != '0;

  always_ff @(posedge clk_i) begin
    halt_q       <= rst_ni && halt;
    told_q       <= rst_ni && told && !halt;
    any_q        <= rst_ni && !halt && (told || limit || (locked && locked_q >= 5'd15));
    program_q    <= rst_ni && program_error_i && !halt;
    limit_q      <= rst_ni && limit && !halt;
    deadlocked_q <= rst_ni && locked && locked_q >= 5'd15 && !told;
    engine_q     <= rst_ni && !halt && err_valid_i[0] && !(program_error_i || decode_error_i || overflow_i || bus_error_i
        || limit || locked);
    first_seq_q  <= err_seq_i[15:0];
    error_q      <= {code, engine, seq};
    if (!rst_ni) locked_q <= '0;
    else locked_q <= !locked ? '0 : locked_q == 5'd16 ? 5'd16 : locked_q + 5'd1;
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The run is halted from the cycle after an error on, until the reset.
      if (told_q || halt_q) halts: assert (halt);
      // Nothing but an error, the limit, or a deadlock halts.
      if (halt && !halt_q) reason: assert (any_q);
      // The first error stays: later ones change nothing.
      if (halt_q) first_stays: assert ({code, engine, seq} == error_q && !error_valid);
      // The error shows for one cycle, the first of the halt.
      error_once: assert (error_valid == (halt && !halt_q));
      // A bad program goes before all other errors of its cycle.
      if (program_q) program_first: assert (code == ErrProgram && engine == EngFrontend && seq == '0);
      // The cycle limit halts.
      if (limit_q) limit_halts: assert (halt);
      // Sixteen cycles without anybody able to go on are a deadlock.
      if (deadlocked_q) deadlock: assert (halt && code == ErrDeadlock);
      // A deadlock is never raised earlier.
      if (error_valid && code == ErrDeadlock && !told_q) patience: assert (deadlocked_q || any_q);
      // An error of load alone is reported as it was raised.
      if (engine_q) load_error: assert (engine == EngLoad && seq == first_seq_q);
      // A run that ends without an error has dispatched everything and nobody is busy.
      if (done_set && !halt) done: assert (dispatched_i == prog_len_i && instr_valid_i == '0 && busy_i == '0 && run_i);
      // A halted run ends only when nothing is pending.
      if (done_set && halt) done_halted: assert (pending_i == '0 && !fetch_pending_i);
    end
  end

endmodule
