// SPDX-License-Identifier: Apache-2.0
//
// The core's one AXI4 master: reads of fetch, load and weights, writes of store.
//
// AR shows the highest-priority valid request (fetch, then load, then weights); once shown and not accepted it is
// kept until its handshake. The read id is the requester's number (0, 1, 2), and responses are routed by it.
// AW, W and B belong to store. INCR bursts of full-width beats.
// Latency: none, every path is combinational from the requesters' registers or from the port's inputs.
// Stalls: a requester sees ready in the cycle of its handshake; B is always taken. Reset: the kept choice only.

module bm_port #(
  parameter int MEM_BITS = 64,  // a power of two, 32 to 1024
  parameter int TRACE_W = 32 * (8 + (MEM_BITS / 8 + 31) / 32 + MEM_BITS / 32),
  parameter bit TRACE = 1'b1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // reads of fetch
  input  logic                  fetch_ar_valid_i,
  input  logic [          63:0] fetch_ar_addr_i,
  input  logic [           7:0] fetch_ar_len_i,
  output logic                  fetch_ar_ready_o,
  output logic                  fetch_r_valid_o,
  input  logic                  fetch_r_ready_i,
  // reads of load
  input  logic                  load_ar_valid_i,
  input  logic [          63:0] load_ar_addr_i,
  input  logic [           7:0] load_ar_len_i,
  output logic                  load_ar_ready_o,
  output logic                  load_r_valid_o,
  input  logic                  load_r_ready_i,
  // reads of weights
  input  logic                  weights_ar_valid_i,
  input  logic [          63:0] weights_ar_addr_i,
  input  logic [           7:0] weights_ar_len_i,
  output logic                  weights_ar_ready_o,
  output logic                  weights_r_valid_o,
  input  logic                  weights_r_ready_i,
  // read data, to whoever has r_valid
  output logic [  MEM_BITS-1:0] r_data_o,
  output logic [           1:0] r_resp_o,
  output logic                  r_last_o,
  // writes of store
  input  logic                  aw_valid_i,
  input  logic [          63:0] aw_addr_i,
  input  logic [           7:0] aw_len_i,
  output logic                  aw_ready_o,
  input  logic                  w_valid_i,
  input  logic [  MEM_BITS-1:0] w_data_i,
  input  logic [MEM_BITS/8-1:0] w_strb_i,
  input  logic                  w_last_i,
  output logic                  w_ready_o,
  output logic                  b_valid_o,
  output logic [           1:0] b_resp_o,
  // memory
  output logic                  m_axi_arvalid_o,
  input  logic                  m_axi_arready_i,
  output logic [           1:0] m_axi_arid_o,
  output logic [          63:0] m_axi_araddr_o,
  output logic [           7:0] m_axi_arlen_o,
  output logic [           2:0] m_axi_arsize_o,
  output logic [           1:0] m_axi_arburst_o,
  input  logic                  m_axi_rvalid_i,
  output logic                  m_axi_rready_o,
  input  logic [           1:0] m_axi_rid_i,
  input  logic [  MEM_BITS-1:0] m_axi_rdata_i,
  input  logic [           1:0] m_axi_rresp_i,
  input  logic                  m_axi_rlast_i,
  output logic                  m_axi_awvalid_o,
  input  logic                  m_axi_awready_i,
  output logic [           1:0] m_axi_awid_o,
  output logic [          63:0] m_axi_awaddr_o,
  output logic [           7:0] m_axi_awlen_o,
  output logic [           2:0] m_axi_awsize_o,
  output logic [           1:0] m_axi_awburst_o,
  output logic                  m_axi_wvalid_o,
  input  logic                  m_axi_wready_i,
  output logic [  MEM_BITS-1:0] m_axi_wdata_o,
  output logic [MEM_BITS/8-1:0] m_axi_wstrb_o,
  output logic                  m_axi_wlast_o,
  input  logic                  m_axi_bvalid_i,
  output logic                  m_axi_bready_o,
  input  logic [           1:0] m_axi_bid_i,  // always 0
  input  logic [           1:0] m_axi_bresp_i,

  output logic [   TRACE_W-1:0] trace_o
);

  localparam int MB = MEM_BITS / 8;
  localparam logic [1:0] FETCH = 2'd0, LOAD = 2'd1, WEIGHTS = 2'd2;
  localparam logic [1:0] BURST_INCR = 2'b01;

  logic kept_q;  // the choice was shown and not accepted
  logic [1:0] kept_id_q, id;

  always_comb begin
    id = WEIGHTS;
    if (load_ar_valid_i) id = LOAD;
    if (fetch_ar_valid_i) id = FETCH;
    if (kept_q) id = kept_id_q;
  end

  always_comb begin
    m_axi_arvalid_o = weights_ar_valid_i;
    m_axi_araddr_o  = weights_ar_addr_i;
    m_axi_arlen_o   = weights_ar_len_i;
    if (id == LOAD) begin
      m_axi_arvalid_o = load_ar_valid_i;
      m_axi_araddr_o  = load_ar_addr_i;
      m_axi_arlen_o   = load_ar_len_i;
    end
    if (id == FETCH) begin
      m_axi_arvalid_o = fetch_ar_valid_i;
      m_axi_araddr_o  = fetch_ar_addr_i;
      m_axi_arlen_o   = fetch_ar_len_i;
    end
  end

  assign m_axi_arid_o = id;
  assign m_axi_arsize_o = 3'($clog2(MB));
  assign m_axi_arburst_o = BURST_INCR;
  assign fetch_ar_ready_o = id == FETCH && m_axi_arready_i;
  assign load_ar_ready_o = id == LOAD && m_axi_arready_i;
  assign weights_ar_ready_o = id == WEIGHTS && m_axi_arready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      kept_q <= 1'b0;
      kept_id_q <= 2'd0;
    end else begin
      kept_q <= m_axi_arvalid_o && !m_axi_arready_i;
      kept_id_q <= id;
    end
  end

  assign fetch_r_valid_o = m_axi_rvalid_i && m_axi_rid_i == FETCH;
  assign load_r_valid_o = m_axi_rvalid_i && m_axi_rid_i == LOAD;
  assign weights_r_valid_o = m_axi_rvalid_i && m_axi_rid_i == WEIGHTS;
  assign r_data_o = m_axi_rdata_i;
  assign r_resp_o = m_axi_rresp_i;
  assign r_last_o = m_axi_rlast_i;
  assign m_axi_rready_o = (fetch_r_valid_o && fetch_r_ready_i) || (load_r_valid_o && load_r_ready_i)
      || (weights_r_valid_o && weights_r_ready_i);

  assign m_axi_awvalid_o = aw_valid_i;
  assign m_axi_awid_o = 2'd0;
  assign m_axi_awaddr_o = aw_addr_i;
  assign m_axi_awlen_o = aw_len_i;
  assign m_axi_awsize_o = 3'($clog2(MB));
  assign m_axi_awburst_o = BURST_INCR;
  assign aw_ready_o = m_axi_awready_i;
  assign m_axi_wvalid_o = w_valid_i;
  assign m_axi_wdata_o = w_data_i;
  assign m_axi_wstrb_o = w_strb_i;
  assign m_axi_wlast_o = w_last_i;
  assign w_ready_o = m_axi_wready_i;
  assign b_valid_o = m_axi_bvalid_i;
  assign b_resp_o = m_axi_bresp_i;
  assign m_axi_bready_o = 1'b1;

  if (TRACE) begin : gen_trace
    localparam int STROBE_W = 32 * ((MB + 31) / 32);
    logic ar_fires, aw_fires, w_fires;
    logic [95:0] ar_slot, aw_slot;
    logic [31:0] w_head, ready_slot;
    logic [STROBE_W-1:0] strobe;

    assign ar_fires = m_axi_arvalid_o && m_axi_arready_i;
    assign aw_fires = aw_valid_i && m_axi_awready_i;
    assign w_fires = w_valid_i && m_axi_wready_i;
    assign ar_slot = ar_fires ? {m_axi_araddr_o, 1'b1, 21'd0, id, m_axi_arlen_o} : '0;
    assign aw_slot = aw_fires ? {aw_addr_i, 1'b1, 23'd0, aw_len_i} : '0;
    assign w_head = w_fires ? {1'b1, 30'd0, w_last_i} : '0;
    assign strobe = w_fires ? STROBE_W'(w_strb_i) : '0;
    assign ready_slot = {30'd0, m_axi_bready_o, m_axi_rready_o};
    assign trace_o = {ready_slot, w_fires ? w_data_i : '0, strobe, w_head, aw_slot, ar_slot};
  end else begin : gen_no_trace
    assign trace_o = '0;
  end

  always @(posedge clk_i) begin
    // store's only id, and no read id that nobody has
    if (rst_ni) assert (!m_axi_bvalid_i || m_axi_bid_i == 2'd0);
    if (rst_ni) assert (!m_axi_rvalid_i || m_axi_rid_i != 2'd3);
  end

endmodule
