// SPDX-License-Identifier: Apache-2.0
//
// Turns matmul instructions into activation rows: loops, waits, padding, range check, request register.
//
// In: the queue head, grants, the state of the shadow registers. Out: one row per cycle in the request register
// (scratchpad read, granted always), generated in g and visible in g+1.
// Order: outer, ky, kx, kc (tiles), y, x (rows); x fastest. The first row of a tile waits for a full shadow that
// no earlier row is about to swap out, except the first tile of an instruction with keep. The first row of a
// further iteration (each) waits for its semaphores, presented once the shadow is ready.
// The next instruction issues in the cycle of the last row, unless that row itself waits for semaphores.
// A row out of range raises LOCAL_RANGE in place of being generated. Halt: nothing is generated. Reset: idle.

module bm_matmul_sequencer
  import bm_pkg::*;
#(
  parameter int ROWS     = 8,
  parameter int COLS     = 8,
  parameter int SP_WORDS = 4096,
  parameter int ACC_ROWS = 256,
  localparam int SP_AW   = $clog2(SP_WORDS),
  localparam int ACC_AW  = $clog2(ACC_ROWS)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // frontend
  input  logic              halt_i,
  input  logic              instr_valid_i,
  input  logic [INSTR_W-1:0] instr_i,
  input  logic [ SEQ_W-1:0] seq_i,
  output logic              wait_valid_o,
  output logic              wait_issue_o,
  output logic [      17:0] wait_sync_o,
  input  logic              wait_grant_i,
  output logic              err_valid_o,
  output logic              run_o,
  output logic [ SEQ_W-1:0] run_seq_o,
  // loader
  input  logic              shadow_full_i,
  output logic              shadow_wait_o,  // a first row waits for the shadow
  output logic              swap_o,         // a row in the request register swaps
  // row generated in this cycle
  output logic              row_o,
  // request register
  output logic              req_valid_o,
  output logic              req_read_o,     // not a padding row
  output logic [ SP_AW-1:0] req_addr_o,
  output logic [       2:0] req_part_o,
  output logic              req_add_o,
  output logic [ACC_AW-1:0] req_acc_o,
  output logic [       8:0] req_lanes_o,    // activation lanes used
  output logic [       8:0] req_cols_o,     // columns used, for the accounting
  output logic [       7:0] req_pad_o,      // value of padding
  output logic              req_end_o,      // signals and retires
  output logic [      36:0] req_retire_o,   // {sig, last, iteration, seq}
  // trace
  output logic [      31:0] issue_o,
  output logic [      31:0] digest_o        // of run, o, ky, kx, kc, y, x
);

  localparam int LANES = (ROWS > COLS) ? ROWS : COLS;
  localparam int PART_W = $clog2(LANES / ROWS);

  instr_matmul_t head, instr_q;
  logic run_q;
  logic [SEQ_W-1:0] seq_q;
  logic [7:0] outer_q, kc_q;
  logic [3:0] ky_q, kx_q;
  logic [8:0] y_q;
  logic [11:0] x_q;

  logic x_last, y_last, kc_last, kx_last, ky_last, outer_last;
  logic [5:0] last, advance;  // innermost loop at bit 0
  logic first_row, first_tile, swaps, ready, waits, proceed, can_issue, issue, pad, range, ends;
  logic [31:0] operand;
  logic [ACC_AW-1:0] acc;

  assign head = instr_i;
  assign x_last = x_q == instr_q.x - 12'd1;
  assign y_last = y_q == instr_q.y - 9'd1;
  assign kc_last = kc_q == instr_q.kc - 8'd1;
  assign kx_last = kx_q == instr_q.kx - 4'd1;
  assign ky_last = ky_q == instr_q.ky - 4'd1;
  assign outer_last = outer_q == instr_q.outer - 8'd1;
  assign last = {outer_last, ky_last, kx_last, kc_last, y_last, x_last};

  assign first_row = y_q == '0 && x_q == '0;
  assign first_tile = ky_q == '0 && kx_q == '0 && kc_q == '0;
  assign swaps = first_row && !(instr_q.keep && outer_q == '0 && first_tile);
  assign shadow_wait_o = run_q && swaps && (!shadow_full_i || swap_o);
  assign ready = run_q && !shadow_wait_o;
  assign waits = instr_q.each && outer_q != '0 && first_tile && first_row;
  assign proceed = ready && !halt_i && (!waits || wait_grant_i);
  assign row_o = proceed && !range;
  assign err_valid_o = proceed && range;
  assign ends = &last[4:0] && (instr_q.each || outer_last);

  assign can_issue = !run_q || (ready && !waits && !range && &last);
  assign wait_issue_o = can_issue && instr_valid_i;
  assign wait_valid_o = wait_issue_o || (ready && waits);
  assign wait_sync_o = can_issue ? {head.wait1_n, head.wait1_id, head.wait0_n, head.wait0_id}
      : {instr_q.wait1_n, instr_q.wait1_id, instr_q.wait0_n, instr_q.wait0_id};
  assign issue = wait_issue_o && wait_grant_i;

  always_comb begin
    advance = '0;
    if (row_o) begin
      advance[0] = !last[0];
      for (int i = 1; i < 6; i++) advance[i] = !last[i] && &(last | (6'h3f << i));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q   <= 1'b0;
      instr_q <= '0;
      seq_q   <= '0;
      outer_q <= '0;
      {ky_q, kx_q, kc_q, y_q, x_q} <= '0;
    end else begin
      if (row_o) begin
        x_q <= x_last ? '0 : x_q + 12'd1;
        if (x_last) y_q <= y_last ? '0 : y_q + 9'd1;
        if (&last[1:0]) kc_q <= kc_last ? '0 : kc_q + 8'd1;
        if (&last[2:0]) kx_q <= kx_last ? '0 : kx_q + 4'd1;
        if (&last[3:0]) ky_q <= ky_last ? '0 : ky_q + 4'd1;
        if (&last[4:0]) outer_q <= outer_last ? '0 : outer_q + 8'd1;
        if (&last) run_q <= 1'b0;
      end
      if (issue) begin
        run_q   <= 1'b1;
        instr_q <= head;
        seq_q   <= seq_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_valid_o  <= 1'b0;
      req_read_o   <= 1'b0;
      swap_o       <= 1'b0;
      req_addr_o   <= '0;
      req_part_o   <= '0;
      req_add_o    <= 1'b0;
      req_acc_o    <= '0;
      req_lanes_o  <= '0;
      req_cols_o   <= '0;
      req_pad_o    <= '0;
      req_end_o    <= 1'b0;
      req_retire_o <= '0;
    end else begin
      req_valid_o <= row_o;
      req_read_o  <= row_o && !pad;
      swap_o      <= row_o && swaps;
      if (row_o) begin
        req_addr_o   <= SP_AW'(operand >> PART_W);
        req_part_o   <= operand[2:0] & ~(3'b111 << PART_W);
        req_add_o    <= instr_q.accumulate || !first_tile;
        req_acc_o    <= acc;
        req_lanes_o  <= kc_last ? 9'(instr_q.k_lanes) + 9'd1 : 9'(ROWS);
        req_cols_o   <= 9'(instr_q.n_lanes) + 9'd1;
        req_pad_o    <= instr_q.pad_value;
        req_end_o    <= ends;
        req_retire_o <= {instr_q.sig1_id, instr_q.sig1_en, instr_q.sig0_id, instr_q.sig0_en,
                         !instr_q.each || outer_last, outer_q, seq_q};
      end
    end
  end

  bm_matmul_walk #(
    .ROWS    (ROWS),
    .COLS    (COLS),
    .SP_WORDS(SP_WORDS),
    .ACC_ROWS(ACC_ROWS)
  ) u_walk (
    .clk_i,
    .rst_ni,
    .load_i   (issue),
    .head_i   (head),
    .instr_i  (instr_q),
    .outer_i  (outer_q[2:0]),
    .advance_i(advance),
    .pad_o    (pad),
    .range_o  (range),
    .operand_o(operand),
    .acc_o    (acc)
  );

  assign run_o = run_q;
  assign run_seq_o = seq_q;

  always_comb begin
    issue_o = '0;
    if (issue) issue_o = {1'b1, 6'd0, !head.each || head.outer == 8'd1, 8'd0, seq_i};
    else if (wait_valid_o && wait_grant_i) issue_o = {1'b1, 6'd0, outer_last, outer_q, seq_q};
  end
  assign digest_o = 32'(run_q) + 32'd3 * 32'(outer_q) + 32'd5 * 32'(ky_q) + 32'd7 * 32'(kx_q)
      + 32'd9 * 32'(kc_q) + 32'd11 * 32'(y_q) + 32'd13 * 32'(x_q);

endmodule
