// SPDX-License-Identifier: Apache-2.0
//
// AXI4-Lite rules of bm_axil: answers stand while stalled, one answer per request, each within a bound.

module bm_axil_formal #(
  parameter int PATIENCE = 3  // cycles that the bus master lets an answer wait, at most
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        awvalid_i,
  input logic [11:0] awaddr_i,
  input logic        wvalid_i,
  input logic [31:0] wdata_i,
  input logic [ 3:0] wstrb_i,
  input logic        bready_i,
  input logic        arvalid_i,
  input logic [11:0] araddr_i,
  input logic        rready_i,
  input logic        write_mapped_i,
  input logic [31:0] read_data_i,
  input logic        read_mapped_i
);

  logic awready, wready, bvalid, arready, rvalid, write;
  logic [1:0] bresp, rresp;
  logic [31:0] rdata, write_data;
  logic [11:0] write_addr, read_addr;
  logic [3:0] write_strb;

  bm_axil u_dut (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i(awvalid_i),
    .s_axil_awready_o(awready),
    .s_axil_awaddr_i (awaddr_i),
    .s_axil_wvalid_i (wvalid_i),
    .s_axil_wready_o (wready),
    .s_axil_wdata_i  (wdata_i),
    .s_axil_wstrb_i  (wstrb_i),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (bready_i),
    .s_axil_bresp_o  (bresp),
    .s_axil_arvalid_i(arvalid_i),
    .s_axil_arready_o(arready),
    .s_axil_araddr_i (araddr_i),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (rready_i),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .write_o         (write),
    .write_addr_o    (write_addr),
    .write_data_o    (write_data),
    .write_strb_o    (write_strb),
    .write_mapped_i,
    .read_addr_o     (read_addr),
    .read_data_i,
    .read_mapped_i
  );

  logic b_stalled_q, r_stalled_q, wrote_q, mapped_q;
  logic [1:0] bresp_q, rresp_q;
  logic [31:0] rdata_q, data_q;
  logic [11:0] addr_q;
  logic [3:0] b_wait_q, r_wait_q, write_age_q, read_age_q, strb_q;
  logic [1:0] writes_q, reads_q;  // taken and not answered
  logic [1:0] addresses_q, datas_q;  // taken and not written

  always_ff @(posedge clk_i) begin
    b_stalled_q <= rst_ni && bvalid && !bready_i;
    r_stalled_q <= rst_ni && rvalid && !rready_i;
    wrote_q     <= rst_ni && write;
    mapped_q    <= write_mapped_i;
    bresp_q     <= bresp;
    rresp_q     <= rresp;
    rdata_q     <= rdata;
    if (awvalid_i && awready) addr_q <= awaddr_i;
    if (wvalid_i && wready) {strb_q, data_q} <= {wstrb_i, wdata_i};
    if (!rst_ni) begin
      {b_wait_q, r_wait_q, write_age_q, read_age_q} <= '0;
      {writes_q, reads_q, addresses_q, datas_q} <= '0;
    end else begin
      b_wait_q    <= bvalid && !bready_i ? b_wait_q + 4'd1 : '0;
      r_wait_q    <= rvalid && !rready_i ? r_wait_q + 4'd1 : '0;
      addresses_q <= addresses_q + 2'(awvalid_i && awready) - 2'(write);
      datas_q     <= datas_q + 2'(wvalid_i && wready) - 2'(write);
      writes_q    <= writes_q + 2'(write) - 2'(bvalid && bready_i);
      reads_q     <= reads_q + 2'(arvalid_i && arready) - 2'(rvalid && rready_i);
      write_age_q <= addresses_q != '0 && datas_q != '0 && !write ? write_age_q + 4'd1 : '0;
      read_age_q  <= !arready && rvalid ? read_age_q + 4'd1 : '0;
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      // Fairness: the master takes a write answer within PATIENCE cycles.
      b_fair: assume (b_wait_q < 4'(PATIENCE) || bready_i);
      // Fairness: the master takes a read answer within PATIENCE cycles.
      r_fair: assume (r_wait_q < 4'(PATIENCE) || rready_i);

      // A write answer that is not taken stays, unchanged.
      if (b_stalled_q) b_stable: assert (bvalid && bresp == bresp_q);
      // A read answer that is not taken stays, unchanged.
      if (r_stalled_q) r_stable: assert (rvalid && rresp == rresp_q && rdata == rdata_q);
      // Every register write belongs to one address and one data transfer taken before.
      if (write) paired: assert (addresses_q == 2'd1 && datas_q == 2'd1);
      // A register write has the address, data and strobes of the transfers.
      if (write) carried: assert (write_addr == {addr_q[11:2], 2'b00} && write_data == data_q && write_strb == strb_q);
      // Exactly one write is answered at a time, and no answer comes without a write.
      one_answer: assert (writes_q == 2'(bvalid));
      // The answer comes in the cycle after the write and says whether the address has a register.
      if (wrote_q) answered: assert (bvalid && bresp == (mapped_q ? 2'd0 : 2'd2));
      // A complete write waits at most until the answer before it is taken: PATIENCE + 1 cycles.
      if (write_age_q != '0) write_bound: assert (write_age_q <= 4'(PATIENCE + 1));
      // A read that was taken waits at most until the answer before it is taken: PATIENCE + 1 cycles.
      if (read_age_q != '0) read_bound: assert (read_age_q <= 4'(PATIENCE + 1));
      // No read answer comes without a read, and at most two are on their way.
      if (rvalid) read_answer: assert (reads_q != '0 && reads_q <= 2'd2);
      // Every read taken is in the address register or answered: none is lost.
      reads_kept: assert (reads_q == 2'(!arready) + 2'(rvalid));
    end
  end

endmodule
