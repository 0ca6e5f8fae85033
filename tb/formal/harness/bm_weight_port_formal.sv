// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_weight_port: requests and beats of weights are on one port only, unchanged and in their own cycle.

module bm_weight_port_formal #(
  parameter int WEIGHT_PORT = 0,
  parameter int MEM_BITS = 32
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                weights_ar_valid_i,
  input logic [        63:0] weights_ar_addr_i,
  input logic [         7:0] weights_ar_len_i,
  input logic                weights_r_ready_i,
  input logic                port_ar_ready_i,
  input logic                port_r_valid_i,
  input logic [MEM_BITS-1:0] port_r_data_i,
  input logic [         1:0] port_r_resp_i,
  input logic                port_r_last_i,
  input logic                m_axi_weights_arready_i,
  input logic                m_axi_weights_rvalid_i,
  input logic [         1:0] m_axi_weights_rid_i,
  input logic [MEM_BITS-1:0] m_axi_weights_rdata_i,
  input logic [         1:0] m_axi_weights_rresp_i,
  input logic                m_axi_weights_rlast_i
);

  localparam bit OWN = WEIGHT_PORT != 0;

  logic weights_ar_ready, weights_r_valid, weights_r_last, port_ar_valid, port_r_ready, arvalid, rready;
  logic [MEM_BITS-1:0] weights_r_data;
  logic [1:0] weights_r_resp, arid, arburst;
  logic [63:0] port_ar_addr, araddr;
  logic [7:0] port_ar_len, arlen;
  logic [2:0] arsize;
  logic [127:0] trace;

  bm_weight_port #(
    .WEIGHT_PORT(WEIGHT_PORT),
    .MEM_BITS(MEM_BITS),
    .TRACE(1'b1)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .weights_ar_valid_i,
    .weights_ar_addr_i,
    .weights_ar_len_i,
    .weights_ar_ready_o     (weights_ar_ready),
    .weights_r_valid_o      (weights_r_valid),
    .weights_r_ready_i,
    .weights_r_data_o       (weights_r_data),
    .weights_r_resp_o       (weights_r_resp),
    .weights_r_last_o       (weights_r_last),
    .port_ar_valid_o        (port_ar_valid),
    .port_ar_addr_o         (port_ar_addr),
    .port_ar_len_o          (port_ar_len),
    .port_ar_ready_i,
    .port_r_valid_i,
    .port_r_ready_o         (port_r_ready),
    .port_r_data_i,
    .port_r_resp_i,
    .port_r_last_i,
    .m_axi_weights_arvalid_o(arvalid),
    .m_axi_weights_arready_i,
    .m_axi_weights_arid_o   (arid),
    .m_axi_weights_araddr_o (araddr),
    .m_axi_weights_arlen_o  (arlen),
    .m_axi_weights_arsize_o (arsize),
    .m_axi_weights_arburst_o(arburst),
    .m_axi_weights_rvalid_i,
    .m_axi_weights_rready_o (rready),
    .m_axi_weights_rid_i,
    .m_axi_weights_rdata_i,
    .m_axi_weights_rresp_i,
    .m_axi_weights_rlast_i,
    .trace_o                (trace)
  );

  // What the requester is given in this cycle, by the port that is its own.
  logic own_beat, own_ready, shown_once, fires;
  logic [63:0] shown_addr;
  logic [7:0] shown_len;
  logic [MEM_BITS+2:0] answer;
  assign own_beat = OWN ? m_axi_weights_rvalid_i : port_r_valid_i;
  assign own_ready = OWN ? m_axi_weights_arready_i : port_ar_ready_i;
  assign shown_once = OWN ? arvalid && !port_ar_valid : port_ar_valid && !arvalid;
  assign shown_addr = OWN ? araddr : port_ar_addr;
  assign shown_len = OWN ? arlen : port_ar_len;
  assign answer = OWN ? {m_axi_weights_rdata_i, m_axi_weights_rresp_i, m_axi_weights_rlast_i}
                      : {port_r_data_i, port_r_resp_i, port_r_last_i};
  assign fires = arvalid && m_axi_weights_arready_i;

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The memory answers with the id that it was asked with.
      own_id: assume (!OWN || !m_axi_weights_rvalid_i || m_axi_weights_rid_i == 2'd2);
      // What the memory port was never asked for it does not answer.
      nothing_shared: assume (!OWN || !port_r_valid_i);

      // A request is shown on one port, unchanged, and on no other.
      if (weights_ar_valid_i) shown: assert (shown_once && shown_addr == weights_ar_addr_i && shown_len == weights_ar_len_i);
      // Without a request both ports are quiet.
      if (!weights_ar_valid_i) quiet: assert (!arvalid && !port_ar_valid);
      // Bursts of the weight port are incrementing, of whole beats, with weights' id; without the port all is 0.
      burst: assert ({arid, arburst, arsize} == (OWN ? {2'd2, 2'b01, 3'($clog2(MEM_BITS / 8))} : 7'd0));
      // A request is accepted where it is shown.
      if (own_ready) accepted: assert (weights_ar_ready);
      // A request is not accepted by a port that did not see it.
      if (!own_ready) kept: assert (!weights_ar_ready);
      // A beat reaches weights in its cycle, with its data, response and end.
      if (own_beat) routed: assert (weights_r_valid && {weights_r_data, weights_r_resp, weights_r_last} == answer);
      // Without a beat weights is given none.
      if (!own_beat) none: assert (!weights_r_valid);
      // A beat is taken when weights is ready, and only then.
      if (own_beat) taken: assert ((OWN ? rready : port_r_ready) == weights_r_ready_i);
      // The record shows the burst that is accepted, the beat that is taken, and without the port nothing.
      record: assert (trace == (OWN ? {31'd0, rready, fires ? {araddr, 1'b1, 23'd0, arlen} : 96'd0} : 128'd0));
    end
  end

endmodule
