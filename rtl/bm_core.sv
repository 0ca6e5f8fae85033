// SPDX-License-Identifier: Apache-2.0
//
// The whole machine, wiring only: host -> frontend -> five engines around two local memories and one memory port,
// or two: with WEIGHT_PORT the weights come through a port of their own.
//
// Streams: AXI4-Lite slave in (registers, start), AXI4 master out (program, operands, results),
//          AXI4 read-only master out (weights, if WEIGHT_PORT is 1; else constant).
// Latency: docs/timing.md; every border between two stations is registered on the sender's side.
// Reset:   rst_ni is synchronous; a start resets the engines again through engine_rst_n.
// Trace:   trace_o is the record of this cycle (model/beatmatch/trace.py), zero when TRACE is 0.

module bm_core
  import bm_pkg::*;
#(
    parameter int ROWS        = 8,     // 4..256, power of two
    parameter int COLS        = 8,     // 4..256, power of two
    parameter int SP_WORDS    = 4096,  // in all banks
    parameter int SP_BANKS    = 2,     // 1..8
    parameter int ACC_ROWS    = 256,   // in all banks
    parameter int ACC_BANKS   = 2,     // 1..8
    parameter int FIFO_TILES  = 4,     // 2..16
    parameter int QUEUE_DEPTH = 8,     // 1..32
    parameter int MEM_BITS    = 64,    // 32..1024, power of two
    parameter int OUTSTANDING = 8,     // 1..64
    parameter int PARAM_ROWS  = 32,    // 4..128, power of two
    parameter int WEIGHT_PORT = 0,     // 0 or 1
    parameter bit TRACE       = 1'b1,

    // Derived; do not override.
    localparam int LANES     = (ROWS > COLS) ? ROWS : COLS,
    localparam int MB        = MEM_BITS / 8,
    localparam int SP_AW     = $clog2(SP_WORDS),
    localparam int ACC_AW    = $clog2(ACC_ROWS),
    localparam int PAR_AW    = $clog2(PARAM_ROWS * 8 * COLS / LANES),
    localparam int LANE_WORDS   = LANES / 4,
    localparam int ENABLE_WORDS = (LANES + 31) / 32,
    localparam int COL_WORDS    = COLS / 4,
    localparam int BEAT_WORDS   = MB / 4,
    localparam int STROBE_WORDS = (MB + 31) / 32,
    localparam int HOST_TW   = 32 * 4,
    localparam int FRONT_TW  = 32 * 12,
    localparam int PORT_TW   = 32 * (8 + STROBE_WORDS + BEAT_WORDS),
    localparam int LOAD_TW   = 32 * (4 + ENABLE_WORDS + LANE_WORDS),
    localparam int WEIGHT_TW = 32 * (5 + LANE_WORDS + COL_WORDS),
    localparam int MATMUL_TW = 32 * (7 + LANE_WORDS),
    localparam int ACC_TW    = 32 * (2 + 2 * COLS),
    localparam int VECTOR_TW = 32 * (6 + LANE_WORDS + COL_WORDS),
    localparam int STORE_TW  = 32 * (4 + LANE_WORDS),
    localparam int WPORT_TW  = 32 * 4,
    localparam int ALL_TW    = HOST_TW + FRONT_TW + PORT_TW + LOAD_TW + WEIGHT_TW + MATMUL_TW + ACC_TW + VECTOR_TW + STORE_TW,
    localparam int TRACE_W   = ALL_TW + WPORT_TW * WEIGHT_PORT
) (
    input  logic clk_i,
    input  logic rst_ni,

    // Host: AXI4-Lite slave
    input  logic        s_axil_awvalid_i,
    output logic        s_axil_awready_o,
    input  logic [11:0] s_axil_awaddr_i,
    input  logic        s_axil_wvalid_i,
    output logic        s_axil_wready_o,
    input  logic [31:0] s_axil_wdata_i,
    input  logic [ 3:0] s_axil_wstrb_i,
    output logic        s_axil_bvalid_o,
    input  logic        s_axil_bready_i,
    output logic [ 1:0] s_axil_bresp_o,
    input  logic        s_axil_arvalid_i,
    output logic        s_axil_arready_o,
    input  logic [11:0] s_axil_araddr_i,
    output logic        s_axil_rvalid_o,
    input  logic        s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [ 1:0] s_axil_rresp_o,

    // Memory: AXI4 master
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

    // Weight memory: AXI4 master, reads only
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

    output logic [TRACE_W-1:0] trace_o
);

  // Engines in the order load, weights, matmul, vector, store.
  localparam int ENGINES = 5;
  localparam int LD = 0;
  localparam int WT = 1;
  localparam int MM = 2;
  localparam int VE = 3;
  localparam int ST = 4;

  logic                       engine_rst_n;
  logic                       halt;
  logic [ENGINES-1:0]         instr_valid, wait_valid, wait_issue, wait_grant, err_valid, busy, pending, stuck;
  logic [ENGINES*INSTR_W-1:0] instr;
  logic [ENGINES*SEQ_W-1:0]   seq, err_seq, stuck_seq;
  logic [ENGINES*18-1:0]      wait_sync;
  logic [ENGINES*12-1:0]      sig;
  logic [ENGINES*8-1:0]       err_code;

  logic [BASES*64-1:0] base, size;

  // Memory port and its users
  logic                fetch_ar_valid, fetch_ar_ready, fetch_r_valid, fetch_r_ready;
  logic                load_ar_valid, load_ar_ready, load_r_valid, load_r_ready;
  logic                weights_ar_valid, weights_ar_ready, weights_r_valid, weights_r_ready;
  logic [63:0]         fetch_ar_addr, load_ar_addr, weights_ar_addr, aw_addr;
  logic [7:0]          fetch_ar_len, load_ar_len, weights_ar_len, aw_len;
  logic [MEM_BITS-1:0] r_data, w_data;
  logic [1:0]          r_resp, b_resp;
  logic                r_last;
  logic                tiles_ar_valid, tiles_ar_ready, tiles_r_valid, tiles_r_ready;  // of weights on the memory port
  logic [63:0]         tiles_ar_addr;
  logic [7:0]          tiles_ar_len;
  logic [MEM_BITS-1:0] weights_r_data;
  logic [1:0]          weights_r_resp;
  logic                weights_r_last;
  logic                aw_valid, aw_ready, w_valid, w_last, w_ready, b_valid;
  logic [MB-1:0]       w_strb;

  // Scratchpad
  logic               matmul_req_valid, weights_req_valid, vector_req_valid, store_req_valid;
  logic               weights_grant, vector_grant, store_grant;
  logic [SP_AW-1:0]   matmul_req_addr, weights_req_addr, vector_req_addr, store_req_addr;
  logic [8*LANES-1:0] matmul_rdata, weights_rdata, vector_rdata, store_rdata;
  logic               vector_wvalid, load_wvalid, load_wgrant;
  logic [SP_AW-1:0]   vector_waddr, load_waddr;
  logic [LANES-1:0]   vector_wenable, load_wenable;
  logic [8*LANES-1:0] vector_wdata, load_wdata;

  // Parameter memory
  logic               par_wvalid;
  logic [PAR_AW-1:0]  par_waddr;
  logic [LANES-1:0]   par_wenable;
  logic [8*LANES-1:0] par_wdata;

  // Weight FIFO
  logic              fifo_wvalid, fifo_tile_done, fifo_rvalid, fifo_release;
  logic [3:0]        fifo_wtile, fifo_rtile;
  logic [7:0]        fifo_wrow, fifo_rrow;
  logic [4:0]        fifo_count;
  logic [8*COLS-1:0] fifo_wdata, fifo_rdata;

  // Accumulator
  logic               acc_pre_valid, acc_valid, acc_add, acc_req_valid, acc_grant, overflow;
  logic [ACC_AW-1:0]  acc_pre_addr, acc_addr, acc_req_addr;
  logic [32*COLS-1:0] acc_data, acc_rdata;

  // Accounting
  logic        active, weight_shift, weight_stall, matmul_wait;
  logic [16:0] useful;

  // Host and frontend
  logic        run, error_valid, done_set;
  logic [63:0] prog_addr, cycles;
  logic [31:0] prog_len, cycle_limit;
  logic [7:0]  error_code;
  logic [3:0]  error_engine;
  logic [15:0] error_seq;

  logic [HOST_TW-1:0]   host_trace;
  logic [FRONT_TW-1:0]  frontend_trace;
  logic [PORT_TW-1:0]   port_trace;
  logic [LOAD_TW-1:0]   load_trace;
  logic [WEIGHT_TW-1:0] weights_trace;
  logic [MATMUL_TW-1:0] matmul_trace;
  logic [ACC_TW-1:0]    accumulator_trace;
  logic [VECTOR_TW-1:0] vector_trace;
  logic [STORE_TW-1:0]  store_trace;
  logic [WPORT_TW-1:0]  weight_port_trace;

  // Without a weight port the record ends before its words.
  assign trace_o = TRACE_W'({
    weight_port_trace, store_trace, vector_trace, accumulator_trace, matmul_trace, weights_trace, load_trace, port_trace,
    frontend_trace, host_trace
  });

  // Registers, start, done, counters
  bm_host #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .SP_BANKS(SP_BANKS), .ACC_ROWS(ACC_ROWS), .ACC_BANKS(ACC_BANKS),
      .FIFO_TILES(FIFO_TILES), .QUEUE_DEPTH(QUEUE_DEPTH), .MEM_BITS(MEM_BITS), .OUTSTANDING(OUTSTANDING), .PARAM_ROWS(PARAM_ROWS),
      .TRACE_W(HOST_TW), .TRACE(TRACE)
  ) u_host (
      .clk_i(clk_i), .rst_ni(rst_ni), .s_axil_awvalid_i(s_axil_awvalid_i), .s_axil_awready_o(s_axil_awready_o),
      .s_axil_awaddr_i(s_axil_awaddr_i), .s_axil_wvalid_i(s_axil_wvalid_i), .s_axil_wready_o(s_axil_wready_o),
      .s_axil_wdata_i(s_axil_wdata_i), .s_axil_wstrb_i(s_axil_wstrb_i), .s_axil_bvalid_o(s_axil_bvalid_o),
      .s_axil_bready_i(s_axil_bready_i), .s_axil_bresp_o(s_axil_bresp_o), .s_axil_arvalid_i(s_axil_arvalid_i),
      .s_axil_arready_o(s_axil_arready_o), .s_axil_araddr_i(s_axil_araddr_i), .s_axil_rvalid_o(s_axil_rvalid_o),
      .s_axil_rready_i(s_axil_rready_i), .s_axil_rdata_o(s_axil_rdata_o), .s_axil_rresp_o(s_axil_rresp_o),
      .engine_rst_no(engine_rst_n), .base_o(base), .size_o(size), .run_o(run), .prog_addr_o(prog_addr),
      .prog_len_o(prog_len), .cycle_limit_o(cycle_limit), .cycles_o(cycles), .halt_i(halt), .error_valid_i(error_valid),
      .error_code_i(error_code), .error_engine_i(error_engine), .error_seq_i(error_seq), .done_set_i(done_set), .active_i(active),
      .weight_shift_i(weight_shift), .weight_stall_i(weight_stall), .wait_i(matmul_wait), .load_busy_i(busy[LD]), .useful_i(useful),
      .overflow_i(overflow), .trace_o(host_trace)
  );

  // Fetch, decode, queues, semaphores, errors
  bm_frontend #(
      .ROWS(ROWS), .COLS(COLS), .QUEUE_DEPTH(QUEUE_DEPTH), .MEM_BITS(MEM_BITS), .TRACE_W(FRONT_TW), .TRACE(TRACE)
  ) u_frontend (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .run_i(run), .prog_addr_i(prog_addr), .prog_len_i(prog_len),
      .cycle_limit_i(cycle_limit), .cycles_i(cycles), .ar_valid_o(fetch_ar_valid), .ar_addr_o(fetch_ar_addr),
      .ar_len_o(fetch_ar_len), .ar_ready_i(fetch_ar_ready), .r_valid_i(fetch_r_valid), .r_data_i(r_data), .r_resp_i(r_resp),
      .r_last_i(r_last), .r_ready_o(fetch_r_ready), .instr_valid_o(instr_valid), .instr_o(instr), .seq_o(seq),
      .wait_valid_i(wait_valid), .wait_issue_i(wait_issue), .wait_sync_i(wait_sync), .wait_grant_o(wait_grant), .sig_i(sig),
      .err_valid_i(err_valid), .err_code_i(err_code), .err_seq_i(err_seq), .busy_i(busy), .pending_i(pending), .stuck_i(stuck),
      .stuck_seq_i(stuck_seq), .halt_o(halt), .error_valid_o(error_valid), .error_code_o(error_code), .error_engine_o(error_engine),
      .error_seq_o(error_seq), .done_set_o(done_set), .trace_o(frontend_trace)
  );

  // The AXI4 master of all but, with a port of their own, weights
  bm_port #(
      .MEM_BITS(MEM_BITS), .TRACE_W(PORT_TW), .TRACE(TRACE)
  ) u_port (
      .clk_i(clk_i), .rst_ni(rst_ni), .fetch_ar_valid_i(fetch_ar_valid), .fetch_ar_addr_i(fetch_ar_addr),
      .fetch_ar_len_i(fetch_ar_len), .fetch_ar_ready_o(fetch_ar_ready), .fetch_r_valid_o(fetch_r_valid),
      .fetch_r_ready_i(fetch_r_ready), .load_ar_valid_i(load_ar_valid), .load_ar_addr_i(load_ar_addr), .load_ar_len_i(load_ar_len),
      .load_ar_ready_o(load_ar_ready), .load_r_valid_o(load_r_valid), .load_r_ready_i(load_r_ready),
      .weights_ar_valid_i(tiles_ar_valid), .weights_ar_addr_i(tiles_ar_addr), .weights_ar_len_i(tiles_ar_len),
      .weights_ar_ready_o(tiles_ar_ready), .weights_r_valid_o(tiles_r_valid), .weights_r_ready_i(tiles_r_ready),
      .r_data_o(r_data), .r_resp_o(r_resp), .r_last_o(r_last), .aw_valid_i(aw_valid), .aw_addr_i(aw_addr), .aw_len_i(aw_len),
      .aw_ready_o(aw_ready), .w_valid_i(w_valid), .w_data_i(w_data), .w_strb_i(w_strb), .w_last_i(w_last), .w_ready_o(w_ready),
      .b_valid_o(b_valid), .b_resp_o(b_resp), .m_axi_arvalid_o(m_axi_arvalid_o), .m_axi_arready_i(m_axi_arready_i),
      .m_axi_arid_o(m_axi_arid_o), .m_axi_araddr_o(m_axi_araddr_o), .m_axi_arlen_o(m_axi_arlen_o), .m_axi_arsize_o(m_axi_arsize_o),
      .m_axi_arburst_o(m_axi_arburst_o), .m_axi_rvalid_i(m_axi_rvalid_i), .m_axi_rready_o(m_axi_rready_o),
      .m_axi_rid_i(m_axi_rid_i), .m_axi_rdata_i(m_axi_rdata_i), .m_axi_rresp_i(m_axi_rresp_i), .m_axi_rlast_i(m_axi_rlast_i),
      .m_axi_awvalid_o(m_axi_awvalid_o), .m_axi_awready_i(m_axi_awready_i), .m_axi_awid_o(m_axi_awid_o),
      .m_axi_awaddr_o(m_axi_awaddr_o), .m_axi_awlen_o(m_axi_awlen_o), .m_axi_awsize_o(m_axi_awsize_o),
      .m_axi_awburst_o(m_axi_awburst_o), .m_axi_wvalid_o(m_axi_wvalid_o), .m_axi_wready_i(m_axi_wready_i),
      .m_axi_wdata_o(m_axi_wdata_o), .m_axi_wstrb_o(m_axi_wstrb_o), .m_axi_wlast_o(m_axi_wlast_o), .m_axi_bvalid_i(m_axi_bvalid_i),
      .m_axi_bready_o(m_axi_bready_o), .m_axi_bid_i(m_axi_bid_i), .m_axi_bresp_i(m_axi_bresp_i), .trace_o(port_trace)
  );

  // Reads of weights: to the memory port or out of the weight port
  bm_weight_port #(
      .WEIGHT_PORT(WEIGHT_PORT), .MEM_BITS(MEM_BITS), .TRACE_W(WPORT_TW), .TRACE(TRACE)
  ) u_weight_port (
      .clk_i(clk_i), .rst_ni(rst_ni), .weights_ar_valid_i(weights_ar_valid), .weights_ar_addr_i(weights_ar_addr),
      .weights_ar_len_i(weights_ar_len), .weights_ar_ready_o(weights_ar_ready), .weights_r_valid_o(weights_r_valid),
      .weights_r_ready_i(weights_r_ready), .weights_r_data_o(weights_r_data), .weights_r_resp_o(weights_r_resp),
      .weights_r_last_o(weights_r_last), .port_ar_valid_o(tiles_ar_valid), .port_ar_addr_o(tiles_ar_addr),
      .port_ar_len_o(tiles_ar_len), .port_ar_ready_i(tiles_ar_ready), .port_r_valid_i(tiles_r_valid),
      .port_r_ready_o(tiles_r_ready), .port_r_data_i(r_data), .port_r_resp_i(r_resp), .port_r_last_i(r_last), .m_axi_weights_arvalid_o(m_axi_weights_arvalid_o),
      .m_axi_weights_arready_i(m_axi_weights_arready_i), .m_axi_weights_arid_o(m_axi_weights_arid_o),
      .m_axi_weights_araddr_o(m_axi_weights_araddr_o), .m_axi_weights_arlen_o(m_axi_weights_arlen_o),
      .m_axi_weights_arsize_o(m_axi_weights_arsize_o), .m_axi_weights_arburst_o(m_axi_weights_arburst_o),
      .m_axi_weights_rvalid_i(m_axi_weights_rvalid_i), .m_axi_weights_rready_o(m_axi_weights_rready_o),
      .m_axi_weights_rid_i(m_axi_weights_rid_i), .m_axi_weights_rdata_i(m_axi_weights_rdata_i),
      .m_axi_weights_rresp_i(m_axi_weights_rresp_i), .m_axi_weights_rlast_i(m_axi_weights_rlast_i), .trace_o(weight_port_trace)
  );

  // Memory to scratchpad and parameter memory
  bm_load #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .MEM_BITS(MEM_BITS), .OUTSTANDING(OUTSTANDING), .PARAM_ROWS(PARAM_ROWS),
      .TRACE_W(LOAD_TW), .TRACE(TRACE)
  ) u_load (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .halt_i(halt), .instr_valid_i(instr_valid[LD]), .instr_i(instr[LD*INSTR_W+:INSTR_W]),
      .seq_i(seq[LD*SEQ_W+:SEQ_W]), .wait_valid_o(wait_valid[LD]), .wait_issue_o(wait_issue[LD]),
      .wait_sync_o(wait_sync[LD*18+:18]), .wait_grant_i(wait_grant[LD]), .sig_o(sig[LD*12+:12]), .err_valid_o(err_valid[LD]),
      .err_code_o(err_code[LD*8+:8]), .err_seq_o(err_seq[LD*SEQ_W+:SEQ_W]), .busy_o(busy[LD]), .pending_o(pending[LD]),
      .stuck_o(stuck[LD]), .stuck_seq_o(stuck_seq[LD*SEQ_W+:SEQ_W]), .base_i(base), .size_i(size), .ar_valid_o(load_ar_valid),
      .ar_addr_o(load_ar_addr), .ar_len_o(load_ar_len), .ar_ready_i(load_ar_ready), .r_valid_i(load_r_valid),
      .r_ready_o(load_r_ready), .r_data_i(r_data), .r_resp_i(r_resp), .r_last_i(r_last), .sp_wvalid_o(load_wvalid),
      .sp_waddr_o(load_waddr), .sp_wenable_o(load_wenable), .sp_wdata_o(load_wdata), .sp_wgrant_i(load_wgrant),
      .par_wvalid_o(par_wvalid), .par_waddr_o(par_waddr), .par_wenable_o(par_wenable), .par_wdata_o(par_wdata), .trace_o(load_trace)
  );

  // Memory or scratchpad to weight FIFO
  bm_weights #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .MEM_BITS(MEM_BITS), .OUTSTANDING(OUTSTANDING), .FIFO_TILES(FIFO_TILES),
      .TRACE_W(WEIGHT_TW), .TRACE(TRACE)
  ) u_weights (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .halt_i(halt), .instr_valid_i(instr_valid[WT]), .instr_i(instr[WT*INSTR_W+:INSTR_W]),
      .seq_i(seq[WT*SEQ_W+:SEQ_W]), .wait_valid_o(wait_valid[WT]), .wait_issue_o(wait_issue[WT]),
      .wait_sync_o(wait_sync[WT*18+:18]), .wait_grant_i(wait_grant[WT]), .sig_o(sig[WT*12+:12]), .err_valid_o(err_valid[WT]),
      .err_code_o(err_code[WT*8+:8]), .err_seq_o(err_seq[WT*SEQ_W+:SEQ_W]), .busy_o(busy[WT]), .pending_o(pending[WT]),
      .stuck_o(stuck[WT]), .stuck_seq_o(stuck_seq[WT*SEQ_W+:SEQ_W]), .base_i(base), .size_i(size), .ar_valid_o(weights_ar_valid),
      .ar_addr_o(weights_ar_addr), .ar_len_o(weights_ar_len), .ar_ready_i(weights_ar_ready), .r_valid_i(weights_r_valid),
      .r_ready_o(weights_r_ready), .r_data_i(weights_r_data), .r_resp_i(weights_r_resp), .r_last_i(weights_r_last),
      .sp_req_valid_o(weights_req_valid),
      .sp_req_addr_o(weights_req_addr), .sp_grant_i(weights_grant), .sp_rdata_i(weights_rdata), .fifo_wvalid_o(fifo_wvalid),
      .fifo_wtile_o(fifo_wtile), .fifo_wrow_o(fifo_wrow), .fifo_wdata_o(fifo_wdata), .fifo_tile_done_o(fifo_tile_done),
      .fifo_count_i(fifo_count), .fifo_release_i(fifo_release), .trace_o(weights_trace)
  );

  bm_weight_fifo #(
      .ROWS(ROWS), .COLS(COLS), .FIFO_TILES(FIFO_TILES)
  ) u_weight_fifo (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .wvalid_i(fifo_wvalid), .wtile_i(fifo_wtile), .wrow_i(fifo_wrow), .wdata_i(fifo_wdata),
      .tile_done_i(fifo_tile_done), .rvalid_i(fifo_rvalid), .rtile_i(fifo_rtile), .rrow_i(fifo_rrow), .rdata_o(fifo_rdata),
      .release_i(fifo_release), .count_o(fifo_count)
  );

  // Activations, weights and results, int8
  bm_scratchpad #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .SP_BANKS(SP_BANKS)
  ) u_scratchpad (
      .clk_i(clk_i), .matmul_req_valid_i(matmul_req_valid), .matmul_req_addr_i(matmul_req_addr), .matmul_rdata_o(matmul_rdata),
      .weights_req_valid_i(weights_req_valid), .weights_req_addr_i(weights_req_addr), .weights_grant_o(weights_grant),
      .weights_rdata_o(weights_rdata), .vector_req_valid_i(vector_req_valid), .vector_req_addr_i(vector_req_addr),
      .vector_grant_o(vector_grant), .vector_rdata_o(vector_rdata), .store_req_valid_i(store_req_valid),
      .store_req_addr_i(store_req_addr), .store_grant_o(store_grant), .store_rdata_o(store_rdata), .vector_wvalid_i(vector_wvalid),
      .vector_waddr_i(vector_waddr), .vector_wenable_i(vector_wenable), .vector_wdata_i(vector_wdata), .load_wvalid_i(load_wvalid),
      .load_waddr_i(load_waddr), .load_wenable_i(load_wenable), .load_wdata_i(load_wdata), .load_wgrant_o(load_wgrant)
  );

  // Systolic array: rows from the scratchpad, tiles from the FIFO, sums to the accumulator
  bm_matmul #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .ACC_ROWS(ACC_ROWS), .FIFO_TILES(FIFO_TILES), .TRACE_W(MATMUL_TW),
      .TRACE(TRACE)
  ) u_matmul (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .halt_i(halt), .instr_valid_i(instr_valid[MM]), .instr_i(instr[MM*INSTR_W+:INSTR_W]),
      .seq_i(seq[MM*SEQ_W+:SEQ_W]), .wait_valid_o(wait_valid[MM]), .wait_issue_o(wait_issue[MM]),
      .wait_sync_o(wait_sync[MM*18+:18]), .wait_grant_i(wait_grant[MM]), .sig_o(sig[MM*12+:12]), .err_valid_o(err_valid[MM]),
      .err_code_o(err_code[MM*8+:8]), .err_seq_o(err_seq[MM*SEQ_W+:SEQ_W]), .busy_o(busy[MM]), .pending_o(pending[MM]),
      .stuck_o(stuck[MM]), .stuck_seq_o(stuck_seq[MM*SEQ_W+:SEQ_W]), .sp_req_valid_o(matmul_req_valid),
      .sp_req_addr_o(matmul_req_addr), .sp_rdata_i(matmul_rdata), .fifo_count_i(fifo_count), .fifo_rvalid_o(fifo_rvalid),
      .fifo_rtile_o(fifo_rtile), .fifo_rrow_o(fifo_rrow), .fifo_rdata_i(fifo_rdata), .fifo_release_o(fifo_release),
      .acc_pre_valid_o(acc_pre_valid), .acc_pre_addr_o(acc_pre_addr), .acc_valid_o(acc_valid), .acc_addr_o(acc_addr),
      .acc_add_o(acc_add), .acc_data_o(acc_data), .active_o(active), .weight_shift_o(weight_shift), .weight_stall_o(weight_stall),
      .wait_o(matmul_wait), .useful_o(useful), .trace_o(matmul_trace)
  );

  // Sums, int32
  bm_accumulator #(
      .COLS(COLS), .ACC_ROWS(ACC_ROWS), .ACC_BANKS(ACC_BANKS), .TRACE_W(ACC_TW), .TRACE(TRACE)
  ) u_accumulator (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .acc_pre_valid_i(acc_pre_valid), .acc_pre_addr_i(acc_pre_addr), .acc_valid_i(acc_valid),
      .acc_addr_i(acc_addr), .acc_add_i(acc_add), .acc_data_i(acc_data), .acc_req_valid_i(acc_req_valid),
      .acc_req_addr_i(acc_req_addr), .acc_grant_o(acc_grant), .acc_rdata_o(acc_rdata), .overflow_o(overflow),
      .trace_o(accumulator_trace)
  );

  // Bias, scale, clip, add, pooling: accumulator or scratchpad to scratchpad
  bm_vector #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .ACC_ROWS(ACC_ROWS), .PARAM_ROWS(PARAM_ROWS), .TRACE_W(VECTOR_TW),
      .TRACE(TRACE)
  ) u_vector (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .halt_i(halt), .instr_valid_i(instr_valid[VE]), .instr_i(instr[VE*INSTR_W+:INSTR_W]),
      .seq_i(seq[VE*SEQ_W+:SEQ_W]), .wait_valid_o(wait_valid[VE]), .wait_issue_o(wait_issue[VE]),
      .wait_sync_o(wait_sync[VE*18+:18]), .wait_grant_i(wait_grant[VE]), .sig_o(sig[VE*12+:12]), .err_valid_o(err_valid[VE]),
      .err_code_o(err_code[VE*8+:8]), .err_seq_o(err_seq[VE*SEQ_W+:SEQ_W]), .busy_o(busy[VE]), .pending_o(pending[VE]),
      .stuck_o(stuck[VE]), .stuck_seq_o(stuck_seq[VE*SEQ_W+:SEQ_W]), .sp_req_valid_o(vector_req_valid),
      .sp_req_addr_o(vector_req_addr), .sp_grant_i(vector_grant), .sp_rdata_i(vector_rdata), .sp_wvalid_o(vector_wvalid),
      .sp_waddr_o(vector_waddr), .sp_wenable_o(vector_wenable), .sp_wdata_o(vector_wdata), .acc_req_valid_o(acc_req_valid),
      .acc_req_addr_o(acc_req_addr), .acc_grant_i(acc_grant), .acc_rdata_i(acc_rdata), .par_wvalid_i(par_wvalid),
      .par_waddr_i(par_waddr), .par_wenable_i(par_wenable), .par_wdata_i(par_wdata), .trace_o(vector_trace)
  );

  // Scratchpad to memory
  bm_store #(
      .ROWS(ROWS), .COLS(COLS), .SP_WORDS(SP_WORDS), .MEM_BITS(MEM_BITS), .OUTSTANDING(OUTSTANDING), .TRACE_W(STORE_TW),
      .TRACE(TRACE)
  ) u_store (
      .clk_i(clk_i), .rst_ni(engine_rst_n), .halt_i(halt), .instr_valid_i(instr_valid[ST]), .instr_i(instr[ST*INSTR_W+:INSTR_W]),
      .seq_i(seq[ST*SEQ_W+:SEQ_W]), .wait_valid_o(wait_valid[ST]), .wait_issue_o(wait_issue[ST]),
      .wait_sync_o(wait_sync[ST*18+:18]), .wait_grant_i(wait_grant[ST]), .sig_o(sig[ST*12+:12]), .err_valid_o(err_valid[ST]),
      .err_code_o(err_code[ST*8+:8]), .err_seq_o(err_seq[ST*SEQ_W+:SEQ_W]), .busy_o(busy[ST]), .pending_o(pending[ST]),
      .stuck_o(stuck[ST]), .stuck_seq_o(stuck_seq[ST*SEQ_W+:SEQ_W]), .base_i(base), .size_i(size), .aw_valid_o(aw_valid),
      .aw_addr_o(aw_addr), .aw_len_o(aw_len), .aw_ready_i(aw_ready), .w_valid_o(w_valid), .w_data_o(w_data), .w_strb_o(w_strb),
      .w_last_o(w_last), .w_ready_i(w_ready), .b_valid_i(b_valid), .b_resp_i(b_resp), .sp_req_valid_o(store_req_valid),
      .sp_req_addr_o(store_req_addr), .sp_grant_i(store_grant), .sp_rdata_i(store_rdata), .trace_o(store_trace)
  );

endmodule
