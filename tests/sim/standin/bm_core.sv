// SPDX-License-Identifier: Apache-2.0
//
// Stand-in for the core, to test the lockstep bench alone: same ports, a record that mixes the whole history of the
// inputs into every word. Its twin in Python is standin.py. Bits 15:12 of word 3 are
// unknown from cycle STANDIN_XCYCLE on, if that is defined.

`define BM_NO_MEMORIES

module bm_core #(
    parameter int ROWS        = 8,
    parameter int COLS        = 8,
    parameter int SP_WORDS    = 4096,
    parameter int SP_BANKS    = 2,
    parameter int ACC_ROWS    = 256,
    parameter int ACC_BANKS   = 2,
    parameter int FIFO_TILES  = 4,
    parameter int QUEUE_DEPTH = 8,
    parameter int MEM_BITS    = 64,
    parameter int OUTSTANDING = 8,
    parameter int PARAM_ROWS  = 32,
    parameter int WEIGHT_PORT = 0,
    parameter bit TRACE       = 1'b1,
    localparam int MB         = MEM_BITS / 8,
    localparam int WORDS      = `STANDIN_WORDS
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                s_axil_awvalid_i,
    output logic                s_axil_awready_o,
    input  logic [        11:0] s_axil_awaddr_i,
    input  logic                s_axil_wvalid_i,
    output logic                s_axil_wready_o,
    input  logic [        31:0] s_axil_wdata_i,
    input  logic [         3:0] s_axil_wstrb_i,
    output logic                s_axil_bvalid_o,
    input  logic                s_axil_bready_i,
    output logic [         1:0] s_axil_bresp_o,
    input  logic                s_axil_arvalid_i,
    output logic                s_axil_arready_o,
    input  logic [        11:0] s_axil_araddr_i,
    output logic                s_axil_rvalid_o,
    input  logic                s_axil_rready_i,
    output logic [        31:0] s_axil_rdata_o,
    output logic [         1:0] s_axil_rresp_o,
    output logic                m_axi_arvalid_o,
    input  logic                m_axi_arready_i,
    output logic [         1:0] m_axi_arid_o,
    output logic [        63:0] m_axi_araddr_o,
    output logic [         7:0] m_axi_arlen_o,
    output logic [         2:0] m_axi_arsize_o,
    output logic [         1:0] m_axi_arburst_o,
    input  logic                m_axi_rvalid_i,
    output logic                m_axi_rready_o,
    input  logic [         1:0] m_axi_rid_i,
    input  logic [MEM_BITS-1:0] m_axi_rdata_i,
    input  logic [         1:0] m_axi_rresp_i,
    input  logic                m_axi_rlast_i,
    output logic                m_axi_awvalid_o,
    input  logic                m_axi_awready_i,
    output logic [         1:0] m_axi_awid_o,
    output logic [        63:0] m_axi_awaddr_o,
    output logic [         7:0] m_axi_awlen_o,
    output logic [         2:0] m_axi_awsize_o,
    output logic [         1:0] m_axi_awburst_o,
    output logic                m_axi_wvalid_o,
    input  logic                m_axi_wready_i,
    output logic [MEM_BITS-1:0] m_axi_wdata_o,
    output logic [      MB-1:0] m_axi_wstrb_o,
    output logic                m_axi_wlast_o,
    input  logic                m_axi_bvalid_i,
    output logic                m_axi_bready_o,
    input  logic [         1:0] m_axi_bid_i,
    input  logic [         1:0] m_axi_bresp_i,
    output logic                m_axi_weights_arvalid_o,
    input  logic                m_axi_weights_arready_i,
    output logic [         1:0] m_axi_weights_arid_o,
    output logic [        63:0] m_axi_weights_araddr_o,
    output logic [         7:0] m_axi_weights_arlen_o,
    output logic [         2:0] m_axi_weights_arsize_o,
    output logic [         1:0] m_axi_weights_arburst_o,
    input  logic                m_axi_weights_rvalid_i,
    output logic                m_axi_weights_rready_o,
    input  logic [         1:0] m_axi_weights_rid_i,
    input  logic [MEM_BITS-1:0] m_axi_weights_rdata_i,
    input  logic [         1:0] m_axi_weights_rresp_i,
    input  logic                m_axi_weights_rlast_i,
    output logic [32*WORDS-1:0] trace_o
);

  logic [31:0] flags, addresses, mixed, state_q, cycle_q;

  // A combinational path from this cycle's inputs to this cycle's record, as the real core has.
  always_comb begin
    flags = {1'b0, m_axi_weights_rid_i, m_axi_weights_rresp_i, m_axi_weights_rlast_i, m_axi_weights_rvalid_i,
             m_axi_weights_arready_i, s_axil_wstrb_i, m_axi_bresp_i, m_axi_bid_i, m_axi_rresp_i, m_axi_rid_i,
             m_axi_bvalid_i, m_axi_rlast_i, m_axi_rvalid_i, m_axi_wready_i, m_axi_awready_i, m_axi_arready_i,
             s_axil_rready_i, s_axil_arvalid_i, s_axil_bready_i, s_axil_wvalid_i, s_axil_awvalid_i, rst_ni};
    addresses = {4'b0, s_axil_araddr_i, 4'b0, s_axil_awaddr_i};
    mixed = state_q + flags + (addresses ^ s_axil_wdata_i) 
            + (WEIGHT_PORT != 0 ? m_axi_weights_rdata_i[MEM_BITS-1-:32] : m_axi_rdata_i[MEM_BITS-1-:32]);
  end

  always_ff @(posedge clk_i) begin
    state_q <= rst_ni ? mixed * 32'd1664525 + 32'd1013904223 : 32'd0;
    cycle_q <= rst_ni ? cycle_q + 32'd1 : 32'd0;
  end

  logic [31:0] first;

  // One process for the whole record: Icarus resolves a vector with a driver per word very slowly.
  always_comb begin
    first = mixed;
`ifdef STANDIN_XCYCLE
    if (cycle_q >= `STANDIN_XCYCLE) first = first ^ 32'h0000_x000;
`endif
    for (int i = 0; i < WORDS; i++) trace_o[32*i+:32] = i == 3 ? first ^ 32'(i) : mixed ^ 32'(i);
  end

endmodule
