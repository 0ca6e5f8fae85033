// SPDX-License-Identifier: Apache-2.0
//
// Memory of the weight FIFO: FIFO_TILES slots of ROWS x COLS bytes, and the count of tiles ready for the array.
//
// Write: one row per cycle, tile_done_i with a tile's last row. Read: data are in the output register the cycle
// after. count_o rises with tile_done_i and falls when the first row of a tile is read, both visible in the next
// cycle; release_i (with the last row read) frees the slot, of which weights keeps the account.
// Stalls: none. Reset: count 0; the memory keeps its contents.

module bm_weight_fifo #(
  parameter int ROWS       = 8,  // 4..256, power of two
  parameter int COLS       = 8,  // 4..256, power of two
  parameter int FIFO_TILES = 4   // 2..16
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // weights
  input  logic              wvalid_i,
  input  logic [       3:0] wtile_i,
  input  logic [       7:0] wrow_i,
  input  logic [8*COLS-1:0] wdata_i,
  input  logic              tile_done_i,
  // matmul
  input  logic              rvalid_i,
  input  logic [       3:0] rtile_i,
  input  logic [       7:0] rrow_i,
  output logic [8*COLS-1:0] rdata_o,
  input  logic              release_i,
  output logic [       4:0] count_o
);

  localparam int ROW_W = $clog2(ROWS);
  localparam int TILE_W = $clog2(FIFO_TILES);
  localparam int AW = TILE_W + ROW_W;

  logic [AW-1:0] waddr, raddr;
  logic [4:0] count_q;

  assign waddr = {wtile_i[TILE_W-1:0], wrow_i[ROW_W-1:0]};
  assign raddr = {rtile_i[TILE_W-1:0], rrow_i[ROW_W-1:0]};
  assign count_o = count_q;

  bm_ram #(
    .WORDS  (2 ** AW),
    .WIDTH  (8 * COLS),
    .GRANULE(8 * COLS)
  ) u_memory (
    .clk_i,
    .read_i   (rvalid_i),
    .raddr_i  (raddr),
    .rdata_o,
    .waddr_i  (waddr),
    .wenable_i(wvalid_i),
    .wdata_i
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 5'(tile_done_i) - 5'(rvalid_i && rrow_i == '0);
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // indices are within the memory; a slot is freed as its last row is read; a read has a tile
      assert (!wvalid_i || (5'(wtile_i) < 5'(FIFO_TILES) && 9'(wrow_i) < 9'(ROWS)));
      assert (!rvalid_i || (5'(rtile_i) < 5'(FIFO_TILES) && 9'(rrow_i) < 9'(ROWS)));
      assert (release_i == (rvalid_i && rrow_i == 8'(ROWS - 1)));
      assert (!rvalid_i || rrow_i != '0 || count_q != '0);
    end
  end

endmodule
