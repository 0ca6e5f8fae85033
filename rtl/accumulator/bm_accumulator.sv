// SPDX-License-Identifier: Apache-2.0
//
// The banked int32 rows between matmul and vector; matmul's rows overwrite or are added modulo 2^32.
//
// Matmul:  a row that adds announces itself one cycle early (pre) and commits with its old value from the bank, or from
//          the row committed one cycle ago if that has the same address. A row commits in the cycle it arrives.
// Vector:  reads a row; data in the cycle after the grant (docs/timing.md, Accumulator).
// Stalls:  vector's read waits while matmul's early read is in the same bank; matmul never waits.
// Reset:   clears the overflow flag and what is in flight; memories keep their contents.
// Not:     range checks (matmul and vector make them).

module bm_accumulator #(
    parameter int COLS      = 8,    // 4..256, power of two
    parameter int ACC_ROWS  = 256,  // in all banks
    parameter int ACC_BANKS = 2,    // 1..8
    parameter int TRACE_W   = 32 * (2 + 2 * COLS),
    parameter bit TRACE     = 1'b1,

    // Derived; do not override.
    localparam int ACC_AW = $clog2(ACC_ROWS)
) (
    input logic clk_i,
    input logic rst_ni,

    // From matmul, cycle A-1 and cycle A
    input logic               acc_pre_valid_i,
    input logic [ ACC_AW-1:0] acc_pre_addr_i,
    input logic               acc_valid_i,
    input logic [ ACC_AW-1:0] acc_addr_i,
    input logic               acc_add_i,
    input logic [32*COLS-1:0] acc_data_i,

    // From and to vector
    input  logic               acc_req_valid_i,
    input  logic [ ACC_AW-1:0] acc_req_addr_i,
    output logic               acc_grant_o,
    output logic [32*COLS-1:0] acc_rdata_o,

    // To the host: some sum has left the signed range since the start
    output logic overflow_o,

    output logic [TRACE_W-1:0] trace_o
);
  localparam int BANK_ROWS = ACC_ROWS / ACC_BANKS;
  localparam int BANK_AW = $clog2(BANK_ROWS);
  localparam int BANK_W = (ACC_BANKS > 1) ? $clog2(ACC_BANKS) : 1;

  logic [ACC_BANKS-1:0]              bank_grant;
  logic [ACC_BANKS-1:0][32*COLS-1:0] bank_rdata;
  logic [   BANK_W-1:0]              pre_bank;
  logic [   BANK_W-1:0]              read_bank;
  logic [   BANK_W-1:0]              write_bank;
  logic [   BANK_W-1:0]              read_bank_q;

  logic                              last_valid_q;
  logic [   ACC_AW-1:0]              last_addr_q;
  logic [  32*COLS-1:0]              last_data_q;
  logic [  32*COLS-1:0]              old;
  logic [  32*COLS-1:0]              sum;
  logic [     COLS-1:0]              lane_overflow;
  logic [  32*COLS-1:0]              wdata;
  logic                              overflow;

  assign pre_bank   = BANK_W'(acc_pre_addr_i >> BANK_AW);
  assign read_bank  = BANK_W'(acc_req_addr_i >> BANK_AW);
  assign write_bank = BANK_W'(acc_addr_i >> BANK_AW);

  for (genvar b = 0; b < ACC_BANKS; b++) begin : gen_bank
    bm_accumulator_bank #(
        .ROWS(BANK_ROWS),
        .COLS(COLS)
    ) u_bank (
        .clk_i,
        .pre_i(acc_pre_valid_i && pre_bank == BANK_W'(b)),
        .pre_addr_i(acc_pre_addr_i[BANK_AW-1:0]),
        .read_i(acc_req_valid_i && read_bank == BANK_W'(b)),
        .raddr_i(acc_req_addr_i[BANK_AW-1:0]),
        .grant_o(bank_grant[b]),
        .rdata_o(bank_rdata[b]),
        .write_i(acc_valid_i && write_bank == BANK_W'(b)),
        .waddr_i(acc_addr_i[BANK_AW-1:0]),
        .wdata_i(wdata)
    );
  end

  assign acc_grant_o = |bank_grant;
  assign acc_rdata_o = bank_rdata[read_bank_q];

  assign old = (last_valid_q && last_addr_q == acc_addr_i) ? last_data_q : bank_rdata[write_bank];

  for (genvar c = 0; c < COLS; c++) begin : gen_lane
    logic [31:0] lane_sum;
    assign lane_sum = old[32*c+:32] + acc_data_i[32*c+:32];
    assign sum[32*c+:32] = lane_sum;
    assign lane_overflow[c] = (old[32*c+31] == acc_data_i[32*c+31]) && (lane_sum[31] != old[32*c+31]);
  end

  assign wdata = acc_add_i ? sum : acc_data_i;
  assign overflow = acc_valid_i && acc_add_i && |lane_overflow;

  always_ff @(posedge clk_i) begin
    read_bank_q <= read_bank;
    last_addr_q <= acc_addr_i;
    last_data_q <= wdata;
    if (!rst_ni) begin
      last_valid_q <= 1'b0;
      overflow_o   <= 1'b0;
    end else begin
      last_valid_q <= acc_valid_i;
      overflow_o   <= overflow_o || overflow;
    end
  end

  if (TRACE) begin : gen_trace
    logic              read_q;
    logic [ACC_AW-1:0] read_addr_q;
    logic [31:0] write_header, read_header;

    always_ff @(posedge clk_i) begin
      read_q <= rst_ni && acc_grant_o;
      read_addr_q <= acc_req_addr_i;
    end

    assign write_header = {1'b1, 17'd0, overflow, acc_add_i, 12'(acc_addr_i)};
    assign read_header = {1'b1, 19'd0, 12'(read_addr_q)};
    assign trace_o = {
      read_q ? {acc_rdata_o, read_header} : {32 * (1 + COLS) {1'b0}},
      acc_valid_i ? {wdata, write_header} : {32 * (1 + COLS) {1'b0}}
    };
  end else begin : gen_no_trace
    assign trace_o = '0;
  end

`ifndef SYNTHESIS
  // What matmul promises: a row that adds was announced in the cycle before.
  logic              pre_valid_q;
  logic [ACC_AW-1:0] pre_addr_q;
  always @(posedge clk_i) begin
    pre_valid_q <= rst_ni && acc_pre_valid_i;
    pre_addr_q  <= acc_pre_addr_i;
    if (rst_ni && acc_valid_i && acc_add_i) assert (pre_valid_q && pre_addr_q == acc_addr_i);
  end
`endif
endmodule
