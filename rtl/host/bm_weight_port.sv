// SPDX-License-Identifier: Apache-2.0
//
// Where the reads of the weights engine go: with WEIGHT_PORT 0 to the memory port, which it then shares with fetch
// and load; with WEIGHT_PORT 1 out of an AXI4 master of its own (AR and R only), to a memory for weights.
//
// One requester, so nothing is arbitrated: its burst register holds AR until the handshake, every R beat is its own.
// INCR bursts of full-width beats; the read id is weights' number on the memory port.
// Latency: none, every path is combinational from the requester's registers or from a port's inputs.
// Stalls: those of the memory; rready is the requester's. Reset: there is no register.
// Trace: trace_o is the record of station weight_port, which only a core with the port has; else it is 0.

module bm_weight_port #(
  parameter int WEIGHT_PORT = 0,  // 0 or 1
  parameter int MEM_BITS = 64,    // a power of two, 32 to 1024
  parameter int TRACE_W = 32 * 4,
  parameter bit TRACE = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // from and to weights
  input  logic                weights_ar_valid_i,
  input  logic [        63:0] weights_ar_addr_i,
  input  logic [         7:0] weights_ar_len_i,
  output logic                weights_ar_ready_o,
  output logic                weights_r_valid_o,
  input  logic                weights_r_ready_i,
  output logic [MEM_BITS-1:0] weights_r_data_o,
  output logic [         1:0] weights_r_resp_o,
  output logic                weights_r_last_o,
  // to and from the memory port
  output logic                port_ar_valid_o,
  output logic [        63:0] port_ar_addr_o,
  output logic [         7:0] port_ar_len_o,
  input  logic                port_ar_ready_i,
  input  logic                port_r_valid_i,
  output logic                port_r_ready_o,
  input  logic [MEM_BITS-1:0] port_r_data_i,
  input  logic [         1:0] port_r_resp_i,
  input  logic                port_r_last_i,
  // weight memory
  output logic                m_axi_weights_arvalid_o,
  input  logic                m_axi_weights_arready_i,
  output logic [         1:0] m_axi_weights_arid_o,
  output logic [        63:0] m_axi_weights_araddr_o,
  output logic [         7:0] m_axi_weights_arlen_o,
  output logic [         2:0] m_axi_weights_arsize_o,
  output logic [         1:0] m_axi_weights_arburst_o,
  input  logic                m_axi_weights_rvalid_i,
  output logic                m_axi_weights_rready_o,
  input  logic [         1:0] m_axi_weights_rid_i,  // always weights' number
  input  logic [MEM_BITS-1:0] m_axi_weights_rdata_i,
  input  logic [         1:0] m_axi_weights_rresp_i,
  input  logic                m_axi_weights_rlast_i,

  output logic [ TRACE_W-1:0] trace_o
);

  localparam logic [1:0] WEIGHTS = 2'd2;
  localparam logic [1:0] BURST_INCR = 2'b01;
  localparam bit OWN = WEIGHT_PORT != 0;

  // Requests: out of the one port or to the other, which then sees nothing of them.
  assign m_axi_weights_arvalid_o = OWN && weights_ar_valid_i;
  assign m_axi_weights_arid_o = OWN ? WEIGHTS : 2'd0;
  assign m_axi_weights_araddr_o = OWN ? weights_ar_addr_i : 64'd0;
  assign m_axi_weights_arlen_o = OWN ? weights_ar_len_i : 8'd0;
  assign m_axi_weights_arsize_o = OWN ? 3'($clog2(MEM_BITS / 8)) : 3'd0;
  assign m_axi_weights_arburst_o = OWN ? BURST_INCR : 2'd0;
  assign port_ar_valid_o = !OWN && weights_ar_valid_i;
  assign port_ar_addr_o = OWN ? 64'd0 : weights_ar_addr_i;
  assign port_ar_len_o = OWN ? 8'd0 : weights_ar_len_i;
  assign weights_ar_ready_o = OWN ? m_axi_weights_arready_i : port_ar_ready_i;

  // Answers.
  assign weights_r_valid_o = OWN ? m_axi_weights_rvalid_i : port_r_valid_i;
  assign weights_r_data_o = OWN ? m_axi_weights_rdata_i : port_r_data_i;
  assign weights_r_resp_o = OWN ? m_axi_weights_rresp_i : port_r_resp_i;
  assign weights_r_last_o = OWN ? m_axi_weights_rlast_i : port_r_last_i;
  assign m_axi_weights_rready_o = OWN && m_axi_weights_rvalid_i && weights_r_ready_i;
  assign port_r_ready_o = !OWN && weights_r_ready_i;

  if (TRACE && OWN) begin : gen_trace
    logic ar_fires;
    logic [95:0] ar_slot;
    assign ar_fires = m_axi_weights_arvalid_o && m_axi_weights_arready_i;
    assign ar_slot = ar_fires ? {m_axi_weights_araddr_o, 1'b1, 23'd0, m_axi_weights_arlen_o} : '0;
    assign trace_o = {31'd0, m_axi_weights_rready_o, ar_slot};
  end else begin : gen_no_trace
    assign trace_o = '0;
  end

  always @(posedge clk_i) begin
    // a beat that nobody asked for, and weights behind the memory port although they have their own
    if (rst_ni) assert (!OWN || !m_axi_weights_rvalid_i || m_axi_weights_rid_i == WEIGHTS);
    if (rst_ni) assert (!OWN || !port_r_valid_i);
  end

endmodule
