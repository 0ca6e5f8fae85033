// SPDX-License-Identifier: Apache-2.0
//
// One bank of the accumulators: a read port that matmul's early reads take before vector's, and a write port.
//
// Latency: data in the cycle after the grant. A row read and written in one cycle returns its old values.
// Stalls:  vector's read waits while matmul reads this bank; writes never wait.
// Reset:   none, memories keep their contents.

module bm_accumulator_bank #(
    parameter int ROWS = 16,  // rows of this bank, power of two
    parameter int COLS = 8,   // int32 values of a row

    // Derived; do not override.
    localparam int AW = $clog2(ROWS)
) (
    input logic clk_i,

    input  logic               pre_i,
    input  logic [     AW-1:0] pre_addr_i,
    input  logic               read_i,
    input  logic [     AW-1:0] raddr_i,
    output logic               grant_o,
    output logic [32*COLS-1:0] rdata_o,

    input logic               write_i,
    input logic [     AW-1:0] waddr_i,
    input logic [32*COLS-1:0] wdata_i
);
  assign grant_o = read_i && !pre_i;

  bm_ram #(
      .WORDS(ROWS),
      .WIDTH(32 * COLS),
      .GRANULE(32 * COLS)
  ) u_ram (
      .clk_i,
      .read_i(pre_i || read_i),
      .raddr_i(pre_i ? pre_addr_i : raddr_i),
      .rdata_o,
      .waddr_i,
      .wenable_i(write_i),
      .wdata_i
  );
endmodule
