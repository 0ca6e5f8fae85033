// SPDX-License-Identifier: Apache-2.0
//
// The vector engine's words of the trace record (model/beatmatch/trace.py); combinational, no state.
//
// The digest runs over phase, o, y, x, wy, wx, pending reads, valid flags of the stages, chunk (docs/timing.md, Vector).

module bm_vector_trace #(
    parameter int COLS    = 8,
    parameter int LANES   = 8,
    parameter int SP_AW   = 12,
    parameter int OP_AW   = 12,
    parameter int ROW_AW  = 5,
    parameter int TRACE_W = 32 * (6 + LANES / 4 + COLS / 4),
    parameter bit TRACE   = 1'b1
) (
    // verilator lint_off UNUSEDSIGNAL
    // Without TRACE nothing of this is used.
    input logic        issue_i,
    input logic [15:0] issue_seq_i,
    input logic [ 7:0] issue_outer_i,
    input logic        issue_last_i,

    input logic        retire_i,
    input logic [15:0] retire_seq_i,
    input logic [ 7:0] retire_outer_i,
    input logic        retire_last_i,

    input logic               arrive_i,
    input logic [  SP_AW-1:0] arrive_addr_i,
    input logic [8*LANES-1:0] arrive_data_i,

    input logic              param_read_i,
    input logic [ROW_AW-1:0] param_row_i,

    input logic              write_i,
    input logic [ OP_AW-1:0] write_operand_i,
    input logic [8*COLS-1:0] write_data_i,

    input logic [ 2:0] phase_i,
    input logic [ 7:0] outer_i,
    input logic [ 8:0] y_i,
    input logic [11:0] x_i,
    input logic [ 3:0] wy_i,
    input logic [ 3:0] wx_i,
    input logic [ 2:0] pending_i,
    input logic [ 5:0] valid_i,
    input logic [ 1:0] chunk_i,

    // verilator lint_on UNUSEDSIGNAL
    output logic [TRACE_W-1:0] trace_o
);
  if (TRACE) begin : gen_trace
    logic [          31:0] issue, retire, param_read, digest;
    logic [32+8*LANES-1:0] sp_read;
    logic [ 32+8*COLS-1:0] write;

    assign issue = issue_i ? {1'b1, 6'd0, issue_last_i, issue_outer_i, issue_seq_i} : '0;
    assign retire = retire_i ? {1'b1, 6'd0, retire_last_i, retire_outer_i, retire_seq_i} : '0;
    assign sp_read = arrive_i ? {arrive_data_i, 1'b1, 31'(arrive_addr_i)} : '0;
    assign param_read = param_read_i ? {1'b1, 31'(param_row_i)} : '0;
    assign write = write_i ? {write_data_i, 1'b1, 31'(write_operand_i)} : '0;
    assign digest = 32'(phase_i) + 32'd3 * 32'(outer_i) + 32'd5 * 32'(y_i) + 32'd7 * 32'(x_i) + 32'd9 * 32'(wy_i)
                  + 32'd11 * 32'(wx_i) + 32'd13 * 32'(pending_i) + 32'd15 * 32'(valid_i) + 32'd17 * 32'(chunk_i);

    assign trace_o = {digest, write, param_read, sp_read, retire, issue};
  end else begin : gen_no_trace
    assign trace_o = '0;
  end
endmodule
