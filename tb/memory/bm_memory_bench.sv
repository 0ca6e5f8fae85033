// SPDX-License-Identifier: Apache-2.0
//
// Bench top: load, store and the memory port, with everything around them left to the bench: queues, grants,
// scratchpad, fetch's and weights' requests, and the memory. Signals of load and store are told apart by a prefix.

module bm_memory_bench
  import bm_pkg::*;
#(
  parameter int ROWS = 8,
  parameter int COLS = 8,
  parameter int SP_WORDS = 64,
  parameter int MEM_BITS = 64,
  parameter int OUTSTANDING = 4,
  parameter int PARAM_ROWS = 4,
  localparam int LANES = ROWS > COLS ? ROWS : COLS,
  localparam int MB = MEM_BITS / 8,
  localparam int SP_AW = $clog2(SP_WORDS),
  localparam int PAR_AW = $clog2(PARAM_ROWS * 8 * COLS / LANES),
  localparam int PORT_TW = 32 * (8 + (MB + 31) / 32 + MB / 4),
  localparam int LOAD_TW = 32 * (4 + (LANES + 31) / 32 + LANES / 4),
  localparam int STORE_TW = 32 * (4 + LANES / 4)
) (
  input  logic                clk_i,
  input  logic                rst_ni,         // of the port
  input  logic                engine_rst_ni,  // of load and store
  input  logic                halt_i,
  input  logic [BASES*64-1:0] base_i,
  input  logic [BASES*64-1:0] size_i,
  input  logic                load_instr_valid_i,
  input  logic [ INSTR_W-1:0] load_instr_i,
  input  logic [   SEQ_W-1:0] load_seq_i,
  input  logic                load_grant_i,
  input  logic                load_wgrant_i,
  input  logic                store_instr_valid_i,
  input  logic [ INSTR_W-1:0] store_instr_i,
  input  logic [   SEQ_W-1:0] store_seq_i,
  input  logic                store_grant_i,
  input  logic                store_rgrant_i,
  input  logic [ 8*LANES-1:0] store_rdata_i,
  // fetch and weights, as the bench plays them: {valid, len, addr}
  input  logic [        72:0] fetch_ar_i,
  input  logic                fetch_r_ready_i,
  input  logic [        72:0] weights_ar_i,
  input  logic                weights_r_ready_i,
  // memory
  input  logic                m_axi_arready_i,
  input  logic                m_axi_rvalid_i,
  input  logic [         1:0] m_axi_rid_i,
  input  logic [MEM_BITS-1:0] m_axi_rdata_i,
  input  logic [         1:0] m_axi_rresp_i,
  input  logic                m_axi_rlast_i,
  input  logic                m_axi_awready_i,
  input  logic                m_axi_wready_i,
  input  logic                m_axi_bvalid_i,
  input  logic [         1:0] m_axi_bid_i,
  input  logic [         1:0] m_axi_bresp_i,
  output logic                m_axi_arvalid_o,
  output logic [         1:0] m_axi_arid_o,
  output logic [        63:0] m_axi_araddr_o,
  output logic [         7:0] m_axi_arlen_o,
  output logic [         2:0] m_axi_arsize_o,
  output logic [         1:0] m_axi_arburst_o,
  output logic                m_axi_rready_o,
  output logic                m_axi_awvalid_o,
  output logic [         1:0] m_axi_awid_o,
  output logic [        63:0] m_axi_awaddr_o,
  output logic [         7:0] m_axi_awlen_o,
  output logic [         2:0] m_axi_awsize_o,
  output logic [         1:0] m_axi_awburst_o,
  output logic                m_axi_wvalid_o,
  output logic [MEM_BITS-1:0] m_axi_wdata_o,
  output logic [      MB-1:0] m_axi_wstrb_o,
  output logic                m_axi_wlast_o,
  output logic                m_axi_bready_o,
  // packed for one read each: the trace records of load, store and port; control (72 bits per engine); the rest
  output logic [LOAD_TW+STORE_TW+PORT_TW-1:0] trace_o,
  output logic [       159:0] control_o,
  output logic [       127:0] channels_o,
  output logic [ 9*LANES-1:0] write_o
);

  logic load_ar_valid, load_ar_ready, load_r_valid, load_r_ready;
  logic [63:0] load_ar_addr, aw_addr;
  logic [7:0] load_ar_len, aw_len;
  logic [MEM_BITS-1:0] r_data, w_data;
  logic [1:0] r_resp, b_resp;
  logic r_last, aw_valid, aw_ready, w_valid, w_last, w_ready, b_valid;
  logic [MB-1:0] w_strb;
  logic fetch_ar_ready, fetch_r_valid, weights_ar_ready, weights_r_valid;
  logic sp_wvalid, par_wvalid, sp_req_valid;
  logic [SP_AW-1:0] sp_waddr, sp_req_addr;
  logic [PAR_AW-1:0] par_waddr;
  logic [LANES-1:0] sp_wenable, par_wenable;
  logic [8*LANES-1:0] sp_wdata, par_wdata;
  logic [79:0] load_control, store_control;
  logic [LOAD_TW-1:0] load_trace;
  logic [STORE_TW-1:0] store_trace;
  logic [PORT_TW-1:0] port_trace;

  bm_load #(
    .ROWS(ROWS),
    .COLS(COLS),
    .SP_WORDS(SP_WORDS),
    .MEM_BITS(MEM_BITS),
    .OUTSTANDING(OUTSTANDING),
    .PARAM_ROWS(PARAM_ROWS),
    .TRACE_W(LOAD_TW)
  ) u_load (
    .clk_i,
    .rst_ni(engine_rst_ni),
    .halt_i,
    .instr_valid_i(load_instr_valid_i),
    .instr_i(load_instr_i),
    .seq_i(load_seq_i),
    .wait_valid_o(load_control[0]),
    .wait_issue_o(load_control[1]),
    .wait_sync_o(load_control[19:2]),
    .wait_grant_i(load_grant_i),
    .sig_o(load_control[31:20]),
    .err_valid_o(load_control[32]),
    .err_code_o(load_control[40:33]),
    .err_seq_o(load_control[56:41]),
    .busy_o(load_control[57]),
    .pending_o(load_control[58]),
    .stuck_o(load_control[59]),
    .stuck_seq_o(load_control[75:60]),
    .base_i,
    .size_i,
    .ar_valid_o(load_ar_valid),
    .ar_addr_o(load_ar_addr),
    .ar_len_o(load_ar_len),
    .ar_ready_i(load_ar_ready),
    .r_valid_i(load_r_valid),
    .r_data_i(r_data),
    .r_resp_i(r_resp),
    .r_last_i(r_last),
    .r_ready_o(load_r_ready),
    .sp_wvalid_o(sp_wvalid),
    .sp_waddr_o(sp_waddr),
    .sp_wenable_o(sp_wenable),
    .sp_wdata_o(sp_wdata),
    .sp_wgrant_i(load_wgrant_i),
    .par_wvalid_o(par_wvalid),
    .par_waddr_o(par_waddr),
    .par_wenable_o(par_wenable),
    .par_wdata_o(par_wdata),
    .trace_o(load_trace)
  );

  bm_store #(
    .ROWS(ROWS),
    .COLS(COLS),
    .SP_WORDS(SP_WORDS),
    .MEM_BITS(MEM_BITS),
    .OUTSTANDING(OUTSTANDING),
    .TRACE_W(STORE_TW)
  ) u_store (
    .clk_i,
    .rst_ni(engine_rst_ni),
    .halt_i,
    .instr_valid_i(store_instr_valid_i),
    .instr_i(store_instr_i),
    .seq_i(store_seq_i),
    .wait_valid_o(store_control[0]),
    .wait_issue_o(store_control[1]),
    .wait_sync_o(store_control[19:2]),
    .wait_grant_i(store_grant_i),
    .sig_o(store_control[31:20]),
    .err_valid_o(store_control[32]),
    .err_code_o(store_control[40:33]),
    .err_seq_o(store_control[56:41]),
    .busy_o(store_control[57]),
    .pending_o(store_control[58]),
    .stuck_o(store_control[59]),
    .stuck_seq_o(store_control[75:60]),
    .base_i,
    .size_i,
    .sp_req_valid_o(sp_req_valid),
    .sp_req_addr_o(sp_req_addr),
    .sp_grant_i(store_rgrant_i),
    .sp_rdata_i(store_rdata_i),
    .aw_valid_o(aw_valid),
    .aw_addr_o(aw_addr),
    .aw_len_o(aw_len),
    .aw_ready_i(aw_ready),
    .w_valid_o(w_valid),
    .w_data_o(w_data),
    .w_strb_o(w_strb),
    .w_last_o(w_last),
    .w_ready_i(w_ready),
    .b_valid_i(b_valid),
    .b_resp_i(b_resp),
    .trace_o(store_trace)
  );

  bm_port #(
    .MEM_BITS(MEM_BITS),
    .TRACE_W(PORT_TW)
  ) u_port (
    .clk_i,
    .rst_ni,
    .fetch_ar_valid_i(fetch_ar_i[72]),
    .fetch_ar_addr_i(fetch_ar_i[63:0]),
    .fetch_ar_len_i(fetch_ar_i[71:64]),
    .fetch_ar_ready_o(fetch_ar_ready),
    .fetch_r_valid_o(fetch_r_valid),
    .fetch_r_ready_i(fetch_r_ready_i),
    .load_ar_valid_i(load_ar_valid),
    .load_ar_addr_i(load_ar_addr),
    .load_ar_len_i(load_ar_len),
    .load_ar_ready_o(load_ar_ready),
    .load_r_valid_o(load_r_valid),
    .load_r_ready_i(load_r_ready),
    .weights_ar_valid_i(weights_ar_i[72]),
    .weights_ar_addr_i(weights_ar_i[63:0]),
    .weights_ar_len_i(weights_ar_i[71:64]),
    .weights_ar_ready_o(weights_ar_ready),
    .weights_r_valid_o(weights_r_valid),
    .weights_r_ready_i(weights_r_ready_i),
    .r_data_o(r_data),
    .r_resp_o(r_resp),
    .r_last_o(r_last),
    .aw_valid_i(aw_valid),
    .aw_addr_i(aw_addr),
    .aw_len_i(aw_len),
    .aw_ready_o(aw_ready),
    .w_valid_i(w_valid),
    .w_data_i(w_data),
    .w_strb_i(w_strb),
    .w_last_i(w_last),
    .w_ready_o(w_ready),
    .b_valid_o(b_valid),
    .b_resp_o(b_resp),
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_arid_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o,
    .m_axi_rvalid_i,
    .m_axi_rready_o,
    .m_axi_rid_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_awid_o,
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_bvalid_i,
    .m_axi_bready_o,
    .m_axi_bid_i,
    .m_axi_bresp_i,
    .trace_o(port_trace)
  );

  assign load_control[79:76] = '0;
  assign store_control[79:76] = '0;
  assign trace_o = {port_trace, store_trace, load_trace};
  assign control_o = {store_control, load_control};
  // 16-bit places from bit 0: load's scratchpad address, parameter address, store's address, flags; zero when not valid
  assign channels_o = {
    40'd0,
    m_axi_arvalid_o, m_axi_awvalid_o, m_axi_wvalid_o,
    fetch_ar_ready && fetch_ar_i[72], load_ar_ready && load_ar_valid, weights_ar_ready && weights_ar_i[72], fetch_r_valid, weights_r_valid,
    5'd0, sp_wvalid, par_wvalid, sp_req_valid,
    4'd0, sp_req_valid ? 20'(sp_req_addr) : 20'd0,
    4'd0, par_wvalid ? 20'(par_waddr) : 20'd0,
    4'd0, sp_wvalid ? 20'(sp_waddr) : 20'd0
  };
  assign write_o = sp_wvalid ? {sp_wenable, sp_wdata} : par_wvalid ? {par_wenable, par_wdata} : '0;

endmodule
