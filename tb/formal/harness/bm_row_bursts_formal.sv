// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_row_bursts: bursts keep the 4 KiB rule, cover their row without gap or overlap, are counted, and
// stand still while memory does not take them.

module bm_row_bursts_formal #(
  parameter int MEM_BITS = 64,
  parameter int OUTSTANDING = 2,
  localparam int MB = MEM_BITS / 8,
  localparam int MB_LOG = $clog2(MB)
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        halt_i,
  input logic        row_valid_i,
  input logic [63:0] row_addr_i,
  input logic [19:0] row_bytes_i,
  input logic        row_zero_i,
  input logic        row_meta_i,
  input logic        ax_ready_i,
  input logic        answered_i,
  input logic        list_pop_i
);

  logic row_ready, row_valid, ax_valid, put, put_last, put_meta, open, list_valid, list_zero, list_meta;
  logic [63:0] ax_addr;
  logic [7:0] ax_len;
  logic [6:0] inflight, list_count;
  logic [19:0] open_bytes, list_bytes;

  bm_row_bursts #(
    .MEM_BITS(MEM_BITS),
    .OUTSTANDING(OUTSTANDING),
    .META_W(1)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .row_valid_i,
    .row_addr_i,
    .row_bytes_i,
    .row_zero_i,
    .row_meta_i,
    .row_ready_o(row_ready),
    .row_valid_o(row_valid),
    .ax_valid_o(ax_valid),
    .ax_addr_o(ax_addr),
    .ax_len_o(ax_len),
    .ax_ready_i,
    .answered_i,
    .inflight_o(inflight),
    .burst_put_o(put),
    .burst_last_o(put_last),
    .burst_meta_o(put_meta),
    .open_o(open),
    .open_bytes_o(open_bytes),
    .list_valid_o(list_valid),
    .list_bytes_o(list_bytes),
    .list_zero_o(list_zero),
    .list_meta_o(list_meta),
    .list_pop_i,
    .list_count_o(list_count)
  );

  logic stalled_q, put_q, began_q;
  logic [63:0] addr_q, at_q, put_at_q;  // at_q: where the row's next burst starts
  logic [7:0] len_q;
  logic [6:0] ledger_q;
  logic [6:0] listed_q;   // rows begun less rows popped
  logic [20:0] left_q;    // bytes of the row not yet in bursts, in whole beats
  logic zero_q, occupied_q;
  logic enters, leaves, listing;  // of the row register; into the row list

  logic [20:0] put_bytes;  // of the burst that enters the address register at the end of this cycle
  assign put_bytes = 21'(u_dut.beats) << MB_LOG;
  assign enters = row_valid_i && row_ready;
  assign leaves = zero_q ? listing : put && put_last;
  assign listing = u_dut.u_rows.push_i;

  always_ff @(posedge clk_i) begin
    stalled_q  <= rst_ni && ax_valid && !ax_ready_i;
    put_q      <= rst_ni && put;
    put_at_q   <= at_q;
    addr_q     <= ax_addr;
    len_q      <= ax_len;
    if (!rst_ni) begin
      ledger_q   <= '0;
      listed_q   <= '0;
      occupied_q <= 1'b0;
      zero_q     <= 1'b0;
      began_q    <= 1'b0;
    end else begin
      ledger_q <= ledger_q + 7'(put) - 7'(answered_i);
      listed_q <= listed_q + 7'(listing) - 7'(list_pop_i);
      if (put) began_q <= 1'b1;
      if (enters) begin
        occupied_q  <= 1'b1;
        zero_q      <= row_zero_i;
        began_q     <= 1'b0;
        at_q        <= row_addr_i;
        left_q      <= (21'(row_bytes_i) + 21'(MB - 1)) & ~21'(MB - 1);
      end else begin
        if (leaves) occupied_q <= 1'b0;
        if (put) begin
          at_q   <= at_q + 64'(put_bytes);
          left_q <= left_q - put_bytes;
        end
      end
    end
  end

  // The burst that the register shows since this cycle, in bytes; where it starts in its page of 4 KiB.
  logic [12:0] bytes, start;
  assign bytes = (13'(ax_len) + 13'd1) << MB_LOG;
  assign start = 13'(ax_addr[11:0]);

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Rows start at a multiple of the beat.
      aligned: assume (!row_valid_i || row_addr_i[MB_LOG-1:0] == '0);
      // Rows have 1 to 65536 bytes.
      size: assume (!row_valid_i || (row_bytes_i != '0 && row_bytes_i <= 20'd65536));
      // Memory answers only bursts it was given.
      answers: assume (!answered_i || inflight != '0);
      // The reader of the row list pops only what is there.
      pops: assume (!list_pop_i || list_valid);

      // No burst crosses a 4 KiB boundary.
      if (ax_valid) boundary: assert (start + bytes <= 13'd4096);
      // Bursts follow one another without gap or overlap, from the row's address on.
      if (put_q) follows: assert (ax_addr == put_at_q);
      // The last burst of a row, and no other, ends with the row.
      if (put) ends: assert (put_last ? put_bytes == left_q : put_bytes < left_q);
      // Bursts start at a multiple of the beat.
      if (ax_valid) burst_aligned: assert (ax_addr[MB_LOG-1:0] == '0);
      // An address that memory has not taken stays valid.
      if (stalled_q) not_dropped: assert (ax_valid);
      // An address that memory has not taken does not change.
      if (stalled_q) stable: assert (ax_addr == addr_q && ax_len == len_q);
      // Bursts in flight are those put less those answered.
      counted: assert (inflight == ledger_q);
      // Never more than OUTSTANDING bursts are unanswered.
      if (put) limited: assert (inflight < 7'(OUTSTANDING));
      // The list has every row that was begun and not popped.
      listed: assert (list_count == listed_q);
      // The list never overflows.
      if (listing) list_room: assert (list_count <= 7'(OUTSTANDING));
      // While halted nothing new is put into the address register, begun or taken in.
      if (halt_i) halted: assert (!put && !listing && !row_ready);
      // Zero rows have no bursts.
      if (occupied_q && zero_q) zero: assert (!put);
      // A burst belongs to a row in the row register.
      if (put) has_row: assert (occupied_q && row_valid);
      // A row is listed with its first burst and only then.
      if (put) first_lists: assert (listing == !began_q);
    end
  end

endmodule
