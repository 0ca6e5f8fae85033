// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_fifo: order, no loss, count. A freely chosen entry is followed from its push to its pop.

module bm_fifo_formal #(
  parameter int WIDTH = 2,
  parameter int DEPTH = 4,
  localparam int COUNT_W = $clog2(DEPTH + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             push_i,
  input logic [WIDTH-1:0] data_i,
  input logic             pop_i,
  input logic             follow_i  // follow the entry that is pushed now
);

  logic valid;
  logic [WIDTH-1:0] data;
  logic [COUNT_W-1:0] count;

  bm_fifo #(
    .WIDTH(WIDTH),
    .DEPTH(DEPTH)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .push_i,
    .data_i,
    .valid_o(valid),
    .data_o (data),
    .pop_i,
    .count_o(count)
  );

  logic followed_q;
  logic [WIDTH-1:0] token_q;
  logic [COUNT_W-1:0] ahead_q;  // entries that leave before it
  logic [7:0] ledger_q;         // pushes less pops

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      followed_q <= 1'b0;
      ledger_q   <= '0;
    end else begin
      ledger_q <= ledger_q + 8'(push_i) - 8'(pop_i);
      if (!followed_q) begin
        if (push_i && follow_i) begin
          followed_q <= 1'b1;
          token_q    <= data_i;
          ahead_q    <= count - COUNT_W'(pop_i);
        end
      end else if (pop_i) begin
        followed_q <= ahead_q != '0;
        ahead_q    <= ahead_q - 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The user pushes only while there is room.
      room: assume (!push_i || count < COUNT_W'(DEPTH));
      // The user pops only what is there.
      there: assume (!pop_i || valid);

      // The followed entry comes out unchanged, after exactly those that were pushed before it.
      if (followed_q && ahead_q == '0) order: assert (valid && data == token_q);
      // A pushed entry is counted until it is popped: none is lost.
      if (followed_q) kept: assert (ahead_q < count);
      // The count is pushes less pops since the reset.
      ledger: assert (8'(count) == ledger_q);
      // The head is valid exactly while the list is not empty.
      if (count == '0) empty: assert (!valid);
      // The head is valid exactly while the list is not empty.
      if (count != '0) filled: assert (valid);
      // The count never exceeds the depth, whatever is pushed into the last free entry.
      if (count == COUNT_W'(DEPTH)) full: assert (!push_i && ledger_q == 8'(DEPTH));
    end
  end

endmodule
