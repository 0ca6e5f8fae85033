// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_semaphores: no signal is lost, none counts twice, a grant takes exactly what it waited for.
// One counter (ID) is looked at; a second count of it is kept here.

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

  logic [8:0] count_q;      // of counter ID, with room to see 256
  logic [10:0] signals;     // to it in this cycle, at most 10
  logic [10:0] takes;       // of it by granted waits, at most 150
  logic [4:0] concerned;    // engines whose wait names it
  logic [4:0] affordable;   // ... and could have it
  logic [4:0] alone;        // ... whose wait names nothing else
  logic [4:0] due;          // ... and should therefore be granted
  logic signed [12:0] exact;

  always_comb begin
    signals = '0;
    takes = '0;
    for (int k = 0; k < 5; k++) begin
      if (sig_i[12*k] && sig_i[12*k+1+:5] == MINE) signals = signals + 11'd1;
      if (sig_i[12*k+6] && sig_i[12*k+7+:5] == MINE) signals = signals + 11'd1;
      if (grant[k] && wait_sync_i[18*k+:5] == MINE) takes = takes + 11'(wait_sync_i[18*k+5+:4]);
      if (grant[k] && wait_sync_i[18*k+9+:5] == MINE) takes = takes + 11'(wait_sync_i[18*k+14+:4]);
      concerned[k] = wait_sync_i[18*k+:5] == MINE || wait_sync_i[18*k+9+:5] == MINE;
      alone[k] = wait_sync_i[18*k+:5] == MINE && wait_sync_i[18*k+9+:5] == MINE;
      affordable[k] = (wait_sync_i[18*k+:5] != MINE || 9'(wait_sync_i[18*k+5+:4]) <= count_q)
          && (wait_sync_i[18*k+9+:5] != MINE || 9'(wait_sync_i[18*k+14+:4]) <= count_q);
    end
    due = wait_valid_i & alone & affordable;
    exact = 13'(count_q) + 13'(signals) - 13'(takes);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
    end else if (header_valid_i) begin
      count_q <= 9'(header_i[8*ID+:8]);
    end else if (exact < 0) begin
      count_q <= '0;
    end else if (exact > 255) begin
      count_q <= 9'd255;
    end else begin
      count_q <= exact[8:0];
    end
  end

  logic [7:0] counter;
  assign counter = u_dut.count_q[8*ID+:8];

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // The counter is what the program gave it, plus every signal once, less every granted wait once.
      ledger: assert (counter == count_q[7:0] && !count_q[8]);
      // A wait is granted only if the counter holds what it asks for.
      if ((grant & concerned) != '0) earned: assert ((grant & concerned & ~affordable) == '0);
      // A wait that asks for one counter only is granted in the first cycle in which the counter holds enough.
      if (!halt_i && due != '0) prompt: assert ((due & ~grant) == '0);
      // Only a presented wait is granted.
      if (grant != '0) asked: assert ((grant & ~wait_valid_i) == '0);
      // Nothing is granted while halted.
      if (halt_i && wait_valid_i != '0) halted: assert (grant == '0);
      // A sum above 255 raises the overflow, unless the run is halted already.
      if (exact > 255 && !halt_i) raised: assert (overflow);
    end
  end

  logic over_q, signalled_q, quiet_q, one_q;
  logic [7:0] before_q;
  always_ff @(posedge clk_i) begin
    over_q      <= rst_ni && !header_valid_i && exact > 255;
    signalled_q <= rst_ni && !header_valid_i && signals == 11'd1 && takes == '0 && counter != 8'd255;
    quiet_q     <= rst_ni && !header_valid_i && signals == '0 && takes == '0;
    one_q       <= rst_ni && !header_valid_i && signals == '0 && takes == 11'd1 && counter != '0;
    before_q    <= counter;
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // After an overflow the counter keeps 255.
      if (over_q) saturated: assert (counter == 8'd255);
      // One signal adds exactly one, halted or not.
      if (signalled_q) once: assert (counter == before_q + 8'd1);
      // Without signals and grants nothing changes.
      if (quiet_q) still: assert (counter == before_q);
      // A granted wait for one takes exactly one.
      if (one_q) taken: assert (counter == before_q - 8'd1);
    end
  end

endmodule
