// Generated from model/beatmatch/stimulus.py by `make generate`; do not edit.
// SPDX-License-Identifier: Apache-2.0
//
// Inputs of bm_core by port name, taken out of the stimulus row `stim`.

wire rst_ni = stim[0];
wire s_axil_awvalid_i = stim[1];
wire s_axil_wvalid_i = stim[2];
wire s_axil_bready_i = stim[3];
wire s_axil_arvalid_i = stim[4];
wire s_axil_rready_i = stim[5];
wire m_axi_arready_i = stim[6];
wire m_axi_awready_i = stim[7];
wire m_axi_wready_i = stim[8];
wire m_axi_rvalid_i = stim[9];
wire m_axi_rlast_i = stim[10];
wire m_axi_bvalid_i = stim[11];
wire [1:0] m_axi_rid_i = stim[13:12];
wire [1:0] m_axi_rresp_i = stim[15:14];
wire [1:0] m_axi_bid_i = stim[17:16];
wire [1:0] m_axi_bresp_i = stim[19:18];
wire [3:0] s_axil_wstrb_i = stim[23:20];
wire m_axi_weights_arready_i = stim[24];
wire m_axi_weights_rvalid_i = stim[25];
wire m_axi_weights_rlast_i = stim[26];
wire [1:0] m_axi_weights_rresp_i = stim[28:27];
wire [1:0] m_axi_weights_rid_i = stim[30:29];
wire [11:0] s_axil_awaddr_i = stim[43:32];
wire [11:0] s_axil_araddr_i = stim[59:48];
wire [31:0] s_axil_wdata_i = stim[95:64];
wire clear_memories = stim[31];
wire [MEM_BITS-1:0] m_axi_rdata_i = stim[96 +: MEM_BITS];
// Without a weight port its read data are not looked at, and the row does not have them.
localparam int WEIGHT_RDATA = WEIGHT_PORT * MEM_BITS;
wire [MEM_BITS-1:0] m_axi_weights_rdata_i = stim[96 + WEIGHT_RDATA +: MEM_BITS];
