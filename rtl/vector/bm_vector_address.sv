// SPDX-License-Identifier: Apache-2.0
//
// Addresses of the vector engine's elements, by addition only: sources of windows, second operand, destination.
//
// Loaded:  issue_i takes the bases from the instruction that issues; start_i begins an iteration; step_i goes to the next
//          element (end flags say which loops end with it), next_i (with the last step) to the next outer iteration.
// Out:     the current element: its addresses, whether it is padding, whether an address is out of range.
// Reset:   none needed: nothing counts before issue and start.

module bm_vector_address
  import bm_pkg::*;
#(
    parameter int COLS     = 8,
    parameter int LANES    = 8,
    parameter int SP_WORDS = 4096,
    parameter int ACC_ROWS = 256,
    parameter int SRC_AW   = 12,   // wide enough for an operand and an accumulator row
    parameter int OP_AW    = 12    // bits of a column operand's address
) (
    input logic clk_i,

    input logic [INSTR_W-1:0] instr_i,    // queue head, counts with issue_i
    input logic [INSTR_W-1:0] current_i,  // the instruction that runs
    input logic [        7:0] outer_i,    // its outer index
    input logic               pool_i,
    input logic               add_i,
    input logic               raw_i,

    input logic issue_i,
    input logic start_i,
    input logic step_i,
    input logic wx_end_i,  // the element is the last of its window row,
    input logic wy_end_i,  // ... and of its window,
    input logic x_end_i,   // ... and of its output row's line
    input logic next_i,

    output logic [SRC_AW-1:0] src_o,
    output logic [ OP_AW-1:0] src2_o,
    output logic [ OP_AW-1:0] dst_o,
    output logic              inside_o,
    output logic              range_error_o
);
  localparam int SP_OPERANDS = SP_WORDS * (LANES / COLS);
  localparam logic signed [33:0] OPERANDS = 34'(SP_OPERANDS);

  // verilator lint_off UNUSEDSIGNAL
  instr_maxpool_t head;  // only the bases
  instr_maxpool_t now;   // the fields of addressing
  instr_add_t     now_add;  // its second source
  // verilator lint_on UNUSEDSIGNAL

  logic signed [33:0] src_outer_q;  // first source of the iteration
  logic signed [33:0] src_y_q;      // window origin at (y, 0)
  logic signed [33:0] src_x_q;      // window origin at (y, x)
  logic signed [33:0] src_wy_q;     // window row (y, x, wy)
  logic signed [33:0] src_q;        // element
  logic signed [33:0] dst_outer_q;  // offset of the iteration's first row
  logic signed [33:0] dst_q;        // offset of the output row
  logic signed [13:0] iy_y_q, iy_q;
  logic signed [16:0] ix_x_q, ix_wx_q;

  logic signed [33:0] origin;
  logic signed [33:0] step_y, step_x, step_wy, step_wx;
  logic signed [33:0] src_y_next, src_x_next;
  logic signed [33:0] dst, src2;
  logic        [ 7:0] outer_next;
  logic               src_wraps, dst_wraps;

  assign head = instr_i;
  assign now = current_i;
  assign now_add = current_i;

  // Steps between neighbours; a window's origin starts above and left of the input by the padding.
  assign step_wx = 34'(now.src_pitch_x);
  assign step_wy = 34'(now.src_pitch_y);
  assign step_x = pool_i ? 34'(now.stride_x) * 34'(now.src_pitch_x) : 34'(now.src_pitch_x);
  assign step_y = pool_i ? 34'(now.stride_y) * 34'(now.src_pitch_y) : 34'(now.src_pitch_y);
  assign origin = pool_i ? 34'(now.pad_top) * 34'(now.src_pitch_y) + 34'(now.pad_left) * 34'(now.src_pitch_x) : 34'sd0;

  assign src_y_next = src_y_q + step_y;
  assign src_x_next = src_x_q + step_x;
  assign outer_next = outer_i + 8'd1;
  assign src_wraps = now.src_ring != 2'd0 && (outer_next & ((8'd1 << now.src_ring) - 8'd1)) == 8'd0;
  assign dst_wraps = now.dst_ring != 2'd0 && (outer_next & ((8'd1 << now.dst_ring) - 8'd1)) == 8'd0;

  always_ff @(posedge clk_i) begin
    if (issue_i) begin
      src_outer_q <= 34'(head.src);
      dst_outer_q <= '0;
    end else if (next_i) begin
      src_outer_q <= src_wraps ? 34'(now.src) : src_outer_q + 34'(now.src_outer_stride);
      dst_outer_q <= dst_wraps ? 34'sd0 : dst_outer_q + 34'(now.dst_outer_stride);
    end

    if (start_i) begin
      src_y_q  <= src_outer_q - origin;
      src_x_q  <= src_outer_q - origin;
      src_wy_q <= src_outer_q - origin;
      src_q    <= src_outer_q - origin;
      dst_q    <= dst_outer_q;
      iy_y_q   <= pool_i ? -14'(now.pad_top) : 14'sd0;
      iy_q     <= pool_i ? -14'(now.pad_top) : 14'sd0;
      ix_x_q   <= pool_i ? -17'(now.pad_left) : 17'sd0;
      ix_wx_q  <= pool_i ? -17'(now.pad_left) : 17'sd0;
    end else if (step_i) begin
      if (!wx_end_i) begin
        src_q   <= src_q + step_wx;
        ix_wx_q <= ix_wx_q + 17'sd1;
      end else if (!wy_end_i) begin
        src_wy_q <= src_wy_q + step_wy;
        src_q    <= src_wy_q + step_wy;
        ix_wx_q  <= ix_x_q;
        iy_q     <= iy_q + 14'sd1;
      end else begin
        dst_q <= dst_q + 34'(now.dst_pitch);
        if (!x_end_i) begin
          src_x_q  <= src_x_next;
          src_wy_q <= src_x_next;
          src_q    <= src_x_next;
          ix_x_q   <= ix_x_q + 17'(now.stride_x);
          ix_wx_q  <= ix_x_q + 17'(now.stride_x);
          iy_q     <= iy_y_q;
        end else begin
          src_y_q  <= src_y_next;
          src_x_q  <= src_y_next;
          src_wy_q <= src_y_next;
          src_q    <= src_y_next;
          ix_x_q   <= -17'(now.pad_left);
          ix_wx_q  <= -17'(now.pad_left);
          iy_y_q   <= iy_y_q + 14'(now.stride_y);
          iy_q     <= iy_y_q + 14'(now.stride_y);
        end
      end
    end
  end

  assign inside_o = !pool_i || (iy_q >= 14'sd0 && iy_q < 14'(now.height) && ix_wx_q >= 17'sd0 && ix_wx_q < 17'(now.width));
  assign dst = 34'(now.dst) + dst_q;
  assign src2 = 34'(now_add.src2) + dst_q;
  assign src_o = src_q[SRC_AW-1:0];
  assign src2_o = src2[OP_AW-1:0];
  assign dst_o = dst[OP_AW-1:0];

  assign range_error_o = dst + (raw_i ? 34'sd3 : 34'sd0) >= OPERANDS
                       || (add_i && src2 >= OPERANDS)
                       || (inside_o && src_q >= ((now.src_space == SpaceAccumulator) ? 34'(ACC_ROWS) : OPERANDS));
endmodule
