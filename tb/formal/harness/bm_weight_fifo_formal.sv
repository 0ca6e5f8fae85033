// SPDX-License-Identifier: Apache-2.0
//
// Contract of bm_weight_fifo: the count of tiles, and rows that come out as they went in.

module bm_weight_fifo_formal #(
  parameter int ROWS = 4,
  parameter int COLS = 1,
  parameter int FIFO_TILES = 2
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              wvalid_i,
  input logic [       3:0] wtile_i,
  input logic [       7:0] wrow_i,
  input logic [8*COLS-1:0] wdata_i,
  input logic              tile_done_i,
  input logic              rvalid_i,
  input logic [       3:0] rtile_i,
  input logic [       7:0] rrow_i,
  input logic [       3:0] tile_i,
  input logic [       7:0] row_i
);

  logic [8*COLS-1:0] rdata;
  logic [4:0] count;

  bm_weight_fifo #(
    .ROWS(ROWS),
    .COLS(COLS),
    .FIFO_TILES(FIFO_TILES)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .wvalid_i,
    .wtile_i,
    .wrow_i,
    .wdata_i,
    .tile_done_i,
    .rvalid_i,
    .rtile_i,
    .rrow_i,
    .rdata_o  (rdata),
    .release_i(rvalid_i && rrow_i == 8'(ROWS - 1)),
    .count_o  (count)
  );

  logic [3:0] tile_q;
  logic [7:0] row_q;
  logic known_q, expects_q, idle_q;
  logic [8*COLS-1:0] data_q, expected_q, rdata_q;
  logic [4:0] ledger_q;

  always_ff @(posedge clk_i) begin
    expects_q  <= rst_ni && rvalid_i && known_q && rtile_i == tile_q && rrow_i == row_q;
    expected_q <= data_q;
    idle_q     <= rst_ni && !rvalid_i;
    rdata_q    <= rdata;
    if (!rst_ni) begin
      tile_q   <= tile_i;
      row_q    <= row_i;
      known_q  <= 1'b0;
      ledger_q <= '0;
    end else begin
      ledger_q <= ledger_q + 5'(tile_done_i) - 5'(rvalid_i && rrow_i == '0);
      if (wvalid_i && wtile_i == tile_q && wrow_i == row_q) begin
        known_q <= 1'b1;
        data_q  <= wdata_i;
      end
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Tiles and rows written exist.
      write_range: assume (!wvalid_i || (wtile_i < 4'(FIFO_TILES) && wrow_i < 8'(ROWS)));
      // Tiles and rows read exist.
      read_range: assume (!rvalid_i || (rtile_i < 4'(FIFO_TILES) && rrow_i < 8'(ROWS)));
      // A tile's first row is read only if a tile is complete.
      complete: assume (!(rvalid_i && rrow_i == '0) || count != '0);
      // A tile is completed only while there is a free slot.
      slot: assume (!tile_done_i || count < 5'(FIFO_TILES));

      // The count is tiles completed less tiles begun to be read.
      ledger: assert (count == ledger_q);
      // The count never exceeds the slots.
      if (count == 5'(FIFO_TILES)) full: assert (!tile_done_i);
      // A row comes out, in the cycle after its read, as it was last written.
      if (expects_q) data: assert (rdata == expected_q);
      // The output holds while nothing is read.
      if (idle_q) holds: assert (rdata == rdata_q);
    end
  end

endmodule
