// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_fetch: read bursts keep AXI's rules and the program's bounds; entries come in order.

module bm_fetch_formal #(
  parameter int MEM_BITS = 256,
  localparam int MB = MEM_BITS / 8
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                run_i,
  input logic                halt_i,
  input logic [        63:0] prog_addr_i,
  input logic [        31:0] prog_len_i,
  input logic                ar_ready_i,
  input logic                r_valid_i,
  input logic [MEM_BITS-1:0] r_data_i,
  input logic                r_last_i,
  input logic                pop_i
);

  logic ar_valid, r_ready, entry_valid, pending, program_error, bus_error, bus_decode;
  logic [63:0] ar_addr;
  logic [7:0] ar_len;
  logic [255:0] entry;
  logic [15:0] entry_seq, bus_seq;

  bm_fetch #(
    .MEM_BITS(MEM_BITS)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .run_i,
    .halt_i,
    .prog_addr_i,
    .prog_len_i,
    .ar_valid_o(ar_valid),
    .ar_addr_o(ar_addr),
    .ar_len_o(ar_len),
    .ar_ready_i,
    .r_valid_i,
    .r_data_i,
    .r_resp_i(2'd0),
    .r_last_i,
    .r_ready_o(r_ready),
    .entry_valid_o(entry_valid),
    .entry_o(entry),
    .entry_seq_o(entry_seq),
    .pop_i,
    .pending_o(pending),
    .program_error_o(program_error),
    .bus_error_o(bus_error),
    .bus_decode_o(bus_decode),
    .bus_seq_o(bus_seq)
  );

  logic stalled_q, run_q, halt_q;
  logic [63:0] addr_q, prog_addr_q;
  logic [31:0] prog_len_q;
  logic [7:0] len_q;
  logic [5:0] buffer_q;     // entries given and not popped
  logic [4:0] open_q;       // bursts put and not ended
  logic [15:0] next_seq_q;
  logic put;
  assign put = u_dut.put;

  always_ff @(posedge clk_i) begin
    stalled_q   <= rst_ni && ar_valid && !ar_ready_i;
    addr_q      <= ar_addr;
    len_q       <= ar_len;
    prog_addr_q <= prog_addr_i;
    prog_len_q  <= prog_len_i;
    if (!rst_ni) begin
      {run_q, halt_q} <= '0;
      buffer_q        <= '0;
      open_q          <= '0;
      next_seq_q      <= '1;
    end else begin
      run_q    <= run_i;
      halt_q   <= halt_i;
      buffer_q <= buffer_q + 6'(entry_valid) - 6'(pop_i);
      open_q   <= open_q + 5'(put) - 5'(r_valid_i && r_ready && r_last_i);
      if (entry_valid) next_seq_q <= next_seq_q + 16'd1;
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Once a run has begun, its program's address and length stay.
      program_stays: assume (!run_q || (run_i && prog_addr_i == prog_addr_q && prog_len_i == prog_len_q));
      // Halt stays until the reset.
      halt_stays: assume (!halt_q || halt_i);
      // Memory gives beats only for bursts that it has taken.
      beats: assume (!r_valid_i || open_q > 5'(ar_valid));
      // Decode pops only entries that are in the buffer.
      pops: assume (!pop_i || buffer_q != '0);

      // A read address that is not taken stays valid.
      if (stalled_q) ar_not_dropped: assert (ar_valid);
      // A read address that is not taken does not change.
      if (stalled_q) ar_stable: assert (ar_addr == addr_q && ar_len == len_q);
      // A burst ends at a multiple of 256 bytes at the latest: it never crosses 4 KiB.
      if (ar_valid) boundary: assert (32'(ar_addr[7:0]) + (32'(ar_len) + 32'd1) * MB <= 32'd256);
      // Entries come with consecutive numbers, from the header's 65535 on.
      if (entry_valid) numbered: assert (entry_seq == next_seq_q);
      // While halted no entry is given and nothing new is asked for.
      if (halt_i) halted: assert (!entry_valid && !put);
      // While halted every beat is taken.
      if (halt_i) drained: assert (r_ready);
      // An empty program is an error, and nothing is fetched.
      if (run_i && !halt_i && prog_len_i == '0) empty_program: assert (program_error && !put);
      // A program at an unaligned address is an error, and nothing is fetched.
      if (run_i && !halt_i && prog_addr_i[4:0] != '0) unaligned: assert (program_error && !put);
      // Never more is fetched than the header and the program's instructions.
      if (run_i) bounded: assert (u_dut.next_q <= {1'b0, prog_len_i} + 33'd1);
      // Before the first cycle of a run nothing of its program was asked for.
      if (!run_q) fresh: assert (u_dut.next_q == '0);
      // Nothing is asked for before the run.
      if (!run_i) before_run: assert (!put);
    end
  end

endmodule
