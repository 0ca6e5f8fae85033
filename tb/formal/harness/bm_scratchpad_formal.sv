// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_scratchpad: per bank one read and one write, lowest requester first and at once; data are what was
// written last. One byte of one word, chosen freely at reset, stands for the memory.

module bm_scratchpad_formal #(
  parameter int ROWS = 4,
  parameter int COLS = 4,
  parameter int SP_WORDS = 32,
  parameter int SP_BANKS = 2,
  localparam int LANES = (ROWS > COLS) ? ROWS : COLS,
  localparam int AW = $clog2(SP_WORDS),
  localparam int LANE_W = $clog2(LANES)
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic [        3:0] read_i,    // matmul, weights, vector, store
  input logic [   4*AW-1:0] raddr_i,
  input logic [        1:0] write_i,   // vector, load
  input logic [   2*AW-1:0] waddr_i,
  input logic [2*LANES-1:0] wenable_i,
  input logic [16*LANES-1:0] wdata_i,
  input logic [     AW-1:0] word_i,
  input logic [ LANE_W-1:0] lane_i
);

  localparam int BANK_WORDS = SP_WORDS / SP_BANKS;

  logic [3:0] rgrant;
  logic [1:0] wgrant;
  logic [32*LANES-1:0] rdata;

  bm_scratchpad #(
    .ROWS(ROWS),
    .COLS(COLS),
    .SP_WORDS(SP_WORDS),
    .SP_BANKS(SP_BANKS)
  ) u_dut (
    .clk_i,
    .matmul_req_valid_i(read_i[0]),
    .matmul_req_addr_i(raddr_i[0+:AW]),
    .matmul_rdata_o(rdata[0+:8*LANES]),
    .weights_req_valid_i(read_i[1]),
    .weights_req_addr_i(raddr_i[AW+:AW]),
    .weights_grant_o(rgrant[1]),
    .weights_rdata_o(rdata[8*LANES+:8*LANES]),
    .vector_req_valid_i(read_i[2]),
    .vector_req_addr_i(raddr_i[2*AW+:AW]),
    .vector_grant_o(rgrant[2]),
    .vector_rdata_o(rdata[16*LANES+:8*LANES]),
    .store_req_valid_i(read_i[3]),
    .store_req_addr_i(raddr_i[3*AW+:AW]),
    .store_grant_o(rgrant[3]),
    .store_rdata_o(rdata[24*LANES+:8*LANES]),
    .vector_wvalid_i(write_i[0]),
    .vector_waddr_i(waddr_i[0+:AW]),
    .vector_wenable_i(wenable_i[0+:LANES]),
    .vector_wdata_i(wdata_i[0+:8*LANES]),
    .load_wvalid_i(write_i[1]),
    .load_waddr_i(waddr_i[AW+:AW]),
    .load_wenable_i(wenable_i[LANES+:LANES]),
    .load_wdata_i(wdata_i[8*LANES+:8*LANES]),
    .load_wgrant_o(wgrant[1])
  );
  assign rgrant[0] = read_i[0];
  assign wgrant[0] = write_i[0];

  // Banks of the requests, and for each reader whether one before it asks the same bank.
  logic [3:0][AW-1:0] rbank;
  logic [1:0][AW-1:0] wbank;
  logic [3:0] higher;
  logic clash;
  always_comb begin
    for (int k = 0; k < 4; k++) rbank[k] = AW'(32'(raddr_i[AW*k+:AW]) / BANK_WORDS);
    for (int k = 0; k < 2; k++) wbank[k] = AW'(32'(waddr_i[AW*k+:AW]) / BANK_WORDS);
    higher = '0;
    clash = 1'b0;
    for (int k = 1; k < 4; k++) begin
      for (int j = 0; j < k; j++) begin
        if (read_i[j] && rbank[j] == rbank[k]) higher[k] = 1'b1;
        if (rgrant[j] && rgrant[k] && rbank[j] == rbank[k]) clash = 1'b1;
      end
    end
  end

  // The byte that is followed: what was last written to it, and whether anything was.
  logic [AW-1:0] word_q;
  logic [LANE_W-1:0] lane_q;
  logic known_q;
  logic [7:0] byte_q;
  logic [1:0] hits;
  logic [3:0] expects_q;  // a reader was granted the word, its byte is known
  logic [7:0] expected_q;

  always_comb begin
    for (int k = 0; k < 2; k++) hits[k] = wgrant[k] && waddr_i[AW*k+:AW] == word_q && wenable_i[LANES*k+32'(lane_q)];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      word_q  <= word_i;
      lane_q  <= lane_i;
      known_q <= 1'b0;
    end else begin
      if (hits != '0) known_q <= 1'b1;
      if (hits[1]) byte_q <= wdata_i[8*LANES+8*32'(lane_q)+:8];
      if (hits[0]) byte_q <= wdata_i[8*32'(lane_q)+:8];
    end
    expected_q <= byte_q;
    for (int k = 0; k < 4; k++) expects_q[k] <= rst_ni && known_q && rgrant[k] && raddr_i[AW*k+:AW] == word_q;
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Addresses are below the number of words (the engines check it).
      in_range: assume (rbank[0] < AW'(SP_BANKS) && rbank[1] < AW'(SP_BANKS) && rbank[2] < AW'(SP_BANKS)
          && rbank[3] < AW'(SP_BANKS) && wbank[0] < AW'(SP_BANKS) && wbank[1] < AW'(SP_BANKS));

      // Two readers are never granted the same bank in one cycle.
      if (read_i[3] && read_i[2]) exclusive: assert (!clash);
      // Weights is granted in the first cycle in which matmul does not read its bank.
      if (read_i[1] && !higher[1]) weights_at_once: assert (rgrant[1]);
      // Vector is granted in the first cycle in which neither matmul nor weights reads its bank.
      if (read_i[2] && !higher[2]) vector_at_once: assert (rgrant[2]);
      // Store is granted in the first cycle in which no other reader asks for its bank.
      if (read_i[3] && !higher[3]) store_at_once: assert (rgrant[3]);
      // A reader behind a higher one in its bank is not granted.
      if ((read_i & higher) != '0) priority_read: assert ((rgrant & higher) == '0);
      // Only a request is granted.
      if (read_i[3:1] != 3'b111) asked: assert ((rgrant & ~read_i) == '0);
      // Load's write is granted exactly in the cycles in which vector does not write its bank.
      if (write_i[1]) load_write: assert (wgrant[1] == !(write_i[0] && wbank[0] == wbank[1]));
      // Load's write is granted only if it is asked for.
      if (!write_i[1]) load_asked: assert (!wgrant[1]);
      // Matmul reads in the next cycle what was last written before its read.
      if (expects_q[0]) matmul_data: assert (rdata[8*32'(lane_q)+:8] == expected_q);
      // Weights reads in the cycle after its grant what was last written before it.
      if (expects_q[1]) weights_data: assert (rdata[8*LANES+8*32'(lane_q)+:8] == expected_q);
      // Vector reads in the cycle after its grant what was last written before it.
      if (expects_q[2]) vector_data: assert (rdata[16*LANES+8*32'(lane_q)+:8] == expected_q);
      // Store reads in the cycle after its grant what was last written before it.
      if (expects_q[3]) store_data: assert (rdata[24*LANES+8*32'(lane_q)+:8] == expected_q);
    end
  end

endmodule
