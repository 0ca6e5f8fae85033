// SPDX-License-Identifier: Apache-2.0
//
// Request register of the vector engine and capture of its operands.
//
// In:      one element per cycle whenever request_free_o.
// Out:     reads of scratchpad and accumulator; when the last read is granted (q), the element stands in the data
//          stage in q+1 with its operands: data that arrive in that cycle, or were kept since they arrived.
// Order:   an addition with both operands in the scratchpad reads the first, then the second.
// Stalls:  a read waits for its grant; the data stage never waits. A padding element reads nothing and takes a cycle.
// Reset:   clears pending and valid flags.

module bm_vector_operands #(
    parameter int COLS   = 8,   // 4..256, power of two
    parameter int LANES  = 8,   // bytes of a scratchpad word
    parameter int SP_AW  = 12,
    parameter int ACC_AW = 8,

    // Derived; do not override.
    localparam int PARTS = LANES / COLS,
    localparam int PART_AW = $clog2(PARTS),
    localparam int PART_W = (PARTS > 1) ? PART_AW : 1,
    localparam int OP_AW = SP_AW + PART_AW,
    localparam int SRC_AW = (OP_AW > ACC_AW) ? OP_AW : ACC_AW
) (
    input logic clk_i,
    input logic rst_ni,

    // Elements from the sequencer
    input  logic              elem_valid_i,
    input  logic              elem_sp_i,       // the first operand is read from the scratchpad
    input  logic              elem_acc_i,      // ... from the accumulators; neither: padding
    input  logic              elem_second_i,   // there is a second operand, in the scratchpad
    input  logic [SRC_AW-1:0] elem_src_i,
    input  logic [ OP_AW-1:0] elem_src2_i,
    input  logic [ OP_AW-1:0] elem_dst_i,
    input  logic              elem_first_i,    // of a window
    input  logic              elem_last_i,     // of a window
    input  logic              elem_end_i,      // the last row of an iteration
    output logic              request_free_o,  // an element can come
    output logic              row_close_o,     // too close to the row before for one of four chunks
    output logic              request_valid_o,
    output logic [       2:0] pending_o,       // second operand, accumulators, first operand

    // Local memories
    output logic               sp_req_valid_o,
    output logic [  SP_AW-1:0] sp_req_addr_o,
    input  logic               sp_grant_i,
    input  logic [8*LANES-1:0] sp_rdata_i,
    output logic               acc_req_valid_o,
    output logic [ ACC_AW-1:0] acc_req_addr_o,
    input  logic               acc_grant_i,
    input  logic [32*COLS-1:0] acc_rdata_i,

    // Data stage
    input  logic               max_i,          // padding counts as the least value instead of 0
    output logic               data_valid_o,
    output logic               data_first_o,
    output logic               data_last_o,
    output logic               data_end_o,
    output logic [  OP_AW-1:0] data_dst_o,
    output logic [32*COLS-1:0] a_o,
    output logic [ 8*COLS-1:0] b_o,

    // Trace: the scratchpad word that arrives in this cycle
    output logic             arrive_o,
    output logic [SP_AW-1:0] arrive_addr_o
);
  logic              valid_q;
  logic              sp_q;       // first operand still to be granted
  logic              acc_q;
  logic              second_q;
  logic              pad_q;
  logic              first_q;
  logic              last_q;
  logic              end_q;
  logic [SRC_AW-1:0] src_q;
  logic [ OP_AW-1:0] src2_q;
  logic [ OP_AW-1:0] dst_q;
  logic [       1:0] gap_q;      // cycles in which the next row's last element may not be generated

  logic              sp_granted;
  logic              second_granted;
  logic              acc_granted;
  logic              done;
  logic [ OP_AW-1:0] operand;    // that the scratchpad is asked for

  logic              sp_arrive_q;
  logic              second_arrive_q;
  logic              acc_arrive_q;
  logic              data_pad_q;
  logic [PART_W-1:0] part;
  logic [PART_W-1:0] part_q;
  logic [8*COLS-1:0] narrow;     // the operand in the word that arrives
  logic [32*COLS-1:0] wide;      // ... sign-extended, or the accumulator row
  logic [32*COLS-1:0] a_q;
  logic [ 8*COLS-1:0] b_q;

  assign operand = sp_q ? src_q[OP_AW-1:0] : src2_q;
  assign sp_req_valid_o = sp_q || second_q;
  assign sp_req_addr_o = operand[OP_AW-1:PART_AW];
  assign acc_req_valid_o = acc_q;
  assign acc_req_addr_o = src_q[ACC_AW-1:0];
  if (PARTS > 1) begin : gen_parts
    assign part   = operand[PART_W-1:0];
    assign narrow = sp_rdata_i[32'(part_q)*8*COLS+:8*COLS];
  end else begin : gen_whole
    assign part   = 1'b0;
    assign narrow = sp_rdata_i;
    wire unused = part_q;
  end

  assign sp_granted = sp_q && sp_grant_i;
  assign second_granted = second_q && !sp_q && sp_grant_i;
  assign acc_granted = acc_q && acc_grant_i;
  assign done = valid_q && (!sp_q || sp_granted) && (!second_q || second_granted) && (!acc_q || acc_granted);

  assign request_free_o = !valid_q || done;
  assign request_valid_o = valid_q;
  assign row_close_o = (valid_q && last_q) || gap_q != 2'd0;
  assign pending_o = {second_q, acc_q, sp_q};

  always_ff @(posedge clk_i) begin
    if (elem_valid_i) begin
      src_q   <= elem_src_i;
      src2_q  <= elem_src2_i;
      dst_q   <= elem_dst_i;
      pad_q   <= !elem_sp_i && !elem_acc_i;
      first_q <= elem_first_i;
      last_q  <= elem_last_i;
      end_q   <= elem_end_i;
    end
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      sp_q     <= 1'b0;
      acc_q    <= 1'b0;
      second_q <= 1'b0;
      gap_q    <= 2'd0;
    end else begin
      valid_q  <= elem_valid_i || (valid_q && !done);
      sp_q     <= elem_valid_i ? elem_sp_i : sp_q && !sp_granted;
      acc_q    <= elem_valid_i ? elem_acc_i : acc_q && !acc_granted;
      second_q <= elem_valid_i ? elem_second_i : second_q && !second_granted;
      gap_q    <= (done && last_q) ? 2'd2 : (gap_q != 2'd0) ? gap_q - 2'd1 : 2'd0;
    end
  end

  for (genvar c = 0; c < COLS; c++) begin : gen_channel
    assign wide[32*c+:32] = acc_arrive_q ? acc_rdata_i[32*c+:32] : {{24{narrow[8*c+7]}}, narrow[8*c+:8]};
  end
  assign a_o = data_pad_q ? {COLS{max_i, 31'd0}} : (sp_arrive_q || acc_arrive_q) ? wide : a_q;
  assign b_o = second_arrive_q ? narrow : b_q;
  assign arrive_o = sp_arrive_q || second_arrive_q;

  always_ff @(posedge clk_i) begin
    part_q        <= part;
    arrive_addr_o <= sp_req_addr_o;
    data_pad_q    <= pad_q;
    data_first_o  <= first_q;
    data_last_o   <= last_q;
    data_end_o    <= end_q;
    data_dst_o    <= dst_q;
    if (sp_arrive_q || acc_arrive_q) a_q <= wide;
    if (second_arrive_q) b_q <= narrow;
    if (!rst_ni) begin
      data_valid_o    <= 1'b0;
      sp_arrive_q     <= 1'b0;
      second_arrive_q <= 1'b0;
      acc_arrive_q    <= 1'b0;
    end else begin
      data_valid_o    <= done;
      sp_arrive_q     <= sp_granted;
      second_arrive_q <= second_granted;
      acc_arrive_q    <= acc_granted;
    end
  end
endmodule
