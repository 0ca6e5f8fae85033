// SPDX-License-Identifier: Apache-2.0
//
// Says whether a 256-bit word is an instruction that this configuration can execute; the twin of
// model/beatmatch/isa/legality.py.
//
// Combinational. First failing class wins: ILLEGAL_OPCODE, ILLEGAL_FIELD, ZERO_SIZE; code_o is 0 for a legal word.
// Not here: ranges of addresses, which the engines check row by row.

module bm_legality
  import bm_pkg::*;
#(
    parameter int ROWS = 8,  // 4..256, power of two
    parameter int COLS = 8   // 4..256, power of two
) (
    input  logic [255:0] word_i,
    output logic [  7:0] code_o
);

  // Views of one word; each branch below reads the fields it checks.
  // verilator lint_off UNUSEDSIGNAL
  instr_header_t header;
  instr_load_t load;
  instr_weights_mem_t weights_mem;
  instr_weights_sp_t weights_sp;
  instr_matmul_t matmul;
  instr_requant_t vector;  // the fields that all vector instructions begin with
  instr_add_t add;
  instr_maxpool_t pool;
  instr_store_t store;
  // verilator lint_on UNUSEDSIGNAL

  assign header = word_i[$bits(header)-1:0];
  assign load = word_i;
  assign weights_mem = word_i;
  assign weights_sp = word_i;
  assign matmul = word_i;
  assign vector = word_i;
  assign add = word_i;
  assign pool = word_i;
  assign store = word_i;

  // Weight instructions share the position of these fields, vector instructions those of theirs.
  logic many_rows, many_lanes, few, vector_field, vector_zero, pool_zero;

  always_comb begin
    many_rows = {1'b0, weights_mem.k_rows} >= 9'(ROWS);
    many_lanes = {1'b0, weights_mem.n_lanes} >= 9'(COLS);
    few = {1'b0, weights_mem.k_rows} != 9'(ROWS - 1) || {1'b0, weights_mem.n_lanes} != 9'(COLS - 1);
    vector_field = !((vector.src_space == SpaceScratchpad && vector.src_format == FmtInt8)
          || (vector.src_space == SpaceAccumulator && vector.src_format == FmtInt32))
        || (vector.dst_format != FmtInt8 && vector.dst_format != FmtInt32)
        || vector.param_mode == 2'd3
        || $signed(vector.clip_low) > $signed(vector.clip_high);
    vector_zero = vector.x == '0 || vector.y == '0;
    pool_zero = pool.kx == '0 || pool.ky == '0 || pool.stride_x == '0 || pool.stride_y == '0 || pool.width == '0
        || pool.height == '0;
  end

  logic known, field, zero;

  always_comb begin
    known = 1'b1;
    field = header.instance_ != '0 || (header.wait0_id == header.wait1_id && header.wait0_n != '0 && header.wait1_n != '0);
    zero = header.outer == '0;
    case (header.opcode)
      OpLoad: begin
        field = field || load.reserved != '0 || (load.dst_space != SpaceScratchpad && load.dst_space != SpaceParameter);
        zero = zero || load.row_bytes == '0 || load.rows == '0;
      end
      OpWeightsMem: begin
        field = field || weights_mem.reserved != '0 || many_rows || many_lanes || weights_mem.weight_format != FmtInt8
            || (weights_mem.packed_ == 1'b1 && few);
        zero = zero || weights_mem.inner == '0;
      end
      OpWeightsSp: begin
        field = field || weights_sp.reserved != '0 || many_rows || many_lanes || weights_sp.weight_format != FmtInt8
            || weights_sp.transpose != '0;
        zero = zero || weights_sp.inner == '0;
      end
      OpMatmul: begin
        field = field || matmul.act_format != FmtInt8 || matmul.weight_format != FmtInt8
            || {1'b0, matmul.k_lanes} >= 9'(ROWS) || {1'b0, matmul.n_lanes} >= 9'(COLS);
        zero = zero || matmul.x == '0 || matmul.y == '0 || matmul.kx == '0 || matmul.ky == '0 || matmul.kc == '0
            || matmul.stride_x == '0 || matmul.stride_y == '0 || matmul.width == '0 || matmul.height == '0;
      end
      OpRequant: begin
        field = field || vector.reserved != '0 || vector_field;
        zero = zero || vector_zero;
      end
      OpAdd: begin
        field = field || add.reserved != '0 || vector_field;
        zero = zero || vector_zero;
      end
      OpMaxpool, OpAvgpool: begin
        field = field || vector_field;
        zero = zero || vector_zero || pool_zero;
      end
      OpStore: begin
        field = field || store.reserved != '0;
        zero = zero || store.row_bytes == '0 || store.rows == '0;
      end
      default: known = 1'b0;
    endcase
  end

  assign code_o = !known ? ErrIllegalOpcode : field ? ErrIllegalField : zero ? ErrZeroSize : ErrNone;

endmodule
