// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_transfer_rows: every row of a load or store lies inside its window and its local memory, aligned;
// nothing is generated while halted, without an issue, or in place of an error.

module bm_transfer_rows_formal
  import bm_pkg::*;
#(
  parameter int MEM_BITS = 32,
  parameter int LANES = 4,
  localparam int META_W = 58,
  localparam int MB = MEM_BITS / 8
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                halt_i,
  input logic                instr_valid_i,
  input logic [ INSTR_W-1:0] instr_i,
  input logic [   SEQ_W-1:0] seq_i,
  input logic [         1:0] space_i,
  input logic [        18:0] limit_i,
  input logic                grant_i,
  input logic [BASES*64-1:0] base_i,
  input logic [BASES*64-1:0] size_i,
  input logic                row_ready_i,
  input logic                row_empty_i
);

  logic wait_valid, wait_issue, row_valid, run, starting;
  logic [17:0] wait_sync;
  logic [63:0] row_addr;
  logic [15:0] row_bytes;
  logic [META_W-1:0] row_meta;
  logic [7:0] outer;
  logic [11:0] row;
  logic [SEQ_W-1:0] seq;
  error_e err;
  logic [24:0] issue;

  bm_transfer_rows #(
    .MEM_BITS(MEM_BITS),
    .LANES(LANES),
    .META_W(META_W)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .instr_valid_i,
    .instr_i,
    .seq_i,
    .space_i,
    .limit_i,
    .wait_valid_o(wait_valid),
    .wait_issue_o(wait_issue),
    .wait_sync_o(wait_sync),
    .wait_grant_i(grant_i),
    .base_i,
    .size_i,
    .row_valid_o(row_valid),
    .row_addr_o(row_addr),
    .row_bytes_o(row_bytes),
    .row_meta_o(row_meta),
    .row_ready_i,
    .row_empty_i,
    .run_o(run),
    .outer_o(outer),
    .row_o(row),
    .starting_o(starting),
    .seq_o(seq),
    .err_o(err),
    .issue_o(issue)
  );

  instr_store_t head;
  assign head = instr_i;

  logic issues, done;
  logic [63:0] base_q, size_q;
  logic [18:0] limit_q;
  logic [11:0] rows_q, row_q;    // rows of an iteration, rows given of it
  logic [7:0] outers_q, outer_q;
  logic each_q, active_q, fresh_q, stop_q;  // stop_q: halted, or an error in the cycle before
  logic [SEQ_W-1:0] seq_q;
  assign issues = grant_i && wait_issue;
  assign done = row_valid && row_q == rows_q - 12'd1 && outer_q == outers_q - 8'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      row_q    <= '0;
      outer_q  <= '0;
      fresh_q  <= 1'b0;
      stop_q   <= 1'b0;
    end else begin
      stop_q <= stop_q || halt_i || err != ErrNone;
      if (issues) active_q <= 1'b1;
      else if (done) active_q <= 1'b0;
      if (row_valid) begin
        row_q   <= row_q == rows_q - 12'd1 ? '0 : row_q + 12'd1;
        fresh_q <= row_q == rows_q - 12'd1 && !done;
        if (row_q == rows_q - 12'd1) outer_q <= outer_q == outers_q - 8'd1 ? '0 : outer_q + 8'd1;
      end
    end
    if (issues) begin
      base_q   <= base_i[64*32'(head.base)+:64];
      size_q   <= size_i[64*32'(head.base)+:64];
      limit_q  <= limit_i;
      rows_q   <= head.rows;
      outers_q <= head.outer;
      each_q   <= head.each;
      seq_q    <= seq_i;
    end
  end

  logic [63:0] offset;      // of the row in its window
  logic [26:0] local_end;   // first local word behind the row
  assign offset = row_addr - base_q;
  assign local_end = 27'(row_meta[17:0]) + ((27'(row_bytes) + 27'(LANES - 1)) / 27'(LANES));

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Only a presented wait is granted, and nothing while halted (bm_semaphores).
      grants: assume (!grant_i || (wait_valid && !halt_i));
      // The run is halted from the cycle after an error on, until the reset (bm_monitor).
      halts: assume (!stop_q || halt_i);
      // Decode has refused sizes of zero.
      sizes: assume (!instr_valid_i || (head.rows != '0 && head.outer != '0 && head.row_bytes != '0));

      // A row ends inside the window that its base register had at the issue.
      if (row_valid) window: assert (65'(offset) + 65'(row_bytes) <= 65'(size_q));
      // A row starts at a multiple of the beat.
      if (row_valid) aligned: assert ((row_addr & 64'(MB - 1)) == '0);
      // A row ends inside its local memory.
      if (row_valid) local_range: assert (local_end <= 27'(limit_q));
      // A row has at least one byte.
      if (active_q) not_empty: assert (row_bytes != '0);
      // Nothing is generated while halted, and no error is raised.
      if (halt_i && active_q) halted: assert (!row_valid && err == ErrNone);
      // A row that fails a check is not generated.
      if (err != ErrNone) instead: assert (!row_valid);
      // Rows belong to an issued instruction.
      if (row_valid) issued: assert (active_q && seq == seq_q);
      // The engine runs from the issue to the last row of the last iteration: no row is lost or added.
      if (active_q) runs: assert (run && row == row_q && outer == outer_q);
      // Base, window and the instruction's sizes are those of the issue.
      if (active_q) fields: assert ({u_dut.base_q, u_dut.size_q, u_dut.limit_q, u_dut.rows_q, u_dut.outer_count_q,
          u_dut.each_q, u_dut.seq_q} == {base_q, size_q, limit_q, rows_q, outers_q, each_q, seq_q});
      // Without an instruction nothing runs.
      if (!active_q) idle: assert (!run && !row_valid);
      // Rows and iterations are counted within the instruction's sizes.
      if (active_q) counts: assert (row_q < rows_q && outer_q < outers_q);
      // Between instructions the counts are 0.
      if (!active_q) rests: assert (row_q == '0 && outer_q == '0 && row == '0 && outer == '0 && !fresh_q && !starting);
      // A further iteration is waited for exactly from the last row of the one before to its own first row.
      if (active_q && !halt_i) starts: assert (starting == (fresh_q && each_q) && (!fresh_q || row_q == '0));
      // With `each`, the first row of a further iteration comes only with its grant.
      if (row_valid && each_q && fresh_q) waits: assert (grant_i);
      // A further wait is presented only while the row register is empty.
      if (wait_valid && run) wait_empty: assert (row_empty_i);
      // The last row of the last iteration is marked, and no other.
      if (row_valid) last_mark: assert (row_meta[21] == (row_q == rows_q - 12'd1 && (each_q || outer_q == outers_q - 8'd1)));
    end
  end

endmodule
