// SPDX-License-Identifier: Apache-2.0
//
// Moves checked instructions into the queue of their engine, one per cycle, in program order.
//
// Streams: the decode register in; five queue heads out (bit or slice engine-1: load, weights, matmul, vector, store).
// Latency: dispatched in t, visible to the engine in t+1.
// Stalls:  the whole program waits while the queue of the next instruction is full.
// Halt:    nothing is dispatched; the queues keep what they hold.

module bm_dispatch
  import bm_pkg::*;
#(
    parameter int QUEUE_DEPTH = 8,
    parameter bit TRACE       = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic halt_i,

    // From decode
    input  logic               valid_i,
    input  logic [INSTR_W-1:0] word_i,
    output logic               dispatch_o,
    output logic [        3:0] engine_o,    // of the instruction in decode
    output logic               blocked_o,   // it waits for room in its queue

    // To the engines
    output logic [          4:0] instr_valid_o,
    output logic [5*INSTR_W-1:0] instr_o,
    output logic [  5*SEQ_W-1:0] seq_o,
    input  logic [          4:0] pop_i,

    // To monitor: instructions dispatched since the start, which is also the next sequence number
    output logic [31:0] dispatched_o,

    output logic [31:0] digest_o
);

  logic [31:0] dispatched_q;
  logic [4:0] target, full;  // one bit per engine
  logic [5*32-1:0] digests;

  always_comb begin
    case (word_i[4:0])
      OpLoad: engine_o = EngLoad;
      OpWeightsMem, OpWeightsSp: engine_o = EngWeights;
      OpMatmul: engine_o = EngMatmul;
      OpRequant, OpAdd, OpMaxpool, OpAvgpool: engine_o = EngVector;
      OpStore: engine_o = EngStore;
      default: engine_o = EngFrontend;
    endcase
  end

  assign blocked_o = valid_i && (target & full) != '0;
  assign dispatch_o = valid_i && !blocked_o && !halt_i;
  assign digest_o = digests[31:0] + digests[63:32] + digests[95:64] + digests[127:96] + digests[159:128];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) dispatched_q <= '0;
    else dispatched_q <= dispatched_q + 32'(dispatch_o);
  end

  assign dispatched_o = dispatched_q;

  for (genvar k = 0; k < 5; k++) begin : gen_queues
    assign target[k] = engine_o == 4'(k + 1);

    bm_queue #(
        .QUEUE_DEPTH(QUEUE_DEPTH),
        .INDEX      (9 * k),
        .TRACE      (TRACE)
    ) i_queue (
        .clk_i,
        .rst_ni,
        .push_i       (dispatch_o && target[k]),
        .instr_i      (word_i),
        .seq_i        (dispatched_q[SEQ_W-1:0]),
        .full_o       (full[k]),
        .instr_valid_o(instr_valid_o[k]),
        .instr_o      (instr_o[INSTR_W*k+:INSTR_W]),
        .seq_o        (seq_o[SEQ_W*k+:SEQ_W]),
        .pop_i        (pop_i[k]),
        .digest_o     (digests[32*k+:32])
    );
  end

endmodule
