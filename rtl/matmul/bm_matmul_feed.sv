// SPDX-License-Identifier: Apache-2.0
//
// From the scratchpad word to the array's edge: picks the operand's part, fills in padding, blanks unused lanes.
//
// In: the sequencer's request register (g+1), the word one cycle later (g+2). Out: the edge register (g+3 = X),
// all zero in a cycle without a row. Stalls: none. Reset: empty.

module bm_matmul_feed #(
  parameter int ROWS     = 8,
  parameter int COLS     = 8,
  parameter int SP_AW    = 12,
  parameter int ACC_AW   = 8,
  localparam int LANES   = (ROWS > COLS) ? ROWS : COLS
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // request register
  input  logic               req_valid_i,
  input  logic               req_read_i,
  input  logic               req_swap_i,
  input  logic [  SP_AW-1:0] req_addr_i,
  input  logic [        2:0] req_part_i,
  input  logic               req_add_i,
  input  logic [ ACC_AW-1:0] req_acc_i,
  input  logic [        8:0] req_lanes_i,
  input  logic [        8:0] req_cols_i,
  input  logic [        7:0] req_pad_i,
  input  logic               req_end_i,
  input  logic [       36:0] req_retire_i,
  // scratchpad
  input  logic [8*LANES-1:0] sp_rdata_i,
  // edge register
  output logic               edge_valid_o,
  output logic [ 8*ROWS-1:0] edge_act_o,
  output logic               edge_swap_o,
  output logic               edge_pad_o,
  output logic               edge_add_o,
  output logic [ ACC_AW-1:0] edge_acc_o,
  output logic [       16:0] edge_useful_o,
  output logic               edge_end_o,
  output logic [       36:0] edge_retire_o,
  // trace: the read whose data are there in this cycle
  output logic               read_valid_o,
  output logic [  SP_AW-1:0] read_addr_o
);

  logic valid_q, read_q, swap_q, add_q, end_q;
  logic [SP_AW-1:0] addr_q;
  logic [2:0] part_q;
  logic [ACC_AW-1:0] acc_q;
  logic [8:0] lanes_q, cols_q;
  logic [7:0] pad_q;
  logic [36:0] retire_q;
  logic [8*ROWS-1:0] operand, act;

  assign operand = (8 * ROWS)'(sp_rdata_i >> (8 * ROWS * 32'(part_q)));

  always_comb begin
    act = '0;
    for (int r = 0; r < ROWS; r++) begin
      if (valid_q && 9'(r) < lanes_q) act[8*r+:8] = read_q ? operand[8*r+:8] : pad_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {valid_q, read_q, swap_q, add_q, end_q} <= '0;
      addr_q        <= '0;
      part_q        <= '0;
      acc_q         <= '0;
      lanes_q       <= '0;
      cols_q        <= '0;
      pad_q         <= '0;
      retire_q      <= '0;
      edge_valid_o  <= 1'b0;
      edge_act_o    <= '0;
      edge_swap_o   <= 1'b0;
      edge_pad_o    <= 1'b0;
      edge_add_o    <= 1'b0;
      edge_acc_o    <= '0;
      edge_useful_o <= '0;
      edge_end_o    <= 1'b0;
      edge_retire_o <= '0;
    end else begin
      valid_q  <= req_valid_i;
      read_q   <= req_read_i;
      swap_q   <= req_swap_i;
      addr_q   <= req_addr_i;
      part_q   <= req_part_i;
      add_q    <= req_add_i;
      acc_q    <= req_acc_i;
      lanes_q  <= req_lanes_i;
      cols_q   <= req_cols_i;
      pad_q    <= req_pad_i;
      end_q    <= req_end_i;
      retire_q <= req_retire_i;

      edge_valid_o  <= valid_q;
      edge_act_o    <= act;
      edge_swap_o   <= swap_q;
      edge_pad_o    <= valid_q && !read_q;
      edge_add_o    <= add_q;
      edge_acc_o    <= acc_q;
      edge_useful_o <= valid_q ? 17'(lanes_q) * 17'(cols_q) : '0;
      edge_end_o    <= valid_q && end_q;
      edge_retire_o <= retire_q;
    end
  end

  assign read_valid_o = read_q;
  assign read_addr_o  = addr_q;

endmodule
