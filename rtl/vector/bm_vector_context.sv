// SPDX-License-Identifier: Apache-2.0
//
// What the rows in the pipeline need of their instruction while the sequencer may already hold the next; and retirement.
//
// Loaded:  with start_i, when the pipeline is empty; stable until the last write of the iteration.
// Out:     signal and retire registers in the cycle after the iteration's last write (end_i), not while halted.
// Reset:   clears signal and retire registers.

module bm_vector_context
  import bm_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic halt_i,

    // From the sequencer
    input logic               start_i,
    // verilator lint_off UNUSEDSIGNAL
    input logic [INSTR_W-1:0] current_i,     // all but the addresses
    // verilator lint_on UNUSEDSIGNAL
    input logic [  SEQ_W-1:0] seq_i,
    input logic [        7:0] outer_i,
    input logic               outer_last_i,

    // To the pipeline
    output logic       add_o,
    output logic       max_o,
    output logic       raw_o,
    output logic [7:0] zero_point_o,
    output logic [7:0] clip_low_o,
    output logic [7:0] clip_high_o,

    // From the write register; to the frontend and trace
    input  logic             end_i,
    output logic [     11:0] sig_o,
    output logic             retire_o,
    output logic [SEQ_W-1:0] retire_seq_o,
    output logic [      7:0] retire_outer_o,
    output logic             retire_last_o
);
  // verilator lint_off UNUSEDSIGNAL
  instr_requant_t now;
  // verilator lint_on UNUSEDSIGNAL
  logic           gives_q;   // this iteration signals and retires
  logic    [11:0] signals_q;

  assign now = current_i;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      add_o <= now.opcode == OpAdd;
      max_o <= now.opcode == OpMaxpool;
      raw_o <= now.dst_format == FmtInt32;
      zero_point_o <= now.zero_point;
      clip_low_o <= now.clip_low;
      clip_high_o <= now.clip_high;
      gives_q <= now.each || outer_last_i;
      signals_q <= {now.sig1_id, now.sig1_en, now.sig0_id, now.sig0_en};
      retire_seq_o <= seq_i;
      retire_outer_o <= outer_i;
      retire_last_o <= outer_last_i;
    end
    if (!rst_ni) begin
      retire_o <= 1'b0;
      sig_o <= '0;
    end else begin
      retire_o <= end_i && gives_q && !halt_i;
      sig_o <= (end_i && gives_q && !halt_i) ? signals_q : '0;
    end
  end
endmodule
