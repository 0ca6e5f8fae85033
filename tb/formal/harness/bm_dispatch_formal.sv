// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_dispatch: program order, one queue per instruction, none lost, none doubled, nothing while halted.
// A freely chosen instruction is followed from decode to the head of its queue.

module bm_dispatch_formal
  import bm_pkg::*;
#(
  parameter int QUEUE_DEPTH = 2
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               halt_i,
  input logic               valid_i,
  input logic [INSTR_W-1:0] word_i,
  input logic [        4:0] pop_i,
  input logic               follow_i
);

  logic dispatch, blocked;
  logic [3:0] engine;
  logic [4:0] valid;
  logic [5*INSTR_W-1:0] instr;
  logic [5*SEQ_W-1:0] seq;
  logic [31:0] dispatched, digest;

  bm_dispatch #(
    .QUEUE_DEPTH(QUEUE_DEPTH),
    .TRACE(1'b0)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .valid_i,
    .word_i,
    .dispatch_o(dispatch),
    .engine_o(engine),
    .blocked_o(blocked),
    .instr_valid_o(valid),
    .instr_o(instr),
    .seq_o(seq),
    .pop_i,
    .dispatched_o(dispatched),
    .digest_o(digest)
  );

  logic [4:0] target;       // the queue of the instruction in decode
  logic [4:0][3:0] held_q;  // instructions in each queue
  logic [4:0] full;
  logic [31:0] count_q;
  logic followed_q;
  logic [4:0] target_q;
  logic [1:0] bits_q;       // two bits stand for the instruction's 256
  logic [3:0] ahead_q;
  logic [1:0] head_bits;
  logic [3:0] held_mine, held_next;
  logic popped_mine;

  always_comb begin
    target = '0;
    case (word_i[4:0])
      OpLoad: target = 5'b00001;
      OpWeightsMem, OpWeightsSp: target = 5'b00010;
      OpMatmul: target = 5'b00100;
      OpRequant, OpAdd, OpMaxpool, OpAvgpool: target = 5'b01000;
      OpStore: target = 5'b10000;
      default: target = '0;
    endcase
    head_bits = '0;
    held_mine = '0;
    held_next = '0;
    for (int k = 0; k < 5; k++) begin
      full[k] = held_q[k] == 4'(QUEUE_DEPTH);
      if (target_q[k]) head_bits = instr[INSTR_W*k+:2];
      if (target_q[k]) held_mine = held_q[k];
      if (target[k]) held_next = held_q[k] - 4'(pop_i[k]);
    end
    popped_mine = (pop_i & target_q) != '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q     <= '0;
      count_q    <= '0;
      followed_q <= 1'b0;
    end else begin
      count_q <= count_q + 32'(dispatch);
      for (int k = 0; k < 5; k++) held_q[k] <= held_q[k] + 4'(dispatch && target[k]) - 4'(pop_i[k]);
      if (!followed_q) begin
        if (dispatch && follow_i) begin
          followed_q <= 1'b1;
          target_q   <= target;
          bits_q     <= word_i[1:0];
          ahead_q    <= held_next;
        end
      end else if (popped_mine) begin
        followed_q <= ahead_q != '0;
        ahead_q    <= ahead_q - 4'd1;
      end
    end
  end

  logic [4:0] occupied;
  always_comb for (int k = 0; k < 5; k++) occupied[k] = held_q[k] != '0;

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Decode has refused unknown opcodes.
      legal: assume (!valid_i || target != '0);
      // An engine pops only its visible head.
      pops: assume ((pop_i & ~valid) == '0);

      // The instruction at the head is the one followed, after exactly those before it (its first two bits tell).
      if (followed_q && ahead_q == '0) order: assert (head_bits == bits_q);
      // A dispatched instruction waits in its queue until it is popped.
      if (followed_q) kept: assert (ahead_q < held_mine);
      // A queue shows a head exactly while it holds something.
      heads: assert (valid == occupied);
      // An instruction is dispatched in the first cycle in which its queue has room and the run is not halted.
      if (valid_i && !halt_i) prompt: assert (dispatch == ((target & full) == '0));
      // Nothing is dispatched while halted.
      if (halt_i && valid_i) halted: assert (!dispatch);
      // Decode waits exactly while the queue of its instruction is full.
      if (valid_i) waits: assert (blocked == ((target & full) != '0));
      // The instruction goes to the engine that its opcode names.
      if (dispatch) named: assert (target == (5'd1 << (engine - 4'd1)));
      // The sequence number counts the instructions dispatched.
      numbered: assert (dispatched == count_q);
      // No queue ever holds more than its depth.
      if (full != '0) no_overflow: assert ((full & target & {5{dispatch}}) == '0);
    end
  end

endmodule
