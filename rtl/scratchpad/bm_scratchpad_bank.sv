// SPDX-License-Identifier: Apache-2.0
//
// One bank of the scratchpad: grants one read and one write per cycle, lowest requester number first.
//
// Read:    of read_i the lowest set bit is granted; rdata_o has the word in the next cycle.
// Write:   of write_i the lowest set bit is granted; the bank holds the enabled bytes from the next cycle on.
// Stalls:  a requester without its grant keeps its request; grants are combinational in the requests.
// Reset:   none, memories keep their contents.

module bm_scratchpad_bank #(
    parameter int WORDS = 16,  // power of two, at least 16
    parameter int LANES = 8,   // bytes of a word

    // Derived; do not override.
    localparam int AW = $clog2(WORDS)
) (
    input logic clk_i,

    // Readers: matmul, weights, vector, store
    input  logic [        3:0] read_i,
    input  logic [   4*AW-1:0] raddr_i,
    output logic [        3:0] rgrant_o,
    output logic [8*LANES-1:0] rdata_o,

    // Writers: vector, load
    input  logic [          1:0] write_i,
    input  logic [     2*AW-1:0] waddr_i,
    input  logic [  2*LANES-1:0] wenable_i,
    input  logic [2*8*LANES-1:0] wdata_i,
    output logic [          1:0] wgrant_o
);
  logic [     AW-1:0] raddr;
  logic [     AW-1:0] waddr;
  logic [  LANES-1:0] wenable;
  logic [8*LANES-1:0] wdata;

  assign rgrant_o = read_i & (~read_i + 4'd1);
  assign wgrant_o = write_i & (~write_i + 2'd1);

  assign raddr = read_i[0] ? raddr_i[0*AW+:AW]
               : read_i[1] ? raddr_i[1*AW+:AW]
               : read_i[2] ? raddr_i[2*AW+:AW] : raddr_i[3*AW+:AW];
  assign waddr = write_i[0] ? waddr_i[0+:AW] : waddr_i[AW+:AW];
  assign wdata = write_i[0] ? wdata_i[0+:8*LANES] : wdata_i[8*LANES+:8*LANES];
  assign wenable = write_i[0] ? wenable_i[0+:LANES] : write_i[1] ? wenable_i[LANES+:LANES] : '0;

  bm_ram #(
      .WORDS(WORDS),
      .WIDTH(8 * LANES),
      .GRANULE(8)
  ) u_ram (
      .clk_i,
      .read_i(|read_i),
      .raddr_i(raddr),
      .rdata_o,
      .waddr_i(waddr),
      .wenable_i(wenable),
      .wdata_i(wdata)
  );
endmodule
