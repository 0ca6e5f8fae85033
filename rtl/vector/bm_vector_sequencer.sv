// SPDX-License-Identifier: Apache-2.0
//
// Control of the vector engine: issue, outer iterations, parameter phase, one element per cycle.
//
// Phases:  idle -> param (-> second, for ADD with parameters) -> run -> (wait ->) param ... -> idle.
//          The parameter phase begins only when nothing is between request register and write register.
// Out:     elements to the request register when it is free; reads of the parameter memory; start of an iteration.
// Stalls:  waits for grants of semaphores, for the pipeline to empty, for the request register; rows of four chunks
//          keep their distance (docs/timing.md, Vector). halt_i freezes it.
// Errors:  LOCAL_RANGE instead of an element or a parameter read.
// Reset:   idle, counters zero.

module bm_vector_sequencer
  import bm_pkg::*;
#(
    parameter int COLS       = 8,
    parameter int LANES      = 8,
    parameter int SP_WORDS   = 4096,
    parameter int ACC_ROWS   = 256,
    parameter int PARAM_ROWS = 32,
    parameter int SRC_AW     = 12,
    parameter int OP_AW      = 12,

    // Derived; do not override.
    localparam int ROW_AW = $clog2(PARAM_ROWS)
) (
    input logic clk_i,
    input logic rst_ni,

    // Engine control
    input  logic               halt_i,
    input  logic               instr_valid_i,
    input  logic [INSTR_W-1:0] instr_i,
    input  logic [  SEQ_W-1:0] seq_i,
    output logic               wait_valid_o,
    output logic               wait_issue_o,
    output logic [       17:0] wait_sync_o,
    input  logic               wait_grant_i,
    output logic               err_valid_o,
    output logic [        7:0] err_code_o,
    output logic [  SEQ_W-1:0] err_seq_o,

    // To the context: begin an iteration with the running instruction
    output logic               start_o,
    output logic [INSTR_W-1:0] current_o,
    output logic [  SEQ_W-1:0] seq_o,
    output logic [        7:0] outer_o,
    output logic               outer_last_o,

    // To the parameter memory
    output logic              param_read_o,
    output logic              param_second_o,
    output logic              param_default_o,
    output logic [ROW_AW-1:0] param_row_o,

    // To and from the request register
    input  logic              pipe_empty_i,
    input  logic              request_free_i,
    input  logic              row_close_i,
    output logic              elem_valid_o,
    output logic              elem_sp_o,
    output logic              elem_acc_o,
    output logic              elem_second_o,
    output logic [SRC_AW-1:0] elem_src_o,
    output logic [ OP_AW-1:0] elem_src2_o,
    output logic [ OP_AW-1:0] elem_dst_o,
    output logic              elem_first_o,
    output logic              elem_last_o,
    output logic              elem_end_o,

    // Trace
    output logic        issue_last_o,
    output logic [ 2:0] phase_o,
    output logic [ 8:0] y_o,
    output logic [11:0] x_o,
    output logic [ 3:0] wy_o,
    output logic [ 3:0] wx_o
);
  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StWait = 3'd1;
  localparam logic [2:0] StParam = 3'd2;
  localparam logic [2:0] StSecond = 3'd3;
  localparam logic [2:0] StRun = 3'd4;

  logic [INSTR_W-1:0] instr_q;
  logic [  SEQ_W-1:0] seq_q;
  logic [        2:0] state_q, state_d;
  logic [        7:0] outer_q;
  logic [        8:0] y_q;
  logic [       11:0] x_q;
  logic [        3:0] wy_q, wx_q;

  // verilator lint_off UNUSEDSIGNAL
  instr_maxpool_t head;  // only the waits
  instr_maxpool_t now;   // the window fields count for the pools only
  // verilator lint_on UNUSEDSIGNAL

  logic pool, add, raw;
  logic issue, step, generate_elem, param_go;
  logic wx_end, wy_end, x_end, y_end, iteration_end;
  logic in_input, elem_range, param_range;
  logic [8:0] param_row;

  assign head = instr_i;
  assign now = instr_q;
  assign pool = now.opcode == OpMaxpool || now.opcode == OpAvgpool;
  assign add = now.opcode == OpAdd;
  assign raw = now.dst_format == FmtInt32;

  // Semaphores: the queue head's waits at issue, the instruction's own in further iterations.
  assign wait_issue_o = state_q == StIdle;
  assign wait_valid_o = (state_q == StIdle && instr_valid_i) || state_q == StWait;
  assign wait_sync_o = (state_q == StIdle)
                     ? {head.wait1_n, head.wait1_id, head.wait0_n, head.wait0_id}
                     : {now.wait1_n, now.wait1_id, now.wait0_n, now.wait0_id};
  assign issue = state_q == StIdle && wait_grant_i;
  assign issue_last_o = (state_q == StIdle) ? !head.each || head.outer == 8'd1 : outer_last_o;

  // Loops: window columns, window rows, output columns, output rows.
  assign wx_end = !pool || wx_q + 4'd1 == now.kx;
  assign wy_end = !pool || wy_q + 4'd1 == now.ky;
  assign x_end = x_q + 12'd1 == now.x;
  assign y_end = y_q + 9'd1 == now.y;
  assign iteration_end = wx_end && wy_end && x_end && y_end;
  assign outer_last_o = outer_q + 8'd1 == now.outer;

  // Elements
  assign generate_elem = state_q == StRun && !halt_i && request_free_i && !(raw && wx_end && wy_end && row_close_i);
  assign step = generate_elem && !elem_range;
  assign elem_valid_o = step;
  assign elem_sp_o = in_input && now.src_space != SpaceAccumulator;
  assign elem_acc_o = in_input && now.src_space == SpaceAccumulator;
  assign elem_second_o = add;
  assign elem_first_o = !pool || (wx_q == 4'd0 && wy_q == 4'd0);
  assign elem_last_o = wx_end && wy_end;
  assign elem_end_o = iteration_end;

  // Parameter phase
  assign param_go = !halt_i && ((state_q == StParam && pipe_empty_i) || state_q == StSecond);
  assign param_row = 9'(now.param) + (now.param_mode == 2'd2 ? 9'(outer_q) : 9'd0) + 9'(state_q == StSecond);
  assign param_range = now.param_mode != 2'd0 && param_row >= 9'(PARAM_ROWS);
  assign param_read_o = param_go && now.param_mode != 2'd0 && !param_range;
  assign param_second_o = param_read_o && state_q == StSecond;
  assign param_default_o = param_go && now.param_mode == 2'd0;
  assign param_row_o = param_row[ROW_AW-1:0];
  assign start_o = param_go && state_q == StParam && !param_range;

  assign err_valid_o = (generate_elem && elem_range) || (param_go && param_range);
  assign err_code_o = err_valid_o ? ErrLocalRange : ErrNone;
  assign err_seq_o = err_valid_o ? seq_q : '0;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: if (issue) state_d = StParam;
      StWait: if (wait_grant_i) state_d = StParam;
      StParam: if (start_o) state_d = (add && now.param_mode != 2'd0) ? StSecond : StRun;
      StSecond: if (param_read_o) state_d = StRun;
      default:
      if (step && iteration_end) begin
        if (outer_last_o) state_d = StIdle;
        else state_d = now.each ? StWait : StParam;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (issue) begin
      instr_q <= instr_i;
      seq_q   <= seq_i;
    end
    if (!rst_ni) begin
      state_q <= StIdle;
      outer_q <= '0;
      y_q     <= '0;
      x_q     <= '0;
      wy_q    <= '0;
      wx_q    <= '0;
    end else begin
      state_q <= state_d;
      if (step) begin
        wx_q <= wx_end ? '0 : wx_q + 4'd1;
        if (wx_end) wy_q <= wy_end ? '0 : wy_q + 4'd1;
        if (wx_end && wy_end) x_q <= x_end ? '0 : x_q + 12'd1;
        if (wx_end && wy_end && x_end) y_q <= y_end ? '0 : y_q + 9'd1;
        if (iteration_end) outer_q <= outer_last_o ? '0 : outer_q + 8'd1;
      end
    end
  end

  bm_vector_address #(
      .COLS(COLS),
      .LANES(LANES),
      .SP_WORDS(SP_WORDS),
      .ACC_ROWS(ACC_ROWS),
      .SRC_AW(SRC_AW),
      .OP_AW(OP_AW)
  ) u_address (
      .clk_i,
      .instr_i,
      .current_i(instr_q),
      .outer_i(outer_q),
      .pool_i(pool),
      .add_i(add),
      .raw_i(raw),
      .issue_i(issue),
      .start_i(start_o),
      .step_i(step),
      .wx_end_i(wx_end),
      .wy_end_i(wy_end),
      .x_end_i(x_end),
      .next_i(step && iteration_end),
      .src_o(elem_src_o),
      .src2_o(elem_src2_o),
      .dst_o(elem_dst_o),
      .inside_o(in_input),
      .range_error_o(elem_range)
  );

  assign current_o = instr_q;
  assign seq_o = seq_q;
  assign outer_o = outer_q;
  assign phase_o = state_q;
  assign y_o = y_q;
  assign x_o = x_q;
  assign wy_o = wy_q;
  assign wx_o = wx_q;
endmodule
