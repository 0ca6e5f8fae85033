// SPDX-License-Identifier: Apache-2.0
//
// Reads weight rows from the scratchpad: request register, then the data one cycle after the grant.
//
// A row enters while ready_o (register empty or granted in this cycle); a zero row is granted at once and reads
// nothing. In the cycle after the grant (arrive_o) data_o is the row, zero past its bytes.
// Stalls: the grant. Nothing stalls an arriving row. Reset: empty.

module bm_weights_reader #(
  parameter int COLS   = 8,
  parameter int LANES  = 8,
  parameter int SP_AW  = 12,
  parameter int META_W = 38
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // row
  input  logic               row_valid_i,
  input  logic [  SP_AW-1:0] row_word_i,
  input  logic [        2:0] row_part_i,
  input  logic [        8:0] row_bytes_i,
  input  logic               row_zero_i,
  input  logic [ META_W-1:0] row_meta_i,
  output logic               ready_o,
  output logic               request_o,  // the request register is occupied
  // scratchpad
  output logic               sp_req_valid_o,
  output logic [  SP_AW-1:0] sp_req_addr_o,
  input  logic               sp_grant_i,
  input  logic [8*LANES-1:0] sp_rdata_i,
  // arriving row
  output logic               arrive_o,
  output logic               read_o,     // it is not a zero row
  output logic [  SP_AW-1:0] word_o,
  output logic [ 8*COLS-1:0] data_o,
  output logic [ META_W-1:0] meta_o
);

  logic request_q, zero_q, arrive_q, read_q, granted;
  logic [SP_AW-1:0] addr_q, word_q;
  logic [2:0] part_q, arrive_part_q;
  logic [8:0] bytes_q, arrive_bytes_q;
  logic [META_W-1:0] meta_q, arrive_meta_q;
  logic [8*COLS-1:0] operand;

  assign sp_req_valid_o = request_q && !zero_q;
  assign sp_req_addr_o = addr_q;
  assign granted = request_q && (zero_q || sp_grant_i);
  assign ready_o = !request_q || granted;
  assign request_o = request_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      request_q <= 1'b0;
      arrive_q  <= 1'b0;
      read_q    <= 1'b0;
    end else begin
      if (row_valid_i) request_q <= 1'b1;
      else if (granted) request_q <= 1'b0;
      arrive_q <= granted;
      read_q   <= granted && !zero_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (row_valid_i) begin
      addr_q  <= row_word_i;
      part_q  <= row_part_i;
      bytes_q <= row_bytes_i;
      zero_q  <= row_zero_i;
      meta_q  <= row_meta_i;
    end
    word_q         <= addr_q;
    arrive_part_q  <= part_q;
    arrive_bytes_q <= bytes_q;
    arrive_meta_q  <= meta_q;
  end

  assign operand = (8 * COLS)'(sp_rdata_i >> (8 * COLS * 32'(arrive_part_q)));

  always_comb begin
    data_o = '0;
    for (int c = 0; c < COLS; c++) begin
      if (read_q && 9'(c) < arrive_bytes_q) data_o[8*c+:8] = operand[8*c+:8];
    end
  end

  assign arrive_o = arrive_q;
  assign read_o = read_q;
  assign word_o = word_q;
  assign meta_o = arrive_meta_q;

endmodule
