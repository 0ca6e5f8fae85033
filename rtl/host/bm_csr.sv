// SPDX-License-Identifier: Apache-2.0
//
// The registers: what the host has set, run control, and what it reads back.
//
// Streams: single-cycle writes and reads from bm_axil; settings out to frontend and engines.
// Latency: reads answer in the same cycle with the values of that cycle; a write is seen in the next. A start written
//          in s gives busy_o and clear_o in s+1, clear_o for that cycle only.
// Stalls:  none. Every write while busy is ignored, a start too.
// Reset:   rst_ni clears everything.
// Not here: counters (bm_accounting), the error registers (bm_monitor); they are only read back here.

module bm_csr
  import bm_csr_pkg::*;
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
    parameter int PARAM_ROWS  = 32
) (
    input logic clk_i,
    input logic rst_ni,

    // From bm_axil
    input  logic        write_i,
    input  logic [11:0] write_addr_i,
    input  logic [31:0] write_data_i,
    input  logic [ 3:0] write_strb_i,
    output logic        write_mapped_o,
    input  logic [11:0] read_addr_i,
    output logic [31:0] read_data_o,
    output logic        read_mapped_o,

    // Settings
    output logic [     63:0] prog_addr_o,
    output logic [     31:0] prog_len_o,
    output logic [     31:0] cycle_limit_o,
    output logic [16*64-1:0] base_o,
    output logic [16*64-1:0] size_o,

    // Run control
    output logic start_o,     // accepted in this cycle
    output logic busy_o,
    output logic done_o,
    output logic clear_o,
    input  logic done_set_i,  // from frontend: the last cycle of the run

    // Read back
    input logic            halt_i,
    input logic [     7:0] error_code_i,
    input logic [     3:0] error_engine_i,
    input logic [    15:0] error_seq_i,
    input logic            overflow_i,
    input logic [8*64-1:0] counters_i
);

  logic [63:0] prog_addr_q;
  logic [31:0] prog_len_q, cycle_limit_q;
  logic [16*64-1:0] base_q, size_q;
  logic busy_q, done_q, clear_q;

  logic accept;  // a write that takes effect
  logic [31:0] mask, value;
  logic [9:0] write_bit, read_bit;  // of a word in BASE or SIZE
  logic [8:0] counter_bit;

  assign accept = write_i && !busy_q;
  assign mask = {{8{write_strb_i[3]}}, {8{write_strb_i[2]}}, {8{write_strb_i[1]}}, {8{write_strb_i[0]}}};
  assign value = write_data_i & mask;
  assign write_bit = {write_addr_i[6:2], 5'd0};
  assign read_bit = {read_addr_i[6:2], 5'd0};
  assign counter_bit = {read_addr_i[5:2], 5'd0};

  assign write_mapped_o = csr_mapped(write_addr_i);
  assign read_mapped_o = csr_mapped(read_addr_i);
  assign start_o = accept && write_addr_i == CSR_CTRL && value[CSR_CTRL_START_LSB];

  always_comb begin
    read_data_o = '0;
    case (read_addr_i)
      CSR_ID:
      read_data_o = (32'(CSR_ID_LETTERS_VALUE) << CSR_ID_LETTERS_LSB) | (32'(CSR_ID_VERSION_VALUE) << CSR_ID_VERSION_LSB);
      CSR_STATUS: begin
        read_data_o[CSR_STATUS_BUSY_LSB] = busy_q;
        read_data_o[CSR_STATUS_DONE_LSB] = done_q;
        read_data_o[CSR_STATUS_ERROR_LSB] = halt_i;
        read_data_o[CSR_STATUS_OVERFLOW_LSB] = overflow_i;
      end
      CSR_ERROR:
      read_data_o = (32'(error_code_i) << CSR_ERROR_CODE_LSB) | (32'(error_engine_i) << CSR_ERROR_ENGINE_LSB);
      CSR_ERROR_SEQ: read_data_o = 32'(error_seq_i);
      CSR_PROG_LEN: read_data_o = prog_len_q;
      CSR_PROG_ADDR: read_data_o = prog_addr_q[31:0];
      CSR_PROG_ADDR + 12'd4: read_data_o = prog_addr_q[63:32];
      CSR_CYCLE_LIMIT: read_data_o = cycle_limit_q;
      CSR_CONFIG_ARRAY:
      read_data_o = (32'(ROWS) << CSR_CONFIG_ARRAY_ROWS_LSB) | (32'(COLS) << CSR_CONFIG_ARRAY_COLS_LSB);
      CSR_CONFIG_SCRATCHPAD:
      read_data_o = (32'(SP_WORDS) << CSR_CONFIG_SCRATCHPAD_WORDS_LSB) | (32'(SP_BANKS) << CSR_CONFIG_SCRATCHPAD_BANKS_LSB);
      CSR_CONFIG_ACCUMULATOR:
      read_data_o = (32'(ACC_ROWS) << CSR_CONFIG_ACCUMULATOR_ROWS_LSB) | (32'(ACC_BANKS) << CSR_CONFIG_ACCUMULATOR_BANKS_LSB);
      CSR_CONFIG_DEPTH:
      read_data_o = (32'(FIFO_TILES) << CSR_CONFIG_DEPTH_FIFO_TILES_LSB) | (32'(QUEUE_DEPTH) << CSR_CONFIG_DEPTH_QUEUE_LSB)
          | (32'(PARAM_ROWS) << CSR_CONFIG_DEPTH_PARAM_ROWS_LSB);
      CSR_CONFIG_MEMORY:
      read_data_o = (32'(MEM_BITS) << CSR_CONFIG_MEMORY_BITS_LSB) | (32'(OUTSTANDING) << CSR_CONFIG_MEMORY_OUTSTANDING_LSB);
      default: begin
        if (read_addr_i[11:6] == CSR_CYCLES[11:6]) read_data_o = counters_i[counter_bit+:32];
        else if (read_addr_i[11:7] == CSR_BASE[11:7]) read_data_o = base_q[read_bit+:32];
        else if (read_addr_i[11:7] == CSR_SIZE[11:7]) read_data_o = size_q[read_bit+:32];
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q        <= 1'b0;
      done_q        <= 1'b0;
      clear_q       <= 1'b0;
      prog_addr_q   <= '0;
      prog_len_q    <= '0;
      cycle_limit_q <= '0;
      base_q        <= '0;
      size_q        <= '0;
    end else begin
      clear_q <= start_o;
      if (start_o) begin
        busy_q <= 1'b1;
        done_q <= 1'b0;
      end else if (done_set_i) begin
        busy_q <= 1'b0;
        done_q <= 1'b1;
      end
      if (accept && write_addr_i == CSR_PROG_LEN) prog_len_q <= (prog_len_q & ~mask) | value;
      if (accept && write_addr_i == CSR_PROG_ADDR) prog_addr_q[31:0] <= (prog_addr_q[31:0] & ~mask) | value;
      if (accept && write_addr_i == CSR_PROG_ADDR + 12'd4) prog_addr_q[63:32] <= (prog_addr_q[63:32] & ~mask) | value;
      if (accept && write_addr_i == CSR_CYCLE_LIMIT) cycle_limit_q <= (cycle_limit_q & ~mask) | value;
      if (accept && write_addr_i[11:7] == CSR_BASE[11:7])
        base_q[write_bit+:32] <= (base_q[write_bit+:32] & ~mask) | value;
      if (accept && write_addr_i[11:7] == CSR_SIZE[11:7])
        size_q[write_bit+:32] <= (size_q[write_bit+:32] & ~mask) | value;
    end
  end

  assign prog_addr_o = prog_addr_q;
  assign prog_len_o = prog_len_q;
  assign cycle_limit_o = cycle_limit_q;
  assign base_o = base_q;
  assign size_o = size_q;
  assign busy_o = busy_q;
  assign done_o = done_q;
  assign clear_o = clear_q;

endmodule
