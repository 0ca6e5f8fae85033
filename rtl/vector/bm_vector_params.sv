// SPDX-License-Identifier: Apache-2.0
//
// Parameter memory: rows of COLS channels x 8 bytes (bias, multiplier, shift), written by load, read by the sequencer.
//
// Write:   words of LANES bytes, always granted; row p is words [p*PW, (p+1)*PW).
// Read:    row_i in the cycle of read_i; the parameters stand from the next cycle on. A second read (ADD) keeps the
//          first row and gives its multiplier as multiplier_b_o. A word written in the same cycle reads its old value.
// Default: bias 0, multiplier 1, shift 0 and second multiplier 1 from the cycle after default_i on.
// Reset:   none; parameters count only after a read or default.

module bm_vector_params #(
    parameter int COLS       = 8,   // 4..256, power of two
    parameter int LANES      = 8,   // bytes of a scratchpad word
    parameter int PARAM_ROWS = 32,  // 4..128, power of two

    // Derived; do not override.
    localparam int PW = 8 * COLS / LANES,  // words of a row
    localparam int ROW_AW = $clog2(PARAM_ROWS),
    localparam int PAR_AW = $clog2(PARAM_ROWS * PW)
) (
    input logic clk_i,

    // From load
    input logic               par_wvalid_i,
    input logic [ PAR_AW-1:0] par_waddr_i,
    input logic [  LANES-1:0] par_wenable_i,
    input logic [8*LANES-1:0] par_wdata_i,

    // From the sequencer
    input logic              read_i,
    input logic              second_i,
    input logic              default_i,
    input logic [ROW_AW-1:0] row_i,

    // To the lanes
    output logic [64*COLS-1:0] params_o,
    output logic [24*COLS-1:0] multiplier_b_o
);
  localparam logic [63:0] NEUTRAL = {2'd0, 6'd0, 24'd1, 32'd0};

  logic [64*COLS-1:0] row;
  logic [64*COLS-1:0] first_q;
  logic               default_q;
  logic               second_q;

  for (genvar w = 0; w < PW; w++) begin : gen_word
    logic selected;
    if (PW > 1) begin : gen_select
      assign selected = par_wvalid_i && par_waddr_i[$clog2(PW)-1:0] == $clog2(PW)'(w);
    end else begin : gen_only
      assign selected = par_wvalid_i;
    end

    bm_ram #(
        .WORDS(PARAM_ROWS),
        .WIDTH(8 * LANES),
        .GRANULE(8)
    ) u_ram (
        .clk_i,
        .read_i,
        .raddr_i(row_i),
        .rdata_o(row[w*8*LANES+:8*LANES]),
        .waddr_i(par_waddr_i[PAR_AW-1-:ROW_AW]),
        .wenable_i(selected ? par_wenable_i : '0),
        .wdata_i(par_wdata_i)
    );
  end

  always_ff @(posedge clk_i) begin
    if (read_i || default_i) begin
      default_q <= default_i;
      second_q  <= second_i;
    end
    if (read_i && second_i) first_q <= row;
  end

  assign params_o = default_q ? {COLS{NEUTRAL}} : second_q ? first_q : row;

  for (genvar c = 0; c < COLS; c++) begin : gen_channel
    assign multiplier_b_o[24*c+:24] = default_q ? 24'd1 : row[64*c+32+:24];
  end
endmodule
