// SPDX-License-Identifier: Apache-2.0
//
// The host side of a core, wiring only: AXI4-Lite slave, registers, cycle accounting.
//
// Streams: bus transfers in; settings, run control and engine reset out; levels and errors of the engines in.
// Latency: docs/timing.md, Host. No output depends on an input of the same cycle, engine_rst_no on rst_ni excepted.
// Stalls:  none besides the bus handshakes.
// Reset:   rst_ni only; a start resets the engines, not the host.
// Trace:   axil (2 words), status, error.

module bm_host #(
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
    parameter int TRACE_W     = 128,
    parameter bit TRACE       = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,

    // Bus
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

    // To all stations
    output logic             engine_rst_no,
    output logic [16*64-1:0] base_o,
    output logic [16*64-1:0] size_o,

    // To frontend
    output logic        run_o,          // busy, and the engines are out of their reset
    output logic [63:0] prog_addr_o,
    output logic [31:0] prog_len_o,
    output logic [31:0] cycle_limit_o,
    output logic [63:0] cycles_o,

    // From frontend
    input logic        halt_i,
    input logic        error_valid_i,   // the cycle after the error was raised
    input logic [ 7:0] error_code_i,    // these three hold until the next start
    input logic [ 3:0] error_engine_i,
    input logic [15:0] error_seq_i,
    input logic        done_set_i,

    // From matmul, load and accumulator
    input logic        active_i,
    input logic        weight_shift_i,
    input logic        weight_stall_i,
    input logic        wait_i,
    input logic        load_busy_i,
    input logic [16:0] useful_i,
    input logic        overflow_i,

    output logic [TRACE_W-1:0] trace_o
);

  logic write, write_mapped, read_mapped;
  logic [11:0] write_addr, read_addr;
  logic [31:0] write_data, read_data;
  logic [3:0] write_strb;
  logic start, busy, clear, done;
  logic active, weight_shift, weight_stall, raw_stall, input_stall;
  logic [8*64-1:0] counters;

  assign engine_rst_no = rst_ni && !clear;
  assign run_o = busy && !clear;
  assign cycles_o = counters[63:0];

  bm_axil i_axil (
      .clk_i,
      .rst_ni,
      .s_axil_awvalid_i,
      .s_axil_awready_o,
      .s_axil_awaddr_i,
      .s_axil_wvalid_i,
      .s_axil_wready_o,
      .s_axil_wdata_i,
      .s_axil_wstrb_i,
      .s_axil_bvalid_o,
      .s_axil_bready_i,
      .s_axil_bresp_o,
      .s_axil_arvalid_i,
      .s_axil_arready_o,
      .s_axil_araddr_i,
      .s_axil_rvalid_o,
      .s_axil_rready_i,
      .s_axil_rdata_o,
      .s_axil_rresp_o,
      .write_o       (write),
      .write_addr_o  (write_addr),
      .write_data_o  (write_data),
      .write_strb_o  (write_strb),
      .write_mapped_i(write_mapped),
      .read_addr_o   (read_addr),
      .read_data_i   (read_data),
      .read_mapped_i (read_mapped)
  );

  bm_csr #(
      .ROWS       (ROWS),
      .COLS       (COLS),
      .SP_WORDS   (SP_WORDS),
      .SP_BANKS   (SP_BANKS),
      .ACC_ROWS   (ACC_ROWS),
      .ACC_BANKS  (ACC_BANKS),
      .FIFO_TILES (FIFO_TILES),
      .QUEUE_DEPTH(QUEUE_DEPTH),
      .MEM_BITS   (MEM_BITS),
      .OUTSTANDING(OUTSTANDING),
      .PARAM_ROWS (PARAM_ROWS)
  ) i_csr (
      .clk_i,
      .rst_ni,
      .write_i       (write),
      .write_addr_i  (write_addr),
      .write_data_i  (write_data),
      .write_strb_i  (write_strb),
      .write_mapped_o(write_mapped),
      .read_addr_i   (read_addr),
      .read_data_o   (read_data),
      .read_mapped_o (read_mapped),
      .prog_addr_o,
      .prog_len_o,
      .cycle_limit_o,
      .base_o,
      .size_o,
      .start_o       (start),
      .busy_o        (busy),
      .done_o        (done),
      .clear_o       (clear),
      .done_set_i,
      .halt_i,
      .error_code_i,
      .error_engine_i,
      .error_seq_i,
      .overflow_i,
      .counters_i    (counters)
  );

  bm_accounting i_accounting (
      .clk_i,
      .rst_ni,
      .start_i       (start),
      .busy_i        (busy),
      .run_i         (run_o),
      .active_i,
      .weight_shift_i,
      .weight_stall_i,
      .wait_i,
      .load_busy_i,
      .useful_i,
      .active_o      (active),
      .weight_shift_o(weight_shift),
      .weight_stall_o(weight_stall),
      .raw_stall_o   (raw_stall),
      .input_stall_o (input_stall),
      .counters_o    (counters)
  );

  if (TRACE) begin : gen_trace
    logic [31:0] axil_word, status_word, error_word;
    assign axil_word = {
      23'd0,
      s_axil_rresp_o,
      s_axil_rvalid_o,
      s_axil_arready_o,
      s_axil_bresp_o,
      s_axil_bvalid_o,
      s_axil_wready_o,
      s_axil_awready_o
    };
    assign status_word = {
      22'd0,
      input_stall,
      raw_stall,
      weight_stall,
      weight_shift,
      active,
      overflow_i,
      halt_i,
      halt_i,
      done,
      busy
    };
    assign error_word = error_valid_i ? {1'b1, 3'd0, error_code_i, error_engine_i, error_seq_i} : '0;
    assign trace_o = TRACE_W'({error_word, status_word, s_axil_rdata_o, axil_word});
  end else begin : gen_no_trace
    logic unused_trace;
    assign unused_trace = &{1'b0, error_valid_i, done, active, weight_shift, weight_stall, raw_stall, input_stall};
    assign trace_o = '0;
  end

endmodule
