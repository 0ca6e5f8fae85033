// SPDX-License-Identifier: Apache-2.0
//
// Holds the fetched entries, takes the semaphore header off, and shows checked instructions to dispatch.
//
// Streams: entries in (always room: fetch keeps count); one instruction register out, held until it is dispatched.
// Latency: entry pushed in t, at the buffer's head in t+1, in the decode register in t+2 at the earliest; the header
//          is loaded in its first cycle at the head.
// Stalls:  an instruction waits in its register until dispatch_i; an illegal one for ever.
// Halt:    nothing moves.
// Errors:  an illegal instruction, in its first cycle in the register (the halt that follows ends it).

module bm_decode
  import bm_pkg::*;
#(
    parameter int ROWS = 8,
    parameter int COLS = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic halt_i,

    // From fetch
    input  logic         entry_valid_i,
    input  logic [255:0] entry_i,
    output logic         pop_o,          // an entry has left the buffer

    // To semaphores
    output logic         header_valid_o,
    output logic [255:0] header_o,

    // To dispatch
    output logic         valid_o,     // a legal instruction
    output logic [255:0] word_o,
    input  logic         dispatch_i,

    // To monitor
    output logic       error_o,
    output logic [7:0] code_o
);

  logic header_done_q, valid_q;
  logic [255:0] word_q;
  logic head_valid, take;
  logic [255:0] head;

  assign header_valid_o = head_valid && !header_done_q && !halt_i;
  assign header_o = head;
  assign take = head_valid && header_done_q && !halt_i && (!valid_q || dispatch_i);
  assign pop_o = header_valid_o || take;
  assign valid_o = valid_q && code_o == ErrNone;
  assign word_o = word_q;
  assign error_o = valid_q && code_o != ErrNone && !halt_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      header_done_q <= 1'b0;
      valid_q       <= 1'b0;
      word_q        <= '0;
    end else begin
      header_done_q <= header_done_q || header_valid_o;
      valid_q       <= take || (valid_q && !dispatch_i);
      if (take) word_q <= head;
    end
  end

  // Shared parts show more than is needed here.
  // verilator lint_off PINCONNECTEMPTY

  bm_fifo #(
      .WIDTH(256),
      .DEPTH(16)
  ) i_buffer (
      .clk_i,
      .rst_ni,
      .push_i (entry_valid_i),
      .data_i (entry_i),
      .valid_o(head_valid),
      .data_o (head),
      .pop_i  (pop_o),
      .count_o()
  );

  // verilator lint_on PINCONNECTEMPTY

  bm_legality #(
      .ROWS(ROWS),
      .COLS(COLS)
  ) i_legality (
      .word_i(word_q),
      .code_o(code_o)
  );

endmodule
