// SPDX-License-Identifier: Apache-2.0
//
// Issues weight instructions and generates the rows of their tiles, for memory and for the scratchpad.
//
// In: the queue head, grants, whether a FIFO slot is free, whether either row register takes a row.
// Out: one row per cycle to the row register of its source, tiles in the order outer, inner; ROWS rows per tile, or
// one memory row if packed. Rows past k_rows in the last inner tile are zero rows: no read, no check.
// The first row of a tile needs a free slot; that of a further iteration (each) also its wait, presented only while
// a slot is free and the row register empty; the first of an instruction needs the other source to be quiet.
// A row is checked as it is generated; a bad one raises the error instead. Base registers are taken at the issue.
// halt_i: generates nothing. Reset: idle.

module bm_weights_rows
  import bm_pkg::*;
#(
  parameter int ROWS     = 8,
  parameter int COLS     = 8,
  parameter int SP_WORDS = 4096,
  parameter int MEM_BITS = 64
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // frontend
  input  logic                halt_i,
  input  logic                instr_valid_i,
  input  logic [ INSTR_W-1:0] instr_i,
  input  logic [   SEQ_W-1:0] seq_i,
  output logic                wait_valid_o,
  output logic                wait_issue_o,
  output logic [        17:0] wait_sync_o,
  input  logic                wait_grant_i,
  // host
  input  logic [BASES*64-1:0] base_i,
  input  logic [BASES*64-1:0] size_i,
  // weight FIFO and row registers
  input  logic                slot_free_i,
  input  logic                mem_ready_i,   // the memory row register takes a row
  input  logic                mem_empty_i,   // it is empty (registered)
  input  logic                mem_quiet_i,   // nothing of a memory row is on its way (registered)
  input  logic                sp_ready_i,
  input  logic                sp_empty_i,
  input  logic                sp_quiet_i,
  // the row
  output logic                mem_valid_o,
  output logic                sp_valid_o,
  output logic                reserve_o,     // it is the first of its tile
  output logic [        63:0] addr_o,        // memory
  output logic [        43:0] operand_o,     // scratchpad, in column operands
  output logic [        19:0] bytes_o,
  output logic                zero_o,
  output logic                ends_o,        // signals and retires
  output logic [        36:0] retire_o,      // {sig, last, iteration, seq}
  // what is going on
  output logic                run_o,
  output logic [   SEQ_W-1:0] seq_o,
  output logic                wants_wait_o,  // a further iteration waits for semaphores
  output logic                wants_slot_o,  // a first row waits for a slot
  output error_e              err_o,
  output logic [        31:0] issue_o,       // trace slot
  output logic [        31:0] digest_o       // of run, o, inner, r
);

  localparam int LANES = (ROWS > COLS) ? ROWS : COLS;
  localparam int MB_LOG = $clog2(MEM_BITS / 8);
  localparam int PARTS = LANES / COLS;
  localparam int OPERANDS = SP_WORDS * PARTS;

  // some fields matter to the decoder only
  // verilator lint_off UNUSEDSIGNAL
  instr_weights_mem_t head;
  instr_weights_sp_t head_sp;
  // verilator lint_on UNUSEDSIGNAL
  logic head_is_sp;

  logic run_q, opening_q, waits_q, each_q, sp_q, packed_q;
  logic [SEQ_W-1:0] seq_q;
  logic [17:0] sync_q;
  logic [11:0] signals_q, inner_count_q, inner_q;
  logic [7:0] outer_count_q, outer_q, k_rows_q, n_lanes_q, row_q;
  logic [1:0] ring_q;
  logic [23:0] row_stride_q;
  logic [27:0] inner_stride_q, outer_stride_q;
  logic [63:0] base_q, size_q;
  // offset (memory) or operand (scratchpad) of: the first tile, the iteration, the tile, the row; exact
  logic [43:0] first_q, outer_at_q, tile_at_q, at_q, from, step, next;

  logic issue, first_of_tile, generates, last_row, last_inner, last_outer, wraps, empty;
  logic [2:0] count;
  error_e err;

  assign head = instr_i;
  assign head_sp = instr_i;
  assign head_is_sp = head.opcode == OpWeightsSp;
  assign issue = !run_q && wait_grant_i;

  assign first_of_tile = row_q == '0;
  assign last_row = packed_q || row_q == 8'(ROWS - 1);
  assign last_inner = inner_q == inner_count_q - 12'd1;
  assign last_outer = outer_q == outer_count_q - 8'd1;
  assign zero_o = last_inner && !packed_q && row_q > k_rows_q;
  assign bytes_o = packed_q ? 20'(ROWS * COLS) : 20'(n_lanes_q) + 20'd1;
  assign addr_o = base_q + 64'(at_q);
  assign operand_o = at_q;
  assign ends_o = last_row && last_inner && (each_q || last_outer);
  assign retire_o = {signals_q, !each_q || last_outer, outer_q, seq_q};

  assign empty = sp_q ? sp_empty_i : mem_empty_i;
  assign generates = run_q && !halt_i && (sp_q ? sp_ready_i : mem_ready_i) && (!first_of_tile || slot_free_i)
      && (!opening_q || (sp_q ? mem_quiet_i : sp_quiet_i)) && (!waits_q || wait_grant_i);
  assign err_o = generates ? err : ErrNone;
  assign mem_valid_o = generates && err == ErrNone && !sp_q;
  assign sp_valid_o = generates && err == ErrNone && sp_q;
  assign reserve_o = generates && err == ErrNone && first_of_tile;

  assign wait_valid_o = run_q ? waits_q && slot_free_i && empty : instr_valid_i;
  assign wait_issue_o = !run_q;
  assign wait_sync_o = run_q ? sync_q : {head.wait1_n, head.wait1_id, head.wait0_n, head.wait0_id};
  assign wants_wait_o = run_q && waits_q;
  assign wants_slot_o = run_q && first_of_tile && !slot_free_i;

  always_comb begin
    err = ErrNone;
    if (!zero_o && sp_q && at_q >= 44'(OPERANDS)) err = ErrLocalRange;
    if (!zero_o && !sp_q && 65'(at_q) + 65'(bytes_o) > 65'(size_q)) err = ErrWindow;
    if (!zero_o && !sp_q && addr_o[MB_LOG-1:0] != '0) err = ErrUnaligned;
  end

  assign count = outer_q[2:0] + 3'd1;
  assign wraps = sp_q && ring_q != 2'd0 && (count & ~(3'b111 << ring_q)) == '0;

  always_comb begin
    from = at_q;
    step = 44'(row_stride_q);
    if (last_row) begin
      from = tile_at_q;
      step = 44'(inner_stride_q);
    end
    if (last_row && last_inner) begin
      from = wraps ? first_q : outer_at_q;
      step = wraps ? '0 : 44'(outer_stride_q);
    end
    next = from + step;
    if (issue) next = head_is_sp ? 44'(head_sp.src) : 44'(head.offset);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q     <= 1'b0;
      opening_q <= 1'b0;
      waits_q   <= 1'b0;
      outer_q   <= '0;
      inner_q   <= '0;
      row_q     <= '0;
    end else if (issue) begin
      run_q     <= 1'b1;
      opening_q <= 1'b1;
    end else if (generates && err == ErrNone) begin
      opening_q <= 1'b0;
      waits_q   <= last_row && last_inner && !last_outer && each_q;
      row_q     <= last_row ? '0 : row_q + 8'd1;
      if (last_row) inner_q <= last_inner ? '0 : inner_q + 12'd1;
      if (last_row && last_inner) outer_q <= last_outer ? '0 : outer_q + 8'd1;
      if (last_row && last_inner && last_outer) run_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (issue || generates) at_q <= next;
    if (issue || (generates && last_row)) tile_at_q <= next;
    if (issue || (generates && last_row && last_inner)) outer_at_q <= next;
    if (issue) begin
      first_q        <= next;
      sp_q           <= head_is_sp;
      packed_q       <= !head_is_sp && head.packed_;
      seq_q          <= seq_i;
      each_q         <= head.each;
      sync_q         <= {head.wait1_n, head.wait1_id, head.wait0_n, head.wait0_id};
      signals_q      <= {head.sig1_id, head.sig1_en, head.sig0_id, head.sig0_en};
      outer_count_q  <= head.outer;
      inner_count_q  <= head.inner;
      k_rows_q       <= head.k_rows;
      n_lanes_q      <= head.n_lanes;
      ring_q         <= head_sp.src_ring;
      row_stride_q   <= head_is_sp ? 24'(head_sp.row_stride) : head.row_stride;
      inner_stride_q <= head_is_sp ? 28'(head_sp.inner_stride) : head.inner_stride;
      outer_stride_q <= head_is_sp ? 28'(head_sp.outer_stride) : head.outer_stride;
      base_q         <= base_i[64*32'(head.base)+:64];
      size_q         <= size_i[64*32'(head.base)+:64];
    end
  end

  assign run_o = run_q;
  assign seq_o = seq_q;

  always_comb begin
    issue_o = '0;
    if (issue) issue_o = {1'b1, 6'd0, !head.each || head.outer == 8'd1, 8'd0, seq_i};
    else if (wait_grant_i) issue_o = {1'b1, 6'd0, last_outer, outer_q, seq_q};
  end
  assign digest_o = 32'(run_q) + 32'd3 * 32'(outer_q) + 32'd5 * 32'(inner_q) + 32'd7 * 32'(row_q);

endmodule
