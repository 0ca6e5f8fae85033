// SPDX-License-Identifier: Apache-2.0
//
// Where the current row of a matmul stands: its activation operand, whether it is padding, its accumulator row.
//
// One register per loop level holds the address of that level's start; a step adds one stride to the level that
// advances and copies the sum into all deeper levels, so there is one adder and no product in the loop.
// load_i takes the instruction's first row; advance_i is one-hot per row generated, innermost loop at bit 0:
// x, y, kc, kx, ky, outer. Widths are exact: no sum ever wraps. Reset: all 0.

module bm_matmul_walk
  import bm_pkg::*;
#(
  parameter int ROWS     = 8,
  parameter int COLS     = 8,
  parameter int SP_WORDS = 4096,
  parameter int ACC_ROWS = 256,
  localparam int ACC_AW  = $clog2(ACC_ROWS)
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          load_i,
  // not all fields of an instruction matter here
  // verilator lint_off UNUSEDSIGNAL
  input  instr_matmul_t head_i,     // with load_i
  input  instr_matmul_t instr_i,    // the running instruction
  // verilator lint_on UNUSEDSIGNAL
  input  logic [   2:0] outer_i,    // its current iteration, modulo 8
  input  logic [   5:0] advance_i,
  // the current row
  output logic          pad_o,
  output logic          range_o,    // operand or accumulator row out of range
  output logic [  31:0] operand_o,
  output logic [ACC_AW-1:0] acc_o
);

  localparam int LANES = (ROWS > COLS) ? ROWS : COLS;
  localparam logic signed [31:0] OPERANDS = 32'(SP_WORDS * (LANES / ROWS));

  // addresses at the start of: the first iteration, the current iteration, ky, kx, kc, y; and of the row
  logic signed [31:0] first_q, outer_q, ky_q, kx_q, kc_q, y_q, row_q;
  logic signed [31:0] first, step, from, next;
  // input position; the kx / ky register holds it at the start of the current kernel column / row
  logic signed [15:0] ix_q, ix_kx_q, iy_q, iy_ky_q, left, top;
  logic [23:0] acc_q, acc_outer_q, acc_outer_next;
  logic [2:0] count;
  logic src_wraps, acc_wraps;

  assign left = -16'($signed({1'b0, head_i.pad_left}));
  assign top = -16'($signed({1'b0, head_i.pad_top}));
  assign first = 32'($signed({1'b0, head_i.src})) + 32'(top) * 32'($signed({1'b0, head_i.src_pitch_y}))
      + 32'(left) * 32'($signed({1'b0, head_i.src_pitch_x}));

  assign count = outer_i + 3'd1;
  assign src_wraps = instr_i.src_ring != 2'd0 && (count & ~(3'b111 << instr_i.src_ring)) == '0;
  assign acc_wraps = instr_i.acc_ring != 2'd0 && (count & ~(3'b111 << instr_i.acc_ring)) == '0;
  assign acc_outer_next = acc_wraps ? 24'(instr_i.acc) : acc_outer_q + 24'(instr_i.acc_outer_stride);

  always_comb begin
    from = row_q;
    step = 32'(instr_i.stride_x) * 32'(instr_i.src_pitch_x);
    if (advance_i[1]) begin
      from = y_q;
      step = 32'(instr_i.stride_y) * 32'(instr_i.src_pitch_y);
    end
    if (advance_i[2]) begin
      from = kc_q;
      step = 32'(instr_i.src_kc_stride);
    end
    if (advance_i[3]) begin
      from = kx_q;
      step = (32'(instr_i.dilation_x) + 32'd1) * 32'(instr_i.src_pitch_x);
    end
    if (advance_i[4]) begin
      from = ky_q;
      step = (32'(instr_i.dilation_y) + 32'd1) * 32'(instr_i.src_pitch_y);
    end
    if (advance_i[5]) begin
      from = src_wraps ? first_q : outer_q;
      step = src_wraps ? '0 : 32'(instr_i.src_outer_stride);
    end
    next = load_i ? first : from + step;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {first_q, outer_q, ky_q, kx_q, kc_q, y_q, row_q} <= '0;
      {ix_q, ix_kx_q, iy_q, iy_ky_q} <= '0;
      {acc_q, acc_outer_q} <= '0;
    end else begin
      if (load_i) first_q <= next;
      if (load_i || advance_i[5]) outer_q <= next;
      if (load_i || |advance_i[5:4]) ky_q <= next;
      if (load_i || |advance_i[5:3]) kx_q <= next;
      if (load_i || |advance_i[5:2]) kc_q <= next;
      if (load_i || |advance_i[5:1]) y_q <= next;
      if (load_i || |advance_i) row_q <= next;

      if (advance_i[0]) ix_q <= ix_q + 16'(instr_i.stride_x);
      if (|advance_i[2:1]) ix_q <= ix_kx_q;
      if (advance_i[3]) begin
        ix_q    <= ix_kx_q + 16'(instr_i.dilation_x) + 16'd1;
        ix_kx_q <= ix_kx_q + 16'(instr_i.dilation_x) + 16'd1;
      end
      if (|advance_i[5:4]) begin
        ix_q    <= -16'(instr_i.pad_left);
        ix_kx_q <= -16'(instr_i.pad_left);
      end
      if (advance_i[1]) iy_q <= iy_q + 16'(instr_i.stride_y);
      if (|advance_i[3:2]) iy_q <= iy_ky_q;
      if (advance_i[4]) begin
        iy_q    <= iy_ky_q + 16'(instr_i.dilation_y) + 16'd1;
        iy_ky_q <= iy_ky_q + 16'(instr_i.dilation_y) + 16'd1;
      end
      if (advance_i[5]) begin
        iy_q    <= -16'(instr_i.pad_top);
        iy_ky_q <= -16'(instr_i.pad_top);
      end

      if (|advance_i[1:0]) acc_q <= acc_q + 24'd1;
      if (|advance_i[4:2]) acc_q <= acc_outer_q;
      if (advance_i[5]) begin
        acc_q       <= acc_outer_next;
        acc_outer_q <= acc_outer_next;
      end

      if (load_i) begin
        ix_q        <= left;
        ix_kx_q     <= left;
        iy_q        <= top;
        iy_ky_q     <= top;
        acc_q       <= 24'(head_i.acc);
        acc_outer_q <= 24'(head_i.acc);
      end
    end
  end

  assign pad_o = ix_q < 0 || ix_q >= 16'($signed({1'b0, instr_i.width}))
      || iy_q < 0 || iy_q >= 16'($signed({1'b0, instr_i.height}));
  assign range_o = (!pad_o && row_q >= OPERANDS) || acc_q >= 24'(ACC_ROWS);
  assign operand_o = row_q;
  assign acc_o = acc_q[ACC_AW-1:0];

endmodule
