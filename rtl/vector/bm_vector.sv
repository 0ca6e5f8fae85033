// SPDX-License-Identifier: Apache-2.0
//
// The vector engine, wiring only: requantisation, addition and pooling of rows of COLS channels.
//
// Streams: sequencer -> request register and operand capture -> pipeline of lanes -> write register -> scratchpad.
//          Parameters come from the parameter memory, which load writes through the par_ ports.
// Latency: docs/timing.md, Vector: a row whose last read is granted in q is written from q+5 on.
// Stalls:  reads wait for their grants; writes are always granted; semaphores hold issue and further iterations.
// Reset:   everything but the parameter memory.

module bm_vector
  import bm_pkg::*;
#(
    parameter int ROWS       = 8,     // 4..256, power of two
    parameter int COLS       = 8,     // 4..256, power of two
    parameter int SP_WORDS   = 4096,  // in all banks
    parameter int ACC_ROWS   = 256,   // in all banks
    parameter int PARAM_ROWS = 32,    // 4..128, power of two
    parameter int TRACE_W    = 32 * (6 + ((ROWS > COLS) ? ROWS : COLS) / 4 + COLS / 4),
    parameter bit TRACE      = 1'b1,

    // Derived; do not override.
    localparam int LANES  = (ROWS > COLS) ? ROWS : COLS,
    localparam int SP_AW  = $clog2(SP_WORDS),
    localparam int ACC_AW = $clog2(ACC_ROWS),
    localparam int PAR_AW = $clog2(PARAM_ROWS * 8 * COLS / LANES)
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
    output logic [       11:0] sig_o,
    output logic               err_valid_o,
    output logic [        7:0] err_code_o,
    output logic [  SEQ_W-1:0] err_seq_o,
    output logic               busy_o,
    output logic               pending_o,
    output logic               stuck_o,
    output logic [  SEQ_W-1:0] stuck_seq_o,

    // Scratchpad
    output logic               sp_req_valid_o,
    output logic [  SP_AW-1:0] sp_req_addr_o,
    input  logic               sp_grant_i,
    input  logic [8*LANES-1:0] sp_rdata_i,
    output logic               sp_wvalid_o,
    output logic [  SP_AW-1:0] sp_waddr_o,
    output logic [  LANES-1:0] sp_wenable_o,
    output logic [8*LANES-1:0] sp_wdata_o,

    // Accumulators
    output logic               acc_req_valid_o,
    output logic [ ACC_AW-1:0] acc_req_addr_o,
    input  logic               acc_grant_i,
    input  logic [32*COLS-1:0] acc_rdata_i,

    // Parameters, from load
    input logic               par_wvalid_i,
    input logic [ PAR_AW-1:0] par_waddr_i,
    input logic [  LANES-1:0] par_wenable_i,
    input logic [8*LANES-1:0] par_wdata_i,

    output logic [TRACE_W-1:0] trace_o
);
  localparam int OP_AW = SP_AW + $clog2(LANES / COLS);
  localparam int SRC_AW = (OP_AW > ACC_AW) ? OP_AW : ACC_AW;
  localparam int ROW_AW = $clog2(PARAM_ROWS);

  // Sequencer, and what retires
  logic               start;
  logic [INSTR_W-1:0] current;
  logic [  SEQ_W-1:0] seq, retire_seq;
  logic [        7:0] outer, retire_outer;
  logic               outer_last, issue_last, retire, retire_last;
  logic [        2:0] phase;
  logic [        8:0] y;
  logic [       11:0] x;
  logic [        3:0] wy, wx;

  // Parameter memory
  logic               param_read, param_second, param_default;
  logic [ ROW_AW-1:0] param_row;
  logic [64*COLS-1:0] params;
  logic [24*COLS-1:0] multiplier_b;

  // Elements and operands
  logic               elem_valid, elem_sp, elem_acc, elem_second, elem_first, elem_last, elem_end;
  logic [ SRC_AW-1:0] elem_src;
  logic [  OP_AW-1:0] elem_src2, elem_dst;
  logic               request_free, row_close, request_valid;
  logic [        2:0] pending;
  logic               data_valid, data_first, data_last, data_end;
  logic [  OP_AW-1:0] data_dst;
  logic [32*COLS-1:0] a;
  logic [ 8*COLS-1:0] b;
  logic               arrive;
  logic [  SP_AW-1:0] arrive_addr;

  // Context, pipeline, write register
  logic               add, max, raw;
  logic [        7:0] zero_point, clip_low, clip_high;
  logic               biased_valid, product_valid, scaled_valid, scaled_end, write_end, pipe_empty;
  logic [  OP_AW-1:0] scaled_dst;
  logic [32*COLS-1:0] result;
  logic [        1:0] chunk;
  logic [  OP_AW-1:0] write_operand;
  logic [ 8*COLS-1:0] write_data;

  assign pipe_empty = !(request_valid || data_valid || biased_valid || product_valid || scaled_valid || sp_wvalid_o);
  assign pending_o = !pipe_empty;
  assign busy_o = phase != 3'd0 || !pipe_empty || retire;
  assign stuck_o = pipe_empty && wait_valid_o && !wait_grant_i && !(wait_issue_o && retire);
  assign stuck_seq_o = wait_issue_o ? seq_i : seq;

  bm_vector_sequencer #(
      .COLS(COLS),
      .LANES(LANES),
      .SP_WORDS(SP_WORDS),
      .ACC_ROWS(ACC_ROWS),
      .PARAM_ROWS(PARAM_ROWS),
      .SRC_AW(SRC_AW),
      .OP_AW(OP_AW)
  ) u_sequencer (
      .clk_i,
      .rst_ni,
      .halt_i,
      .instr_valid_i,
      .instr_i,
      .seq_i,
      .wait_valid_o,
      .wait_issue_o,
      .wait_sync_o,
      .wait_grant_i,
      .err_valid_o,
      .err_code_o,
      .err_seq_o,
      .start_o(start),
      .current_o(current),
      .seq_o(seq),
      .outer_o(outer),
      .outer_last_o(outer_last),
      .param_read_o(param_read),
      .param_second_o(param_second),
      .param_default_o(param_default),
      .param_row_o(param_row),
      .pipe_empty_i(pipe_empty),
      .request_free_i(request_free),
      .row_close_i(row_close),
      .elem_valid_o(elem_valid),
      .elem_sp_o(elem_sp),
      .elem_acc_o(elem_acc),
      .elem_second_o(elem_second),
      .elem_src_o(elem_src),
      .elem_src2_o(elem_src2),
      .elem_dst_o(elem_dst),
      .elem_first_o(elem_first),
      .elem_last_o(elem_last),
      .elem_end_o(elem_end),
      .issue_last_o(issue_last),
      .phase_o(phase),
      .y_o(y),
      .x_o(x),
      .wy_o(wy),
      .wx_o(wx)
  );

  bm_vector_params #(
      .COLS(COLS),
      .LANES(LANES),
      .PARAM_ROWS(PARAM_ROWS)
  ) u_params (
      .clk_i,
      .par_wvalid_i,
      .par_waddr_i,
      .par_wenable_i,
      .par_wdata_i,
      .read_i(param_read),
      .second_i(param_second),
      .default_i(param_default),
      .row_i(param_row),
      .params_o(params),
      .multiplier_b_o(multiplier_b)
  );

  bm_vector_operands #(
      .COLS(COLS),
      .LANES(LANES),
      .SP_AW(SP_AW),
      .ACC_AW(ACC_AW)
  ) u_operands (
      .clk_i,
      .rst_ni,
      .elem_valid_i(elem_valid),
      .elem_sp_i(elem_sp),
      .elem_acc_i(elem_acc),
      .elem_second_i(elem_second),
      .elem_src_i(elem_src),
      .elem_src2_i(elem_src2),
      .elem_dst_i(elem_dst),
      .elem_first_i(elem_first),
      .elem_last_i(elem_last),
      .elem_end_i(elem_end),
      .request_free_o(request_free),
      .row_close_o(row_close),
      .request_valid_o(request_valid),
      .pending_o(pending),
      .sp_req_valid_o,
      .sp_req_addr_o,
      .sp_grant_i,
      .sp_rdata_i,
      .acc_req_valid_o,
      .acc_req_addr_o,
      .acc_grant_i,
      .acc_rdata_i,
      .max_i(max),
      .data_valid_o(data_valid),
      .data_first_o(data_first),
      .data_last_o(data_last),
      .data_end_o(data_end),
      .data_dst_o(data_dst),
      .a_o(a),
      .b_o(b),
      .arrive_o(arrive),
      .arrive_addr_o(arrive_addr)
  );

  bm_vector_context u_context (
      .clk_i,
      .rst_ni,
      .halt_i,
      .start_i(start),
      .current_i(current),
      .seq_i(seq),
      .outer_i(outer),
      .outer_last_i(outer_last),
      .add_o(add),
      .max_o(max),
      .raw_o(raw),
      .zero_point_o(zero_point),
      .clip_low_o(clip_low),
      .clip_high_o(clip_high),
      .end_i(write_end),
      .sig_o,
      .retire_o(retire),
      .retire_seq_o(retire_seq),
      .retire_outer_o(retire_outer),
      .retire_last_o(retire_last)
  );

  bm_vector_pipeline #(
      .COLS(COLS),
      .OP_AW(OP_AW)
  ) u_pipeline (
      .clk_i,
      .rst_ni,
      .add_i(add),
      .max_i(max),
      .raw_i(raw),
      .zero_point_i(zero_point),
      .clip_low_i(clip_low),
      .clip_high_i(clip_high),
      .params_i(params),
      .multiplier_b_i(multiplier_b),
      .data_valid_i(data_valid),
      .data_first_i(data_first),
      .data_last_i(data_last),
      .data_end_i(data_end),
      .data_dst_i(data_dst),
      .a_i(a),
      .b_i(b),
      .biased_valid_o(biased_valid),
      .product_valid_o(product_valid),
      .scaled_valid_o(scaled_valid),
      .scaled_end_o(scaled_end),
      .scaled_dst_o(scaled_dst),
      .result_o(result)
  );

  bm_vector_write #(
      .COLS(COLS),
      .LANES(LANES),
      .SP_AW(SP_AW)
  ) u_write (
      .clk_i,
      .rst_ni,
      .raw_i(raw),
      .scaled_valid_i(scaled_valid),
      .scaled_end_i(scaled_end),
      .scaled_dst_i(scaled_dst),
      .result_i(result),
      .sp_wvalid_o,
      .sp_waddr_o,
      .sp_wenable_o,
      .sp_wdata_o,
      .end_o(write_end),
      .chunk_o(chunk),
      .operand_o(write_operand),
      .data_o(write_data)
  );

  bm_vector_trace #(
      .COLS(COLS),
      .LANES(LANES),
      .SP_AW(SP_AW),
      .OP_AW(OP_AW),
      .ROW_AW(ROW_AW),
      .TRACE_W(TRACE_W),
      .TRACE(TRACE)
  ) u_trace (
      .issue_i(wait_grant_i),
      .issue_seq_i(wait_issue_o ? seq_i : seq),
      .issue_outer_i(outer),
      .issue_last_i(issue_last),
      .retire_i(retire),
      .retire_seq_i(retire_seq),
      .retire_outer_i(retire_outer),
      .retire_last_i(retire_last),
      .arrive_i(arrive),
      .arrive_addr_i(arrive_addr),
      .arrive_data_i(sp_rdata_i),
      .param_read_i(param_read),
      .param_row_i(param_row),
      .write_i(sp_wvalid_o),
      .write_operand_i(write_operand),
      .write_data_i(write_data),
      .phase_i(phase),
      .outer_i(outer),
      .y_i(y),
      .x_i(x),
      .wy_i(wy),
      .wx_i(wx),
      .pending_i(pending),
      .valid_i({sp_wvalid_o, scaled_valid, product_valid, biased_valid, data_valid, request_valid}),
      .chunk_i(chunk),
      .trace_o
  );
endmodule
