// Generated from rtl/host/bm_csr.rdl by `make generate`; do not edit.
// SPDX-License-Identifier: Apache-2.0
//
// Byte addresses of the registers, low bit and width of their fields. 64-bit registers: low word first.

// A package states all of its constants, whichever of them a design uses.
// verilator lint_off UNUSEDPARAM
package bm_csr_pkg;

  localparam logic [11:0] CSR_ID = 12'h000;
  localparam int CSR_ID_VERSION_LSB = 0;
  localparam int CSR_ID_VERSION_WIDTH = 16;
  localparam int CSR_ID_VERSION_VALUE = 1;
  localparam int CSR_ID_LETTERS_LSB = 16;
  localparam int CSR_ID_LETTERS_WIDTH = 16;
  localparam int CSR_ID_LETTERS_VALUE = 16973;

  localparam logic [11:0] CSR_CTRL = 12'h004;
  localparam int CSR_CTRL_START_LSB = 0;
  localparam int CSR_CTRL_START_WIDTH = 1;

  localparam logic [11:0] CSR_STATUS = 12'h008;
  localparam int CSR_STATUS_BUSY_LSB = 0;
  localparam int CSR_STATUS_BUSY_WIDTH = 1;
  localparam int CSR_STATUS_DONE_LSB = 1;
  localparam int CSR_STATUS_DONE_WIDTH = 1;
  localparam int CSR_STATUS_ERROR_LSB = 2;
  localparam int CSR_STATUS_ERROR_WIDTH = 1;
  localparam int CSR_STATUS_OVERFLOW_LSB = 3;
  localparam int CSR_STATUS_OVERFLOW_WIDTH = 1;

  localparam logic [11:0] CSR_ERROR = 12'h00C;
  localparam int CSR_ERROR_CODE_LSB = 0;
  localparam int CSR_ERROR_CODE_WIDTH = 8;
  localparam int CSR_ERROR_ENGINE_LSB = 8;
  localparam int CSR_ERROR_ENGINE_WIDTH = 4;

  localparam logic [11:0] CSR_ERROR_SEQ = 12'h010;
  localparam int CSR_ERROR_SEQ_SEQ_LSB = 0;
  localparam int CSR_ERROR_SEQ_SEQ_WIDTH = 16;

  localparam logic [11:0] CSR_PROG_LEN = 12'h014;
  localparam int CSR_PROG_LEN_LENGTH_LSB = 0;
  localparam int CSR_PROG_LEN_LENGTH_WIDTH = 32;

  localparam logic [11:0] CSR_PROG_ADDR = 12'h018;
  localparam int CSR_PROG_ADDR_ADDRESS_LSB = 0;
  localparam int CSR_PROG_ADDR_ADDRESS_WIDTH = 64;

  localparam logic [11:0] CSR_CYCLE_LIMIT = 12'h020;
  localparam int CSR_CYCLE_LIMIT_LIMIT_LSB = 0;
  localparam int CSR_CYCLE_LIMIT_LIMIT_WIDTH = 32;

  localparam logic [11:0] CSR_CONFIG_ARRAY = 12'h040;
  localparam int CSR_CONFIG_ARRAY_ROWS_LSB = 0;
  localparam int CSR_CONFIG_ARRAY_ROWS_WIDTH = 9;
  localparam int CSR_CONFIG_ARRAY_COLS_LSB = 16;
  localparam int CSR_CONFIG_ARRAY_COLS_WIDTH = 9;

  localparam logic [11:0] CSR_CONFIG_SCRATCHPAD = 12'h044;
  localparam int CSR_CONFIG_SCRATCHPAD_WORDS_LSB = 0;
  localparam int CSR_CONFIG_SCRATCHPAD_WORDS_WIDTH = 18;
  localparam int CSR_CONFIG_SCRATCHPAD_BANKS_LSB = 24;
  localparam int CSR_CONFIG_SCRATCHPAD_BANKS_WIDTH = 4;

  localparam logic [11:0] CSR_CONFIG_ACCUMULATOR = 12'h048;
  localparam int CSR_CONFIG_ACCUMULATOR_ROWS_LSB = 0;
  localparam int CSR_CONFIG_ACCUMULATOR_ROWS_WIDTH = 13;
  localparam int CSR_CONFIG_ACCUMULATOR_BANKS_LSB = 24;
  localparam int CSR_CONFIG_ACCUMULATOR_BANKS_WIDTH = 4;

  localparam logic [11:0] CSR_CONFIG_DEPTH = 12'h04C;
  localparam int CSR_CONFIG_DEPTH_FIFO_TILES_LSB = 0;
  localparam int CSR_CONFIG_DEPTH_FIFO_TILES_WIDTH = 5;
  localparam int CSR_CONFIG_DEPTH_QUEUE_LSB = 8;
  localparam int CSR_CONFIG_DEPTH_QUEUE_WIDTH = 6;
  localparam int CSR_CONFIG_DEPTH_PARAM_ROWS_LSB = 16;
  localparam int CSR_CONFIG_DEPTH_PARAM_ROWS_WIDTH = 8;

  localparam logic [11:0] CSR_CONFIG_MEMORY = 12'h050;
  localparam int CSR_CONFIG_MEMORY_BITS_LSB = 0;
  localparam int CSR_CONFIG_MEMORY_BITS_WIDTH = 11;
  localparam int CSR_CONFIG_MEMORY_OUTSTANDING_LSB = 16;
  localparam int CSR_CONFIG_MEMORY_OUTSTANDING_WIDTH = 7;

  localparam logic [11:0] CSR_CYCLES = 12'h080;
  localparam int CSR_CYCLES_COUNT_LSB = 0;
  localparam int CSR_CYCLES_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_ACTIVE = 12'h088;
  localparam int CSR_ACTIVE_COUNT_LSB = 0;
  localparam int CSR_ACTIVE_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_WEIGHT_SHIFT = 12'h090;
  localparam int CSR_WEIGHT_SHIFT_COUNT_LSB = 0;
  localparam int CSR_WEIGHT_SHIFT_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_WEIGHT_STALL = 12'h098;
  localparam int CSR_WEIGHT_STALL_COUNT_LSB = 0;
  localparam int CSR_WEIGHT_STALL_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_NON_MATRIX = 12'h0A0;
  localparam int CSR_NON_MATRIX_COUNT_LSB = 0;
  localparam int CSR_NON_MATRIX_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_RAW_STALL = 12'h0A8;
  localparam int CSR_RAW_STALL_COUNT_LSB = 0;
  localparam int CSR_RAW_STALL_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_INPUT_STALL = 12'h0B0;
  localparam int CSR_INPUT_STALL_COUNT_LSB = 0;
  localparam int CSR_INPUT_STALL_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_USEFUL_MACS = 12'h0B8;
  localparam int CSR_USEFUL_MACS_COUNT_LSB = 0;
  localparam int CSR_USEFUL_MACS_COUNT_WIDTH = 64;

  localparam logic [11:0] CSR_BASE = 12'h100;
  localparam int CSR_BASE_COUNT = 16;
  localparam int CSR_BASE_STRIDE = 8;
  localparam int CSR_BASE_ADDRESS_LSB = 0;
  localparam int CSR_BASE_ADDRESS_WIDTH = 64;

  localparam logic [11:0] CSR_SIZE = 12'h180;
  localparam int CSR_SIZE_COUNT = 16;
  localparam int CSR_SIZE_STRIDE = 8;
  localparam int CSR_SIZE_BYTES_LSB = 0;
  localparam int CSR_SIZE_BYTES_WIDTH = 64;

  // Whether a register is at this address.
  function automatic logic csr_mapped(input logic [11:0] address);
    return (address < 12'h024)
        || (address >= 12'h040 && address < 12'h054)
        || (address >= 12'h080 && address < 12'h0C0)
        || (address >= 12'h100 && address < 12'h200);
  endfunction

endpackage
// verilator lint_on UNUSEDPARAM
