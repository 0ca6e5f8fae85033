// SPDX-License-Identifier: Apache-2.0
//
// The bench top of the lockstep run around a core that holds its mutants: sets which of them is on, once per cycle.
//
// For Verilator alone: bm_selected is the C side's (bm_mutation.cpp); 0 is the core as it is.

module bm_mutation_top #(
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
    parameter int WEIGHT_PORT = 0,
    parameter int TRACE_WORDS = 86,
    parameter int STIM_WORDS  = 5
) (
    input  logic clk_i,
    output logic wake_o
);

  import "DPI-C" function shortint unsigned bm_selected();

  // Changes in the first of the cycles of reset in front of a program. At the core's own edge, so that no logic
  // has to be evaluated at the other one because of it.
  always @(posedge clk_i) bm_mutant_pkg::selected <= bm_selected();

  bm_lockstep_top #(
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
      .PARAM_ROWS (PARAM_ROWS),
      .WEIGHT_PORT(WEIGHT_PORT),
      .TRACE_WORDS(TRACE_WORDS),
      .STIM_WORDS (STIM_WORDS)
  ) u_lockstep (
      .clk_i,
      .wake_o
  );
endmodule
