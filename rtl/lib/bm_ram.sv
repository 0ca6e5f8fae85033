// SPDX-License-Identifier: Apache-2.0
//
// A memory with one read and one write port, written by granules; synthesises to block RAM.
//
// Read:    data are in the output register in the cycle after read_i, and stay there until the next read.
// Write:   the memory holds it from the next cycle on; a read of the same word in the same cycle returns the old data.
// Reset:   none; simulations start from zero in both simulators.

module bm_ram #(
    parameter int WORDS   = 16,  // power of two
    parameter int WIDTH   = 32,  // bits of a word
    parameter int GRANULE = 8,   // bits per write enable; divides WIDTH

    // Derived; do not override.
    localparam int AW = $clog2(WORDS),
    localparam int ENABLES = WIDTH / GRANULE
) (
    input logic clk_i,

    input  logic             read_i,
    input  logic [   AW-1:0] raddr_i,
    output logic [WIDTH-1:0] rdata_o,

    input logic [     AW-1:0] waddr_i,
    input logic [ENABLES-1:0] wenable_i,
    input logic [  WIDTH-1:0] wdata_i
);
  logic [WIDTH-1:0] memory[WORDS];

  always_ff @(posedge clk_i) begin
    if (read_i) rdata_o <= memory[raddr_i];
    for (int i = 0; i < ENABLES; i++) begin
      if (wenable_i[i]) memory[waddr_i][i*GRANULE+:GRANULE] <= wdata_i[i*GRANULE+:GRANULE];
    end
  end

`ifndef SYNTHESIS
  initial begin
    for (int i = 0; i < WORDS; i++) memory[i] = '0;
  end
`endif
endmodule
