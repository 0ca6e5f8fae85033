// SPDX-License-Identifier: Apache-2.0
//
// Control of a core, wiring only: fetch -> decode -> dispatch -> five queues, with semaphores and the monitor beside.
//
// Streams: program bytes in; instructions to the engines out (bit or slice engine-1: load, weights, matmul, vector,
//          store); waits, signals, errors and states of the engines in; halt, error register and end of run out.
// Latency: docs/timing.md, Frontend and Semaphores. wait_grant_o is combinational from the engines' wait registers.
// Stalls:  a full queue stops the whole program; fetch is never stalled by the core, only by the memory.
// Reset:   rst_ni is the engine reset: a start empties everything.
// Trace:   fetch, dispatch (9 words), semaphores, queues.

module bm_frontend
  import bm_pkg::*;
#(
    parameter int ROWS        = 8,
    parameter int COLS        = 8,
    parameter int QUEUE_DEPTH = 8,
    parameter int MEM_BITS    = 64,
    parameter int TRACE_W     = 384,
    parameter bit TRACE       = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,

    // From host
    input logic        run_i,
    input logic [63:0] prog_addr_i,
    input logic [31:0] prog_len_i,
    input logic [31:0] cycle_limit_i,
    input logic [63:0] cycles_i,

    // Memory port
    output logic                ar_valid_o,
    output logic [        63:0] ar_addr_o,
    output logic [         7:0] ar_len_o,
    input  logic                ar_ready_i,
    input  logic                r_valid_i,
    input  logic [MEM_BITS-1:0] r_data_i,
    input  logic [         1:0] r_resp_i,
    input  logic                r_last_i,
    output logic                r_ready_o,

    // Engines
    output logic [          4:0] instr_valid_o,
    output logic [5*INSTR_W-1:0] instr_o,
    output logic [  5*SEQ_W-1:0] seq_o,
    input  logic [          4:0] wait_valid_i,
    input  logic [          4:0] wait_issue_i,
    input  logic [     5*18-1:0] wait_sync_i,
    output logic [          4:0] wait_grant_o,
    input  logic [     5*12-1:0] sig_i,
    input  logic [          4:0] err_valid_i,
    input  logic [      5*8-1:0] err_code_i,
    input  logic [     5*16-1:0] err_seq_i,
    input  logic [          4:0] busy_i,
    input  logic [          4:0] pending_i,
    input  logic [          4:0] stuck_i,
    input  logic [     5*16-1:0] stuck_seq_i,

    // To host (halt_o also to the engines)
    output logic        halt_o,
    output logic        error_valid_o,
    output logic [ 7:0] error_code_o,
    output logic [ 3:0] error_engine_o,
    output logic [15:0] error_seq_o,
    output logic        done_set_o,

    output logic [TRACE_W-1:0] trace_o
);

  logic entry_valid, buffer_pop, header_valid, decoded, dispatch, blocked;
  logic [255:0] entry, header, word;
  logic [15:0] entry_seq;
  logic [3:0] engine;
  logic [31:0] dispatched, semaphore_digest, queue_digest;
  logic fetch_pending, program_error, bus_error, bus_decode, decode_error, overflow;
  logic [15:0] bus_seq;
  logic [7:0] decode_code;
  logic [4:0] signalling;

  for (genvar k = 0; k < 5; k++) begin : gen_signalling
    assign signalling[k] = sig_i[12*k] || sig_i[12*k+6];
  end

  bm_fetch #(
      .MEM_BITS(MEM_BITS)
  ) i_fetch (
      .clk_i,
      .rst_ni,
      .run_i,
      .halt_i         (halt_o),
      .prog_addr_i,
      .prog_len_i,
      .ar_valid_o,
      .ar_addr_o,
      .ar_len_o,
      .ar_ready_i,
      .r_valid_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i,
      .r_ready_o,
      .entry_valid_o  (entry_valid),
      .entry_o        (entry),
      .entry_seq_o    (entry_seq),
      .pop_i          (buffer_pop),
      .pending_o      (fetch_pending),
      .program_error_o(program_error),
      .bus_error_o    (bus_error),
      .bus_decode_o   (bus_decode),
      .bus_seq_o      (bus_seq)
  );

  bm_decode #(
      .ROWS(ROWS),
      .COLS(COLS)
  ) i_decode (
      .clk_i,
      .rst_ni,
      .halt_i        (halt_o),
      .entry_valid_i (entry_valid),
      .entry_i       (entry),
      .pop_o         (buffer_pop),
      .header_valid_o(header_valid),
      .header_o      (header),
      .valid_o       (decoded),
      .word_o        (word),
      .dispatch_i    (dispatch),
      .error_o       (decode_error),
      .code_o        (decode_code)
  );

  bm_dispatch #(
      .QUEUE_DEPTH(QUEUE_DEPTH),
      .TRACE      (TRACE)
  ) i_dispatch (
      .clk_i,
      .rst_ni,
      .halt_i       (halt_o),
      .valid_i      (decoded),
      .word_i       (word),
      .dispatch_o   (dispatch),
      .engine_o     (engine),
      .blocked_o    (blocked),
      .instr_valid_o,
      .instr_o,
      .seq_o,
      .pop_i        (wait_grant_o & wait_issue_i),
      .dispatched_o (dispatched),
      .digest_o     (queue_digest)
  );

  bm_semaphores #(
      .TRACE(TRACE)
  ) i_semaphores (
      .clk_i,
      .rst_ni,
      .halt_i        (halt_o),
      .header_valid_i(header_valid),
      .header_i      (header),
      .wait_valid_i,
      .wait_sync_i,
      .wait_grant_o,
      .sig_i,
      .overflow_o    (overflow),
      .digest_o      (semaphore_digest)
  );

  bm_monitor i_monitor (
      .clk_i,
      .rst_ni,
      .run_i,
      .prog_len_i,
      .cycle_limit_i,
      .cycles_i,
      .program_error_i(program_error),
      .decode_error_i (decode_error),
      .decode_code_i  (decode_code),
      .overflow_i     (overflow),
      .bus_error_i    (bus_error),
      .bus_decode_i   (bus_decode),
      .bus_seq_i      (bus_seq),
      .fetch_pending_i(fetch_pending),
      .dispatched_i   (dispatched),
      .blocked_i      (blocked),
      .instr_valid_i  (instr_valid_o),
      .signalling_i   (signalling),
      .err_valid_i,
      .err_code_i,
      .err_seq_i,
      .busy_i,
      .pending_i,
      .stuck_i,
      .stuck_seq_i,
      .halt_o,
      .error_valid_o,
      .error_code_o,
      .error_engine_o,
      .error_seq_o,
      .done_set_o
  );

  if (TRACE) begin : gen_trace
    logic [31:0] fetch_word, dispatch_word;
    logic [255:0] dispatch_data;
    assign fetch_word = entry_valid ? {1'b1, 15'd0, entry_seq} : '0;
    assign dispatch_word = dispatch ? {1'b1, 11'd0, engine, dispatched[15:0]} : '0;
    assign dispatch_data = dispatch ? word : '0;
    assign trace_o = TRACE_W'({queue_digest, semaphore_digest, dispatch_data, dispatch_word, fetch_word});
  end else begin : gen_no_trace
    logic unused;
    assign unused = &{1'b0, entry_seq, engine, queue_digest, semaphore_digest};
    assign trace_o = '0;
  end

endmodule
