// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_accumulator: rows overwrite or are added modulo 2^32 with forwarding; vector reads what was
// committed before; the overflow flag. One row, chosen freely at reset, stands for all.

module bm_accumulator_formal #(
  parameter int COLS = 1,
  parameter int ACC_ROWS = 4,
  parameter int ACC_BANKS = 2,
  localparam int AW = $clog2(ACC_ROWS)
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               pre_valid_i,
  input logic [     AW-1:0] pre_addr_i,
  input logic               valid_i,
  input logic [     AW-1:0] addr_i,
  input logic               add_i,
  input logic [32*COLS-1:0] data_i,
  input logic               req_i,
  input logic [     AW-1:0] req_addr_i,
  input logic [     AW-1:0] row_i
);

  localparam int BANK_ROWS = ACC_ROWS / ACC_BANKS;
  localparam int TRACE_W = 32 * (2 + 2 * COLS);

  logic grant, overflow;
  logic [32*COLS-1:0] rdata;
  logic [TRACE_W-1:0] trace;

  bm_accumulator #(
    .COLS(COLS),
    .ACC_ROWS(ACC_ROWS),
    .ACC_BANKS(ACC_BANKS)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .acc_pre_valid_i(pre_valid_i),
    .acc_pre_addr_i (pre_addr_i),
    .acc_valid_i    (valid_i),
    .acc_addr_i     (addr_i),
    .acc_add_i      (add_i),
    .acc_data_i     (data_i),
    .acc_req_valid_i(req_i),
    .acc_req_addr_i (req_addr_i),
    .acc_grant_o    (grant),
    .acc_rdata_o    (rdata),
    .overflow_o     (overflow),
    .trace_o        (trace)
  );

  logic [AW-1:0] row_q;
  logic known_q, announced_q, expects_q, flagged_q;
  logic [AW-1:0] announced_addr_q;
  logic [31:0] value_q, expected_q, sum;
  logic same_bank, hit, exceeds;

  assign same_bank = 32'(pre_addr_i) / BANK_ROWS == 32'(req_addr_i) / BANK_ROWS;
  assign hit = valid_i && addr_i == row_q;
  assign sum = value_q + data_i[31:0];
  assign exceeds = value_q[31] == data_i[31] && sum[31] != data_i[31];

  always_ff @(posedge clk_i) begin
    announced_q      <= rst_ni && pre_valid_i;
    announced_addr_q <= pre_addr_i;
    expects_q        <= rst_ni && grant && known_q && req_addr_i == row_q;
    expected_q       <= value_q;
    if (!rst_ni) begin
      row_q     <= row_i;
      known_q   <= 1'b0;
      flagged_q <= 1'b0;
    end else begin
      if (hit && !add_i) known_q <= 1'b1;
      if (hit) value_q <= add_i ? sum : data_i[31:0];
      if (hit && add_i && known_q && exceeds) flagged_q <= 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // A row that adds was announced with its address in the cycle before (matmul's early read).
      announced: assume (!(valid_i && add_i) || (announced_q && announced_addr_q == addr_i));

      // Vector's read is granted exactly if matmul's early read is not in its bank.
      if (req_i) granted: assert (grant == !(pre_valid_i && same_bank));
      // Only a request is granted.
      if (!req_i) asked: assert (!grant);
      // Once a sum has left the signed range the flag stays set.
      if (flagged_q) sticky: assert (overflow);
      // The sum written is old value plus new modulo 2^32, also right behind a commit to the same row.
      if (hit && add_i && known_q) added: assert (trace[32+:32] == sum);
      // The write event says whether the sum left the signed range.
      if (hit && add_i && known_q && COLS == 1) event_overflow: assert (trace[13] == exceeds);
      // The write event appears exactly in the cycles with a commit, with the row and whether it adds.
      traced: assert (trace[31] == valid_i && (!valid_i || (trace[11:0] == 12'(addr_i) && trace[12] == add_i)));
      // Vector gets, in the cycle after its grant, the value of all commits before.
      if (expects_q) read_back: assert (rdata[31:0] == expected_q);
      // The read event shows the word read.
      if (expects_q) read_event: assert (trace[32*(1+COLS)+31] && trace[32*(2+COLS)+:32] == expected_q);
    end
  end

endmodule
