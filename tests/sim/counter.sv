// SPDX-License-Identifier: Apache-2.0
// Counter that wraps at LIMIT, for the tests of tb/sim.py. `count_o` is the number of rising
// edges with `enable_i` since reset, modulo LIMIT. With COUNTER_DPI every count is also handed
// to C, which keeps it in an array that Python sees.
module counter #(
    parameter int LIMIT = 10  // 2 to 65,536
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        enable_i,
    output logic [15:0] count_o
);
`ifdef COUNTER_DPI
  import "DPI-C" function void counter_put(input int value);
  always_ff @(posedge clk_i) if (rst_ni) counter_put({16'b0, count_o});
`endif

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_o <= '0;
    else if (enable_i) count_o <= (count_o == 16'(LIMIT - 1)) ? '0 : count_o + 16'd1;
  end
endmodule
