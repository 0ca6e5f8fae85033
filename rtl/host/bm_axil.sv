// SPDX-License-Identifier: Apache-2.0
//
// AXI4-Lite slave that turns transfers into single-cycle register writes and reads.
//
// Streams: write address, write data and read address in, each into a register of one entry; responses out of registers.
// Latency: a write happens in the first cycle in which address and data are held and no response is waiting; its
//          response is valid in the next. Reads likewise. No output depends on an input of the same cycle.
// Stalls:  one write and one read in flight; a response holds until it is taken.
// Reset:   rst_ni empties all registers.
// Not here: what the addresses mean (bm_csr); address bits 1:0 are ignored.

module bm_axil (
    input logic clk_i,
    input logic rst_ni,

    // Bus
    input  logic        s_axil_awvalid_i,
    output logic        s_axil_awready_o,
    input  logic [11:0] s_axil_awaddr_i,
    input  logic        s_axil_wvalid_i,
    output logic        s_axil_wready_o,
    input  logic [31:0] s_axil_wdata_i,
    input  logic [ 3:0] s_axil_wstrb_i,
    output logic        s_axil_bvalid_o,
    input  logic        s_axil_bready_i,
    output logic [ 1:0] s_axil_bresp_o,
    input  logic        s_axil_arvalid_i,
    output logic        s_axil_arready_o,
    input  logic [11:0] s_axil_araddr_i,
    output logic        s_axil_rvalid_o,
    input  logic        s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [ 1:0] s_axil_rresp_o,

    // Registers: the answers belong to the address of the same cycle
    output logic        write_o,
    output logic [11:0] write_addr_o,
    output logic [31:0] write_data_o,
    output logic [ 3:0] write_strb_o,
    input  logic        write_mapped_i,
    output logic [11:0] read_addr_o,
    input  logic [31:0] read_data_i,
    input  logic        read_mapped_i
);

  localparam logic [1:0] OKAY = 2'd0;
  localparam logic [1:0] SLVERR = 2'd2;

  logic aw_valid_q, w_valid_q, ar_valid_q, b_valid_q, r_valid_q;
  logic [11:2] aw_addr_q, ar_addr_q;
  logic [31:0] w_data_q, r_data_q;
  logic [3:0] w_strb_q;
  logic [1:0] b_resp_q, r_resp_q;
  logic read;

  assign write_o = aw_valid_q && w_valid_q && !b_valid_q;
  assign write_addr_o = {aw_addr_q, 2'b00};
  assign write_data_o = w_data_q;
  assign write_strb_o = w_strb_q;
  assign read = ar_valid_q && !r_valid_q;
  assign read_addr_o = {ar_addr_q, 2'b00};

  assign s_axil_awready_o = !aw_valid_q;
  assign s_axil_wready_o = !w_valid_q;
  assign s_axil_bvalid_o = b_valid_q;
  assign s_axil_bresp_o = b_resp_q;
  assign s_axil_arready_o = !ar_valid_q;
  assign s_axil_rvalid_o = r_valid_q;
  assign s_axil_rdata_o = r_data_q;
  assign s_axil_rresp_o = r_resp_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      w_valid_q  <= 1'b0;
      ar_valid_q <= 1'b0;
      b_valid_q  <= 1'b0;
      r_valid_q  <= 1'b0;
      b_resp_q   <= OKAY;
      r_resp_q   <= OKAY;
      r_data_q   <= '0;
    end else begin
      if (write_o) aw_valid_q <= 1'b0;
      else if (s_axil_awvalid_i) aw_valid_q <= 1'b1;
      if (write_o) w_valid_q <= 1'b0;
      else if (s_axil_wvalid_i) w_valid_q <= 1'b1;
      if (read) ar_valid_q <= 1'b0;
      else if (s_axil_arvalid_i) ar_valid_q <= 1'b1;

      if (write_o) begin
        b_valid_q <= 1'b1;
        b_resp_q  <= write_mapped_i ? OKAY : SLVERR;
      end else if (s_axil_bready_i) begin
        b_valid_q <= 1'b0;
      end
      if (read) begin
        r_valid_q <= 1'b1;
        r_resp_q  <= read_mapped_i ? OKAY : SLVERR;
        r_data_q  <= read_data_i;
      end else if (s_axil_rready_i) begin
        r_valid_q <= 1'b0;
      end
    end
  end

  // Payloads need no reset: nobody looks at them before their valid bit.
  always_ff @(posedge clk_i) begin
    if (s_axil_awvalid_i && !aw_valid_q) aw_addr_q <= s_axil_awaddr_i[11:2];
    if (s_axil_wvalid_i && !w_valid_q) begin
      w_data_q <= s_axil_wdata_i;
      w_strb_q <= s_axil_wstrb_i;
    end
    if (s_axil_arvalid_i && !ar_valid_q) ar_addr_q <= s_axil_araddr_i[11:2];
  end

  // Bits 1:0 of an address select a byte of the word, which the strobes say already.
  logic unused;
  assign unused = &{1'b0, s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0]};

endmodule
