// SPDX-License-Identifier: Apache-2.0
//
// AXI4 rules of bm_port towards memory, given requesters that keep theirs; routing of answers; trace packing.

module bm_port_formal #(
  parameter int MEM_BITS = 32,
  parameter int PATIENCE = 2  // cycles that memory lets a read address wait, at most
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [         2:0] ar_valid_i,  // fetch, load, weights
  input logic [       191:0] ar_addr_i,
  input logic [        23:0] ar_len_i,
  input logic [         2:0] r_ready_i,
  input logic                aw_valid_i,
  input logic [        63:0] aw_addr_i,
  input logic [         7:0] aw_len_i,
  input logic                w_valid_i,
  input logic [MEM_BITS-1:0] w_data_i,
  input logic [MEM_BITS/8-1:0] w_strb_i,
  input logic                w_last_i,
  input logic                arready_i,
  input logic                rvalid_i,
  input logic [         1:0] rid_i,
  input logic [MEM_BITS-1:0] rdata_i,
  input logic                rlast_i,
  input logic                awready_i,
  input logic                wready_i,
  input logic                bvalid_i
);

  localparam int MB = MEM_BITS / 8;
  localparam int TRACE_W = 32 * (8 + (MB + 31) / 32 + MEM_BITS / 32);

  logic [2:0] ar_ready, r_valid;
  logic arvalid, rready, awvalid, wvalid, bready, wlast, aw_ready, w_ready, b_valid;
  logic [1:0] arid;
  logic [63:0] araddr, awaddr;
  logic [7:0] arlen, awlen;
  logic [2:0] arsize, awsize;
  logic [1:0] arburst, awburst, awid;
  logic [MEM_BITS-1:0] wdata, r_data;
  logic [MB-1:0] wstrb;
  logic r_last;
  logic [1:0] r_resp, b_resp;
  logic [TRACE_W-1:0] trace;

  bm_port #(
    .MEM_BITS(MEM_BITS)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .fetch_ar_valid_i  (ar_valid_i[0]),
    .fetch_ar_addr_i   (ar_addr_i[0+:64]),
    .fetch_ar_len_i    (ar_len_i[0+:8]),
    .fetch_ar_ready_o  (ar_ready[0]),
    .fetch_r_valid_o   (r_valid[0]),
    .fetch_r_ready_i   (r_ready_i[0]),
    .load_ar_valid_i   (ar_valid_i[1]),
    .load_ar_addr_i    (ar_addr_i[64+:64]),
    .load_ar_len_i     (ar_len_i[8+:8]),
    .load_ar_ready_o   (ar_ready[1]),
    .load_r_valid_o    (r_valid[1]),
    .load_r_ready_i    (r_ready_i[1]),
    .weights_ar_valid_i(ar_valid_i[2]),
    .weights_ar_addr_i (ar_addr_i[128+:64]),
    .weights_ar_len_i  (ar_len_i[16+:8]),
    .weights_ar_ready_o(ar_ready[2]),
    .weights_r_valid_o (r_valid[2]),
    .weights_r_ready_i (r_ready_i[2]),
    .r_data_o          (r_data),
    .r_resp_o          (r_resp),
    .r_last_o          (r_last),
    .aw_valid_i,
    .aw_addr_i,
    .aw_len_i,
    .aw_ready_o        (aw_ready),
    .w_valid_i,
    .w_data_i,
    .w_strb_i,
    .w_last_i,
    .w_ready_o         (w_ready),
    .b_valid_o         (b_valid),
    .b_resp_o          (b_resp),
    .m_axi_arvalid_o   (arvalid),
    .m_axi_arready_i   (arready_i),
    .m_axi_arid_o      (arid),
    .m_axi_araddr_o    (araddr),
    .m_axi_arlen_o     (arlen),
    .m_axi_arsize_o    (arsize),
    .m_axi_arburst_o   (arburst),
    .m_axi_rvalid_i    (rvalid_i),
    .m_axi_rready_o    (rready),
    .m_axi_rid_i       (rid_i),
    .m_axi_rdata_i     (rdata_i),
    .m_axi_rresp_i     (2'd0),
    .m_axi_rlast_i     (rlast_i),
    .m_axi_awvalid_o   (awvalid),
    .m_axi_awready_i   (awready_i),
    .m_axi_awid_o      (awid),
    .m_axi_awaddr_o    (awaddr),
    .m_axi_awlen_o     (awlen),
    .m_axi_awsize_o    (awsize),
    .m_axi_awburst_o   (awburst),
    .m_axi_wvalid_o    (wvalid),
    .m_axi_wready_i    (wready_i),
    .m_axi_wdata_o     (wdata),
    .m_axi_wstrb_o     (wstrb),
    .m_axi_wlast_o     (wlast),
    .m_axi_bvalid_i    (bvalid_i),
    .m_axi_bready_o    (bready),
    .m_axi_bid_i       (2'd0),
    .m_axi_bresp_i     (2'd0),
    .trace_o           (trace)
  );

  logic [2:0] stalled_q;  // requests that wait
  logic [191:0] ar_addr_q;
  logic [23:0] ar_len_q;
  logic shown_q;
  logic [1:0] arid_q;
  logic [63:0] araddr_q;
  logic [7:0] arlen_q;
  logic [3:0] wait_q, fetch_age_q;
  logic [2:0] same;

  always_comb begin
    for (int k = 0; k < 3; k++) begin
      same[k] = ar_addr_i[64*k+:64] == ar_addr_q[64*k+:64] && ar_len_i[8*k+:8] == ar_len_q[8*k+:8];
    end
  end

  always_ff @(posedge clk_i) begin
    stalled_q <= rst_ni ? ar_valid_i & ~ar_ready : '0;
    shown_q   <= rst_ni && arvalid && !arready_i;
    ar_addr_q <= ar_addr_i;
    ar_len_q  <= ar_len_i;
    arid_q    <= arid;
    araddr_q  <= araddr;
    arlen_q   <= arlen;
    if (!rst_ni) begin
      wait_q      <= '0;
      fetch_age_q <= '0;
    end else begin
      wait_q      <= arvalid && !arready_i ? wait_q + 4'd1 : '0;
      fetch_age_q <= ar_valid_i[0] && !ar_ready[0] ? fetch_age_q + 4'd1 : '0;
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // A requester that waits keeps its request, its address and its length.
      requesters_keep: assume ((stalled_q & ~(ar_valid_i & same)) == '0);
      // Fairness: memory takes a read address within PATIENCE cycles.
      ar_fair: assume (wait_q < 4'(PATIENCE) || arready_i);
      // Memory answers with an id that somebody has.
      ids: assume (!rvalid_i || rid_i != 2'd3);

      // A read address that memory has not taken stays valid.
      if (shown_q) ar_not_dropped: assert (arvalid);
      // A read address that memory has not taken stays the same: id, address and length.
      if (shown_q) ar_stable: assert (arid == arid_q && araddr == araddr_q && arlen == arlen_q);
      // With no request shown before, fetch goes before load, and load before weights.
      if (!shown_q && arvalid) ar_order: assert (arid == (ar_valid_i[0] ? 2'd0 : ar_valid_i[1] ? 2'd1 : 2'd2));
      // Exactly the requester that is shown sees memory's ready.
      if (arvalid && arready_i) one_ready: assert (ar_ready == (3'd1 << arid));
      // A requester's handshake is one with memory: no request gets lost between them.
      if ((ar_ready & ar_valid_i) != '0) no_ghost: assert (arvalid && arready_i);
      // Every request is seen by memory at once if it is alone.
      if (ar_valid_i != '0) shown: assert (arvalid);
      // A fetch request is taken within 2 * PATIENCE + 1 cycles.
      if (fetch_age_q != '0) fetch_bound: assert (fetch_age_q <= 4'(2 * PATIENCE + 1));
      // An answer goes to the requester it names and to nobody else.
      if (rvalid_i) routed: assert (r_valid == (3'd1 << rid_i));
      // Without an answer nobody sees one, and none is taken.
      if (!rvalid_i) none: assert (r_valid == '0 && !rready);
      // Memory sees ready exactly if the requester named takes the beat.
      if (rvalid_i) r_taken: assert (rready == r_ready_i[rid_i]);
      // The trace has a read address exactly in the cycle of its handshake.
      if (arvalid && arready_i) trace_ar: assert (trace[95:0] == {araddr, 1'b1, 21'd0, arid, arlen});
      // The trace is silent about read addresses in all other cycles.
      if (!(arvalid && arready_i)) trace_ar_idle: assert (trace[95:0] == '0);
      // The trace has a write address exactly in the cycle of its handshake.
      if (awvalid && awready_i) trace_aw: assert (trace[191:96] == {awaddr, 1'b1, 23'd0, awlen});
      // The trace has a write beat exactly in the cycle of its handshake: last, strobes, data.
      if (wvalid && wready_i) trace_w: assert (trace[223:192] == {1'b1, 30'd0, wlast} && trace[224+:MB] == wstrb
          && trace[256+:MEM_BITS] == wdata);
      // The trace is silent about write beats in all other cycles.
      if (!(wvalid && wready_i)) trace_w_idle: assert (trace[255+MEM_BITS:192] == '0);
    end
  end

endmodule
