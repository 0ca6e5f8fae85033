// SPDX-License-Identifier: Apache-2.0
//
// A first-in first-out list whose head is visible from storage: pushed in t, at the head (of an
// empty list) and counted in t+1.
//
// Stalls: none; the user pushes only while count_o < DEPTH and pops only while valid_o. A pop in the same
// cycle makes no room for a push, as count_o is registered. Reset: empty; the storage keeps its contents,
// so data_o means something only while valid_o.

module bm_fifo #(
  parameter int WIDTH = 8,  // bits of an entry
  parameter int DEPTH = 4,  // entries, 1 and more
  localparam int COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               push_i,
  input  logic [  WIDTH-1:0] data_i,
  output logic               valid_o,
  output logic [  WIDTH-1:0] data_o,
  input  logic               pop_i,
  output logic [COUNT_W-1:0] count_o
);

  localparam int PTR_W = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [PTR_W-1:0] LAST = PTR_W'(DEPTH - 1);

  logic [WIDTH-1:0] storage [DEPTH];
  logic [PTR_W-1:0] write_q, read_q;
  logic [COUNT_W-1:0] count_q;

  assign valid_o = count_q != '0;
  assign data_o = storage[read_q];
  assign count_o = count_q;

  always_ff @(posedge clk_i) begin
    if (push_i) storage[write_q] <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else begin
      if (push_i) write_q <= write_q == LAST ? '0 : write_q + 1'b1;
      if (pop_i) read_q <= read_q == LAST ? '0 : read_q + 1'b1;
      if (push_i && !pop_i) count_q <= count_q + 1'b1;
      if (!push_i && pop_i) count_q <= count_q - 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // no overflow, no underflow
      assert (!push_i || count_q != COUNT_W'(DEPTH));
      assert (!pop_i || valid_o);
    end
  end

endmodule
