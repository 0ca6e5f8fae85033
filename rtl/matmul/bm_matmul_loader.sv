// SPDX-License-Identifier: Apache-2.0
//
// Moves tiles from the weight FIFO to the array's edge, one row per cycle, and keeps track of the shadow registers.
//
// In F (loader idle, a complete tile in the FIFO, shadow not full, not halted) it starts: row i is read in F + i
// and stands at the edge in F + i + 1; the slot is released with the last row. The shadow counts as full from
// F + 1 to the cycle in which a swapping row is in the sequencer's request register (swap_i), inclusive.
// Halt: a tile begun is finished, none is started. Reset: idle, shadow empty.

module bm_matmul_loader #(
  parameter int ROWS       = 8,  // 4..256, power of two
  parameter int COLS       = 8,  // 4..256, power of two
  parameter int FIFO_TILES = 4   // 2..16
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              halt_i,
  // weight FIFO
  input  logic [       4:0] fifo_count_i,
  output logic              fifo_rvalid_o,
  output logic [       3:0] fifo_rtile_o,
  output logic [       7:0] fifo_rrow_o,
  input  logic [8*COLS-1:0] fifo_rdata_i,  // the cycle after
  output logic              fifo_release_o,
  // sequencer
  input  logic              swap_i,
  output logic              shadow_full_o,
  output logic              busy_o,        // within a tile, after its first row
  output logic [       7:0] row_o,         // 0 while not busy
  // array edge
  output logic              weight_valid_o,
  output logic [       7:0] weight_row_o,
  output logic [8*COLS-1:0] weight_o
);

  localparam logic [7:0] LAST_ROW = 8'(ROWS - 1);
  localparam logic [3:0] LAST_TILE = 4'(FIFO_TILES - 1);

  logic busy_q, shadow_full_q, edge_valid_q;
  logic [7:0] row_q, edge_row_q;
  logic [3:0] tile_q;
  logic start;

  assign start = !halt_i && !busy_q && fifo_count_i != '0 && !shadow_full_q;
  assign fifo_rvalid_o = start || busy_q;
  assign fifo_rtile_o = tile_q;
  assign fifo_rrow_o = row_q;
  assign fifo_release_o = busy_q && row_q == LAST_ROW;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q        <= 1'b0;
      shadow_full_q <= 1'b0;
      row_q         <= '0;
      tile_q        <= '0;
      edge_valid_q  <= 1'b0;
      edge_row_q    <= '0;
    end else begin
      if (start) busy_q <= 1'b1;
      if (start) shadow_full_q <= 1'b1;
      if (swap_i) shadow_full_q <= 1'b0;
      if (fifo_rvalid_o) row_q <= row_q + 8'd1;
      if (fifo_release_o) begin
        busy_q <= 1'b0;
        row_q  <= '0;
        tile_q <= tile_q == LAST_TILE ? '0 : tile_q + 4'd1;
      end
      edge_valid_q <= fifo_rvalid_o;
      edge_row_q   <= row_q;
    end
  end

  assign shadow_full_o  = shadow_full_q;
  assign busy_o         = busy_q;
  assign row_o          = row_q;
  assign weight_valid_o = edge_valid_q;
  assign weight_row_o   = edge_row_q;
  assign weight_o       = edge_valid_q ? fifo_rdata_i : '0;

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // a swap takes a full shadow, and never one that is being claimed
      assert (!swap_i || shadow_full_q);
    end
  end

endmodule
