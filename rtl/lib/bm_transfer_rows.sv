// SPDX-License-Identifier: Apache-2.0
//
// Issues the two-dimensional transfers of load and store and generates their memory rows.
//
// In: the queue head, in the layout of a store instruction (load takes its destination space out first).
// Out: one row per cycle while row_ready_i; `each` waits in front of every further outer iteration, presented only
// while the row register is empty (row_empty_i, registered), so that no grant depends on the memory port.
// A row is checked as it is generated: alignment, window, local range; a bad one raises the error instead and
// nothing advances. Base registers are taken at the issue. Latency: first row the cycle after the issue.
// halt_i: generates nothing. Reset: idle.

module bm_transfer_rows
  import bm_pkg::*;
#(
  parameter int MEM_BITS = 64,  // a power of two, 32 to 1024
  parameter int LANES = 8,      // bytes of a local word, a power of two
  parameter int META_W = 58     // seq, iteration, signals, ends, last, space, local: as packed below
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                halt_i,
  // queue head and its semaphores
  input  logic                instr_valid_i,
  input  logic [ INSTR_W-1:0] instr_i,
  input  logic [   SEQ_W-1:0] seq_i,
  input  logic [         1:0] space_i,
  input  logic [        18:0] limit_i,  // local words in that space
  output logic                wait_valid_o,
  output logic                wait_issue_o,
  output logic [        17:0] wait_sync_o,
  input  logic                wait_grant_i,
  // base registers
  input  logic [BASES*64-1:0] base_i,
  input  logic [BASES*64-1:0] size_i,
  // rows
  output logic                row_valid_o,
  output logic [        63:0] row_addr_o,
  output logic [        15:0] row_bytes_o,
  output logic [  META_W-1:0] row_meta_o,
  input  logic                row_ready_i,
  input  logic                row_empty_i,
  // what is going on
  output logic                run_o,
  output logic [         7:0] outer_o,
  output logic [        11:0] row_o,
  output logic                starting_o,  // a further iteration waits
  output logic [   SEQ_W-1:0] seq_o,       // of the instruction that runs
  output error_e              err_o,
  output logic [        24:0] issue_o      // last, iteration, seq while wait_grant_i
);

  localparam int MB = MEM_BITS / 8;
  localparam int MB_LOG = $clog2(MB);
  localparam int LANES_LOG = $clog2(LANES);

  instr_store_t head;
  logic run_q, each_q, starting_q;
  logic [SEQ_W-1:0] seq_q;
  logic [17:0] sync_q;
  logic [11:0] signals_q, rows_q, row_q, local_row_stride_q;
  logic [7:0] outer_count_q, outer_q;
  logic [1:0] space_q, ring_q;
  logic [18:0] limit_q;
  logic [15:0] row_bytes_q, local_outer_stride_q;
  logic [23:0] row_stride_q;
  logic [27:0] outer_stride_q;
  logic [63:0] base_q, size_q;
  logic [39:0] offset_q, outer_offset_q;      // of the row, of the iteration's first row; below 2^38
  logic [17:0] local_first_q;
  logic [25:0] local_q, local_outer_q;        // word of the row, of the iteration's first row; below 2^26

  logic issue, generates, last_row, last_outer, wraps;
  logic [7:0] outer_next, ring_mask;
  logic [39:0] outer_offset_next;
  logic [25:0] local_outer_next, row_words;
  error_e err;

  assign head = instr_i;
  assign issue = !run_q && wait_grant_i;
  assign generates = run_q && !halt_i && row_ready_i && (!starting_q || wait_grant_i);
  assign last_row = row_q == rows_q - 12'd1;
  assign last_outer = outer_q == outer_count_q - 8'd1;

  assign wait_valid_o = run_q ? starting_q && row_empty_i : instr_valid_i;
  assign wait_issue_o = !run_q;
  assign wait_sync_o = run_q ? sync_q : {head.wait1_n, head.wait1_id, head.wait0_n, head.wait0_id};
  assign issue_o = run_q ? {last_outer, outer_q, seq_q} : {head.each == 1'b0 || head.outer == 8'd1, 8'd0, seq_i};

  assign outer_next = outer_q + 8'd1;
  assign ring_mask = (8'd1 << ring_q) - 8'd1;
  assign wraps = ring_q != 2'd0 && (outer_next & ring_mask) == 8'd0;
  assign outer_offset_next = outer_offset_q + 40'(outer_stride_q);
  assign local_outer_next = wraps ? 26'(local_first_q) : local_outer_q + 26'(local_outer_stride_q);
  assign row_words = (26'(row_bytes_q) + 26'(LANES - 1)) >> LANES_LOG;

  assign row_addr_o = base_q + 64'(offset_q);
  assign row_bytes_o = row_bytes_q;
  assign row_meta_o = {seq_q, outer_q, signals_q, last_row && (each_q || last_outer), last_outer, space_q, local_q[17:0]};
  assign row_valid_o = generates && err == ErrNone;
  assign err_o = generates ? err : ErrNone;

  always_comb begin
    err = ErrNone;
    if (27'(local_q) + 27'(row_words) > 27'(limit_q)) err = ErrLocalRange;
    if (65'(offset_q) + 65'(row_bytes_q) > 65'(size_q)) err = ErrWindow;
    if (row_addr_o[MB_LOG-1:0] != '0) err = ErrUnaligned;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q <= 1'b0;
      starting_q <= 1'b0;
      outer_q <= '0;
      row_q <= '0;
    end else if (issue) begin
      run_q <= 1'b1;
    end else if (generates) begin
      starting_q <= 1'b0;
      if (err == ErrNone) begin
        row_q <= last_row ? '0 : row_q + 12'd1;
        if (last_row) begin
          outer_q <= last_outer ? '0 : outer_next;
          run_q <= !last_outer;
          starting_q <= each_q && !last_outer;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (issue) begin
      seq_q <= seq_i;
      each_q <= head.each;
      sync_q <= {head.wait1_n, head.wait1_id, head.wait0_n, head.wait0_id};
      signals_q <= {head.sig1_id, head.sig1_en, head.sig0_id, head.sig0_en};
      outer_count_q <= head.outer;
      rows_q <= head.rows;
      space_q <= space_i;
      limit_q <= limit_i;
      ring_q <= head.src_ring;
      row_bytes_q <= head.row_bytes;
      row_stride_q <= head.row_stride;
      outer_stride_q <= head.outer_stride;
      local_row_stride_q <= head.src_row_stride;
      local_outer_stride_q <= head.src_outer_stride;
      base_q <= base_i[64*32'(head.base)+:64];
      size_q <= size_i[64*32'(head.base)+:64];
      offset_q <= 40'(head.offset);
      outer_offset_q <= 40'(head.offset);
      local_first_q <= head.src;
      local_q <= 26'(head.src);
      local_outer_q <= 26'(head.src);
    end else if (row_valid_o) begin
      offset_q <= last_row ? outer_offset_next : offset_q + 40'(row_stride_q);
      local_q <= last_row ? local_outer_next : local_q + 26'(local_row_stride_q);
      if (last_row) begin
        outer_offset_q <= outer_offset_next;
        local_outer_q <= local_outer_next;
      end
    end
  end

  assign run_o = run_q;
  assign outer_o = outer_q;
  assign row_o = row_q;
  assign starting_o = starting_q;
  assign seq_o = seq_q;

  // Decoded and checked by the frontend.
  logic unused;
  assign unused = &{1'b0, head.reserved, head.instance_, head.opcode};

endmodule
