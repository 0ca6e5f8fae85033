// SPDX-License-Identifier: Apache-2.0
//
// The banked int8 memory between the engines: activations, weights, results.
//
// Readers: matmul > weights > vector > store; writers: vector > load. Per bank one of each is granted per cycle.
// Latency: read data in the cycle after the grant (docs/timing.md, Scratchpad); the bank is the high address bits.
// Stalls:  only requests to one bank meet; matmul and vector's write are always granted.
// Reset:   nothing to reset: memories keep their contents, read data count only after a grant.
// Not:     range checks (the engines make them) and trace (a read or write shows in its requester's slot).

module bm_scratchpad #(
    parameter int ROWS     = 8,     // 4..256, power of two
    parameter int COLS     = 8,     // 4..256, power of two
    parameter int SP_WORDS = 4096,  // in all banks
    parameter int SP_BANKS = 2,     // 1..8

    // Derived; do not override.
    localparam int LANES = (ROWS > COLS) ? ROWS : COLS,
    localparam int SP_AW = $clog2(SP_WORDS)
) (
    input logic clk_i,

    // Readers
    input  logic               matmul_req_valid_i,
    input  logic [  SP_AW-1:0] matmul_req_addr_i,
    output logic [8*LANES-1:0] matmul_rdata_o,
    input  logic               weights_req_valid_i,
    input  logic [  SP_AW-1:0] weights_req_addr_i,
    output logic               weights_grant_o,
    output logic [8*LANES-1:0] weights_rdata_o,
    input  logic               vector_req_valid_i,
    input  logic [  SP_AW-1:0] vector_req_addr_i,
    output logic               vector_grant_o,
    output logic [8*LANES-1:0] vector_rdata_o,
    input  logic               store_req_valid_i,
    input  logic [  SP_AW-1:0] store_req_addr_i,
    output logic               store_grant_o,
    output logic [8*LANES-1:0] store_rdata_o,

    // Writers
    input  logic               vector_wvalid_i,
    input  logic [  SP_AW-1:0] vector_waddr_i,
    input  logic [  LANES-1:0] vector_wenable_i,
    input  logic [8*LANES-1:0] vector_wdata_i,
    input  logic               load_wvalid_i,
    input  logic [  SP_AW-1:0] load_waddr_i,
    input  logic [  LANES-1:0] load_wenable_i,
    input  logic [8*LANES-1:0] load_wdata_i,
    output logic               load_wgrant_o
);
  localparam int BANK_WORDS = SP_WORDS / SP_BANKS;
  localparam int BANK_AW = $clog2(BANK_WORDS);
  localparam int BANK_W = (SP_BANKS > 1) ? $clog2(SP_BANKS) : 1;

  logic [            3:0] read;
  logic [    4*SP_AW-1:0] raddr;
  logic [  4*BANK_AW-1:0] raddr_in_bank;
  logic [   4*BANK_W-1:0] rbank;
  logic [   4*BANK_W-1:0] rbank_q;
  logic [            1:0] write;
  logic [    2*SP_AW-1:0] waddr;
  logic [  2*BANK_AW-1:0] waddr_in_bank;
  logic [   2*BANK_W-1:0] wbank;

  logic [SP_BANKS-1:0][3:0] bank_read;
  logic [SP_BANKS-1:0][3:0] bank_rgrant;
  logic [SP_BANKS-1:0][8*LANES-1:0] bank_rdata;
  logic [SP_BANKS-1:0][1:0] bank_write;
  logic [SP_BANKS-1:0][1:0] bank_wgrant;
  logic [3:0] rgrant;
  logic [1:0] wgrant;

  assign read  = {store_req_valid_i, vector_req_valid_i, weights_req_valid_i, matmul_req_valid_i};
  assign raddr = {store_req_addr_i, vector_req_addr_i, weights_req_addr_i, matmul_req_addr_i};
  assign write = {load_wvalid_i, vector_wvalid_i};
  assign waddr = {load_waddr_i, vector_waddr_i};

  for (genvar k = 0; k < 4; k++) begin : gen_reader
    assign raddr_in_bank[k*BANK_AW+:BANK_AW] = raddr[k*SP_AW+:BANK_AW];
    assign rbank[k*BANK_W+:BANK_W] = BANK_W'(raddr[k*SP_AW+:SP_AW] >> BANK_AW);
  end
  for (genvar k = 0; k < 2; k++) begin : gen_writer
    assign waddr_in_bank[k*BANK_AW+:BANK_AW] = waddr[k*SP_AW+:BANK_AW];
    assign wbank[k*BANK_W+:BANK_W] = BANK_W'(waddr[k*SP_AW+:SP_AW] >> BANK_AW);
  end

  for (genvar b = 0; b < SP_BANKS; b++) begin : gen_bank
    for (genvar k = 0; k < 4; k++) begin : gen_read
      assign bank_read[b][k] = read[k] && rbank[k*BANK_W+:BANK_W] == BANK_W'(b);
    end
    for (genvar k = 0; k < 2; k++) begin : gen_write
      assign bank_write[b][k] = write[k] && wbank[k*BANK_W+:BANK_W] == BANK_W'(b);
    end

    bm_scratchpad_bank #(
        .WORDS(BANK_WORDS),
        .LANES(LANES)
    ) u_bank (
        .clk_i,
        .read_i(bank_read[b]),
        .raddr_i(raddr_in_bank),
        .rgrant_o(bank_rgrant[b]),
        .rdata_o(bank_rdata[b]),
        .write_i(bank_write[b]),
        .waddr_i(waddr_in_bank),
        .wenable_i({load_wenable_i, vector_wenable_i}),
        .wdata_i({load_wdata_i, vector_wdata_i}),
        .wgrant_o(bank_wgrant[b])
    );
  end

  always_comb begin
    rgrant = '0;
    wgrant = '0;
    for (int b = 0; b < SP_BANKS; b++) begin
      rgrant = rgrant | bank_rgrant[b];
      wgrant = wgrant | bank_wgrant[b];
    end
  end

  always_ff @(posedge clk_i) rbank_q <= rbank;

  assign weights_grant_o = rgrant[1];
  assign vector_grant_o  = rgrant[2];
  assign store_grant_o   = rgrant[3];
  assign load_wgrant_o   = wgrant[1];

  // A reader's data come from the bank it asked one cycle ago.
  assign matmul_rdata_o  = bank_rdata[rbank_q[0*BANK_W+:BANK_W]];
  assign weights_rdata_o = bank_rdata[rbank_q[1*BANK_W+:BANK_W]];
  assign vector_rdata_o  = bank_rdata[rbank_q[2*BANK_W+:BANK_W]];
  assign store_rdata_o   = bank_rdata[rbank_q[3*BANK_W+:BANK_W]];

`ifndef SYNTHESIS
  // The priorities that the engines rely on: nobody can take the place of these two.
  always @(posedge clk_i) begin
    if (matmul_req_valid_i) assert (rgrant[0]);
    if (vector_wvalid_i) assert (wgrant[0]);
  end
`endif
endmodule
