// SPDX-License-Identifier: Apache-2.0
//
// Accompanies a row through the array: its accumulator address, and what happens when it commits.
//
// In: the row at the edge in X. Out: in A-1 the read of the old value (rows that add), in A = X + ROWS + COLS + 1
// the row's write; at the end of A the signal and retire registers, if it ends an iteration or instruction and
// nothing is halted. rows_o says whether any row is between generation and commit. Stalls: none. Reset: empty.

module bm_matmul_commit #(
  parameter int ROWS   = 8,
  parameter int COLS   = 8,
  parameter int ACC_AW = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              halt_i,
  input  logic              row_i,  // a row is generated
  // row at the edge
  input  logic              edge_valid_i,
  input  logic              edge_add_i,
  input  logic [ACC_AW-1:0] edge_acc_i,
  input  logic              edge_end_i,
  input  logic [      36:0] edge_retire_i,
  // accumulator
  output logic              acc_pre_valid_o,
  output logic [ACC_AW-1:0] acc_pre_addr_o,
  output logic              acc_valid_o,
  output logic [ACC_AW-1:0] acc_addr_o,
  output logic              acc_add_o,
  // frontend
  output logic              rows_o,
  output logic [      11:0] sig_o,
  output logic              retire_valid_o,
  output logic [      24:0] retire_o  // {last, iteration, seq}
);

  localparam int DEPTH = ROWS + COLS + 1;
  localparam int COUNT_W = $clog2(DEPTH + 4);
  localparam int SLOT_W = $clog2(DEPTH + 1);

  // what a row does, the youngest at bit 0; where it goes is in memories, in the slot of the cycle of X
  logic [DEPTH-1:0] valid_q, add_q, end_q;
  logic [ACC_AW-1:0] acc_mem [2**SLOT_W];
  logic [36:0] retire_mem [2**SLOT_W];
  logic [SLOT_W-1:0] slot_q, slot, pre_slot;
  logic [COUNT_W-1:0] count_q;
  logic [11:0] sig_q;
  logic retire_valid_q;
  logic [24:0] retire_q;
  logic retires;

  assign slot = slot_q - SLOT_W'(DEPTH);  // of the row that commits
  assign pre_slot = slot + 1'b1;          // of the row that commits in the next cycle
  assign acc_pre_valid_o = valid_q[DEPTH-2] && add_q[DEPTH-2];
  assign acc_pre_addr_o = acc_mem[pre_slot];
  assign acc_valid_o = valid_q[DEPTH-1];
  assign acc_addr_o = acc_mem[slot];
  assign acc_add_o = valid_q[DEPTH-1] && add_q[DEPTH-1];
  assign retires = end_q[DEPTH-1] && !halt_i;

  always_ff @(posedge clk_i) begin
    if (edge_valid_i) acc_mem[slot_q] <= edge_acc_i;
    if (edge_valid_i) retire_mem[slot_q] <= edge_retire_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_q         <= '0;
      valid_q        <= '0;
      add_q          <= '0;
      end_q          <= '0;
      count_q        <= '0;
      sig_q          <= '0;
      retire_valid_q <= 1'b0;
      retire_q       <= '0;
    end else begin
      slot_q         <= slot_q + 1'b1;
      valid_q        <= {valid_q[DEPTH-2:0], edge_valid_i};
      add_q          <= {add_q[DEPTH-2:0], edge_add_i};
      end_q          <= {end_q[DEPTH-2:0], edge_end_i};
      count_q        <= count_q + COUNT_W'(row_i) - COUNT_W'(acc_valid_o);
      sig_q          <= retires ? retire_mem[slot][36:25] : '0;
      retire_valid_q <= retires;
      retire_q       <= retires ? retire_mem[slot][24:0] : '0;
    end
  end

  assign rows_o = count_q != '0;
  assign sig_o = sig_q;
  assign retire_valid_o = retire_valid_q;
  assign retire_o = retire_q;

endmodule
