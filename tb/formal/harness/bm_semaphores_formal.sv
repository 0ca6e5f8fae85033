// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_semaphores: no signal is lost, none counts twice, a grant takes exactly what it waited for.
// One counter (ID) is looked at, in any state.

module bm_semaphores_formal
  import bm_pkg::*;
#(
  parameter int ID = 0
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    halt_i,
  input logic                    header_valid_i,
  input logic [8*SEMAPHORES-1:0] header_i,
  input logic [             4:0] wait_valid_i,
  input logic [        5*18-1:0] wait_sync_i,
  input logic [        5*12-1:0] sig_i
);

  logic [4:0] grant;
  logic overflow;
  logic [31:0] digest;

  bm_semaphores #(
    .TRACE(1'b0)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .header_valid_i,
    .header_i,
    .wait_valid_i,
    .wait_sync_i,
    .wait_grant_o(grant),
    .sig_i,
    .overflow_o  (overflow),
    .digest_o    (digest)
  );

  localparam logic [4:0] MINE = 5'(ID);

  logic [7:0] counter, next;  // its value, and that of the next cycle without header and reset
  logic [10:0] signals;       // to it in this cycle, at most 10
  logic [10:0] takes;         // of it by granted waits, at most 150
  logic [4:0] concerned;      // engines whose wait names it
  logic [4:0] affordable;     // ... and could have it
  logic [4:0] due;            // ... and names nothing else: should be granted
  logic [10:0] up, down;

  assign counter = u_dut.count_q[8*ID+:8];
  assign next = u_dut.count_d[8*ID+:8];

  always_comb begin
    signals = '0;
    takes = '0;
    for (int k = 0; k < 5; k++) begin
      if (sig_i[12*k] && sig_i[12*k+1+:5] == MINE) signals = signals + 11'd1;
      if (sig_i[12*k+6] && sig_i[12*k+7+:5] == MINE) signals = signals + 11'd1;
      if (grant[k] && wait_sync_i[18*k+:5] == MINE) takes = takes + 11'(wait_sync_i[18*k+5+:4]);
      if (grant[k] && wait_sync_i[18*k+9+:5] == MINE) takes = takes + 11'(wait_sync_i[18*k+14+:4]);
      concerned[k] = wait_sync_i[18*k+:5] == MINE || wait_sync_i[18*k+9+:5] == MINE;
      affordable[k] = (wait_sync_i[18*k+:5] != MINE || 8'(wait_sync_i[18*k+5+:4]) <= counter)
          && (wait_sync_i[18*k+9+:5] != MINE || 8'(wait_sync_i[18*k+14+:4]) <= counter);
      due[k] = wait_valid_i[k] && affordable[k] && wait_sync_i[18*k+:5] == MINE && wait_sync_i[18*k+9+:5] == MINE;
    end
    up = 11'(counter) + signals;
    down = takes;
  end

  logic stepped_q, headed_q, reset_q;
  logic [7:0] next_q, header_q;
  always_ff @(posedge clk_i) begin
    reset_q   <= !rst_ni;
    stepped_q <= rst_ni && !header_valid_i;
    headed_q  <= rst_ni && header_valid_i;
    next_q    <= next;
    header_q  <= header_i[8*ID+:8];
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The counter gains every signal and loses every granted wait of the cycle, exactly.
      if (up >= down && up - down <= 11'd255) exact: assert (11'(next) == up - down);
      // A sum above 255 leaves 255, and raises the overflow unless the run is halted already.
      if (up > down + 11'd255) saturated: assert (next == 8'd255 && overflow == !halt_i);
      // Waits of two engines on one counter, which the checker refuses, never take it below 0.
      if (up < down) floor: assert (next == '0);
      // One signal adds exactly one, halted or not.
      if (signals == 11'd1 && takes == '0 && counter != 8'd255) once: assert (next == counter + 8'd1);
      // Without signals and grants nothing changes.
      if (signals == '0 && takes == '0) still: assert (next == counter);
      // A granted wait takes exactly what it asked for.
      if (signals == '0 && takes != '0 && takes <= 11'(counter)) taken: assert (next == counter - takes[7:0]);
      // A wait is granted only if the counter holds what it asks for.
      if ((grant & concerned) != '0) earned: assert ((grant & concerned & ~affordable) == '0);
      // A wait that asks for one counter only is granted in the first cycle in which the counter holds enough.
      if (!halt_i && due != '0) prompt: assert ((due & ~grant) == '0);
      // Only a presented wait is granted.
      if (grant != '0) asked: assert ((grant & ~wait_valid_i) == '0);
      // Nothing is granted while halted.
      if (halt_i && wait_valid_i != '0) halted: assert (grant == '0);
      // What was computed is what the counter holds in the next cycle.
      if (stepped_q) follows: assert (counter == next_q);
      // The program's header gives the counter its first value.
      if (headed_q) header: assert (counter == header_q);
      // After a reset the counter is 0.
      if (reset_q) cleared: assert (counter == '0);
    end
  end

endmodule
