// SPDX-License-Identifier: Apache-2.0
//
// The instructions that wait in front of one engine, in order, with their sequence numbers.
//
// Latency: pushed in t, at the head of an empty queue in t+1.
// Stalls:  full_o is registered: a pop in the same cycle makes no room.
// Reset:   empties it. The head is 0 while the queue is empty.
// Digest:  count and the 8 words of the head with the weights 2*INDEX+1, 2*INDEX+3, ..; the caller adds them up.

module bm_queue
  import bm_pkg::*;
#(
    parameter int QUEUE_DEPTH = 8,   // 1..32
    parameter int INDEX       = 0,   // of the count in the frontend's digest
    parameter bit TRACE       = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,

    // From dispatch
    input  logic               push_i,
    input  logic [INSTR_W-1:0] instr_i,
    input  logic [  SEQ_W-1:0] seq_i,
    output logic               full_o,

    // To the engine
    output logic               instr_valid_o,
    output logic [INSTR_W-1:0] instr_o,
    output logic [  SEQ_W-1:0] seq_o,
    input  logic               pop_i,

    output logic [31:0] digest_o
);

  localparam int COUNT_W = $clog2(QUEUE_DEPTH + 1);

  logic [COUNT_W-1:0] count;
  logic [INSTR_W-1:0] instr;
  logic [SEQ_W-1:0] seq;

  assign full_o = count == COUNT_W'(QUEUE_DEPTH);
  assign instr_o = instr_valid_o ? instr : '0;
  assign seq_o = instr_valid_o ? seq : '0;

  bm_fifo #(
      .WIDTH(INSTR_W + SEQ_W),
      .DEPTH(QUEUE_DEPTH)
  ) i_fifo (
      .clk_i,
      .rst_ni,
      .push_i,
      .data_i ({seq_i, instr_i}),
      .valid_o(instr_valid_o),
      .data_o ({seq, instr}),
      .pop_i,
      .count_o(count)
  );

  // A sum that an always_comb reads back from its own output never settles under Icarus: hence a function.
  function automatic logic [31:0] digest(input logic [COUNT_W-1:0] entries, input logic [INSTR_W-1:0] head);
    logic [31:0] sum;
    sum = 32'(2 * INDEX + 1) * 32'(entries);
    for (int j = 0; j < 8; j++) sum = sum + 32'(2 * (INDEX + 1 + j) + 1) * head[32*j+:32];
    return sum;
  endfunction

  if (TRACE) begin : gen_digest
    assign digest_o = digest(count, instr_o);
  end else begin : gen_no_digest
    assign digest_o = '0;
  end

endmodule
