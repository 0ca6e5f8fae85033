// SPDX-License-Identifier: Apache-2.0
//
// Bench top of the lockstep run: the core, driven row by row by stimulus that the model made, read record by record.
//
// In every cycle the stimulus row changes at the falling edge and the record is taken at the rising edge that ends
// the cycle; so a row acts on one cycle and its record shows all of it. Two transports:
//   BM_DPI defined (Verilator): rows come from and records go to arrays of Python's, through two DPI functions;
//     wake_o toggles when a block of rows is used up.
//   otherwise (Icarus): cocotb drives stim_i at the falling edge and reads trace_o, the record of the cycle before.
// Waves: with BM_WAVES, +wave_file=F +wave_from=N +wave_to=M records the end of cycle N to the end of cycle M.

module bm_lockstep_top
  import bm_pkg::*;
#(
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
    parameter int TRACE_WORDS = 86,  // of the record, from the model's layout
    parameter int STIM_WORDS  = 5    // of the row, likewise
) (
    input logic clk_i,
`ifdef BM_DPI
    output logic wake_o
`else
    input  logic [ 32*STIM_WORDS-1:0] stim_i,
    output logic [32*TRACE_WORDS-1:0] trace_o
`endif
);

  logic [ 32*STIM_WORDS-1:0] stim;
  logic [32*TRACE_WORDS-1:0] trace;

`include "bm_stimulus.svh"

`ifdef BM_DPI
  import "DPI-C" function void bm_get(output bit [32*STIM_WORDS-1:0] row);
  import "DPI-C" function bit bm_put(input bit [32*TRACE_WORDS-1:0] word);

  bit [32*STIM_WORDS-1:0] row;
  initial wake_o = 1'b0;
  always @(negedge clk_i) begin
    bm_get(row);
    stim <= row;
  end
  always @(posedge clk_i) if (bm_put(trace)) wake_o <= !wake_o;
`else
  assign stim = stim_i;
  always @(posedge clk_i) trace_o <= trace;
`endif

`ifdef BM_WAVES
  // cycle_q is the number of the current cycle, counted as in the trace: 0 is the first one out of reset.
  string wave_file;
  int cycle_q = 0, wave_from, wave_to;
  bit started_q = 1'b0, waves = 1'b0;
  initial begin
    if ($value$plusargs("wave_file=%s", wave_file)) waves = 1'b1;
    if (!$value$plusargs("wave_from=%d", wave_from)) wave_from = 0;
    if (!$value$plusargs("wave_to=%d", wave_to)) wave_to = -1;
  end
  always @(posedge clk_i) begin
    if (rst_ni === 1'b1) started_q <= 1'b1;
    if (rst_ni === 1'b1 || started_q) cycle_q <= cycle_q + 1;
    if (waves && cycle_q == wave_from) begin
      waves = 1'b0;
      $dumpfile(wave_file);
      $dumpvars(0, bm_lockstep_top);
    end
`ifndef VERILATOR
    if (cycle_q == wave_to) $dumpoff;
`endif
  end
`endif

  bm_core #(
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
      .TRACE      (1'b1)
  ) i_core (
      .clk_i,
      .rst_ni,
      .s_axil_awvalid_i,
      .s_axil_awready_o(),
      .s_axil_awaddr_i,
      .s_axil_wvalid_i,
      .s_axil_wready_o (),
      .s_axil_wdata_i,
      .s_axil_wstrb_i,
      .s_axil_bvalid_o (),
      .s_axil_bready_i,
      .s_axil_bresp_o  (),
      .s_axil_arvalid_i,
      .s_axil_arready_o(),
      .s_axil_araddr_i,
      .s_axil_rvalid_o (),
      .s_axil_rready_i,
      .s_axil_rdata_o  (),
      .s_axil_rresp_o  (),
      .m_axi_arvalid_o (),
      .m_axi_arready_i,
      .m_axi_arid_o    (),
      .m_axi_araddr_o  (),
      .m_axi_arlen_o   (),
      .m_axi_arsize_o  (),
      .m_axi_arburst_o (),
      .m_axi_rvalid_i,
      .m_axi_rready_o  (),
      .m_axi_rid_i,
      .m_axi_rdata_i,
      .m_axi_rresp_i,
      .m_axi_rlast_i,
      .m_axi_awvalid_o (),
      .m_axi_awready_i,
      .m_axi_awid_o    (),
      .m_axi_awaddr_o  (),
      .m_axi_awlen_o   (),
      .m_axi_awsize_o  (),
      .m_axi_awburst_o (),
      .m_axi_wvalid_o  (),
      .m_axi_wready_i,
      .m_axi_wdata_o   (),
      .m_axi_wstrb_o   (),
      .m_axi_wlast_o   (),
      .m_axi_bvalid_i,
      .m_axi_bready_o  (),
      .m_axi_bid_i,
      .m_axi_bresp_i,
      .m_axi_weights_arvalid_o(),
      .m_axi_weights_arready_i,
      .m_axi_weights_arid_o(),
      .m_axi_weights_araddr_o(),
      .m_axi_weights_arlen_o(),
      .m_axi_weights_arsize_o(),
      .m_axi_weights_arburst_o(),
      .m_axi_weights_rvalid_i,
      .m_axi_weights_rready_o(),
      .m_axi_weights_rid_i,
      .m_axi_weights_rdata_i,
      .m_axi_weights_rresp_i,
      .m_axi_weights_rlast_i,
      .trace_o         (trace)
  );

`ifndef BM_NO_MEMORIES  // a stand-in for the core has none
  // Memories outlive a reset; every program starts with zeros in them, whatever ran before it in this process.
  localparam int LANES = (ROWS > COLS) ? ROWS : COLS;
  for (genvar b = 0; b < SP_BANKS; b++) begin : gen_clear_scratchpad
    always @(posedge clk_i)
      if (clear_memories)
        for (int i = 0; i < SP_WORDS / SP_BANKS; i++) i_core.u_scratchpad.gen_bank[b].u_bank.u_ram.memory[i] <= '0;
  end
  for (genvar b = 0; b < ACC_BANKS; b++) begin : gen_clear_accumulator
    always @(posedge clk_i)
      if (clear_memories)
        for (int i = 0; i < ACC_ROWS / ACC_BANKS; i++) i_core.u_accumulator.gen_bank[b].u_bank.u_ram.memory[i] <= '0;
  end
  for (genvar w = 0; w < 8 * COLS / LANES; w++) begin : gen_clear_parameters
    always @(posedge clk_i)
      if (clear_memories)
        for (int i = 0; i < PARAM_ROWS; i++) i_core.u_vector.u_params.gen_word[w].u_ram.memory[i] <= '0;
  end
  always @(posedge clk_i)
    if (clear_memories)
      for (int i = 0; i < 2 ** ($clog2(FIFO_TILES) + $clog2(ROWS)); i++) i_core.u_weight_fifo.u_memory.memory[i] <= '0;
`endif

  initial begin
    if ($bits(trace) != $bits(i_core.trace_o)) begin
      $display("The record has %0d bits in the core and %0d in the model.", $bits(i_core.trace_o), $bits(trace));
      $finish;
    end
  end
endmodule
