// SPDX-License-Identifier: Apache-2.0
//
// Reads the words of store's rows from the scratchpad into a four-word buffer.
//
// In: the head of the row list (popped as its last word is requested). Out: words in order, each with its bytes and
// whether it ends its row. The request register is loaded whenever it is free (empty, or granted in this cycle) and
// fewer than four words are requested or buffered (registered). Latency: word at the buffer's head three cycles
// after its request was loaded, if granted at once.
// halt_i: only words of bursts that exist (needed by beats owed to the memory) are still requested. Reset: empty.

module bm_store_reader #(
  parameter int LANES = 8,
  parameter int SP_AW = 12
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               halt_i,
  // head of the row list
  input  logic               row_valid_i,
  input  logic [       19:0] row_bytes_i,
  input  logic [       17:0] row_local_i,
  output logic               row_pop_o,
  input  logic               row_partial_i,  // only its first row_begun_i bytes are in bursts
  input  logic [       19:0] row_begun_i,
  // scratchpad
  output logic               sp_req_valid_o,
  output logic [  SP_AW-1:0] sp_req_addr_o,
  input  logic               sp_grant_i,
  input  logic [8*LANES-1:0] sp_rdata_i,
  // trace: a word arrives
  output logic               arrives_o,
  output logic [  SP_AW-1:0] arrives_addr_o,
  // head of the word buffer
  output logic               word_valid_o,
  output logic [8*LANES-1:0] word_data_o,
  output logic [        8:0] word_bytes_o,
  output logic               word_last_o,    // of its row
  input  logic               word_pop_i,
  output logic [        2:0] word_count_o
);

  localparam int DEPTH = 4;

  logic req_valid_q, arrives_q, req_last_q, data_last_q;
  logic [SP_AW-1:0] req_addr_q, data_addr_q;
  logic [8:0] req_bytes_q, data_bytes_q;
  logic [15:0] index_q;  // of the row's next word
  logic [2:0] words_q;   // requested or in the buffer

  logic [19:0] done, left;
  logic last, needed, request;

  assign done = 20'(index_q) << $clog2(LANES);
  assign left = row_bytes_i - done;
  assign last = left <= 20'(LANES);
  assign needed = !halt_i || !row_partial_i || done < row_begun_i;
  assign request = row_valid_i && needed && (!req_valid_q || sp_grant_i) && words_q != 3'(DEPTH);
  assign row_pop_o = request && last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_valid_q <= 1'b0;
      req_addr_q <= '0;
      req_bytes_q <= '0;
      req_last_q <= 1'b0;
      arrives_q <= 1'b0;
      data_addr_q <= '0;
      data_bytes_q <= '0;
      data_last_q <= 1'b0;
      index_q <= '0;
      words_q <= '0;
    end else begin
      if (request) begin
        req_valid_q <= 1'b1;
        req_addr_q <= SP_AW'(row_local_i + 18'(index_q));
        req_bytes_q <= last ? left[8:0] : 9'(LANES);
        req_last_q <= last;
        index_q <= last ? '0 : index_q + 16'd1;
      end else if (sp_grant_i) begin
        req_valid_q <= 1'b0;
      end
      arrives_q <= req_valid_q && sp_grant_i;
      data_addr_q <= req_addr_q;
      data_bytes_q <= req_bytes_q;
      data_last_q <= req_last_q;
      words_q <= words_q + 3'(request) - 3'(word_pop_i);
    end
  end

  bm_fifo #(
    .WIDTH(8 * LANES + 10),
    .DEPTH(DEPTH)
  ) u_words (
    .clk_i,
    .rst_ni,
    .push_i (arrives_q),
    .data_i ({data_last_q, data_bytes_q, sp_rdata_i}),
    .valid_o(word_valid_o),
    .data_o ({word_last_o, word_bytes_o, word_data_o}),
    .pop_i  (word_pop_i),
    .count_o(word_count_o)
  );

  assign sp_req_valid_o = req_valid_q;
  assign sp_req_addr_o = req_addr_q;
  assign arrives_o = arrives_q;
  assign arrives_addr_o = data_addr_q;

endmodule
