// SPDX-License-Identifier: Apache-2.0
//
// A counter modulo 5 and a value that is shown only behind a valid bit: small enough to know what each mutant does.
module toy #(
    parameter int WIDTH = 4
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             step_i,
    input  logic [WIDTH-1:0] value_i,
    output logic             sixth_o,
    output logic [WIDTH-1:0] value_o
);
  logic [2:0] count_q;
  logic valid_q;
  logic [WIDTH-1:0] value_q, sum;

  always_comb begin
    sum = '0;
    for (int i = 0; i < WIDTH; i++) sum = sum + WIDTH'(value_i[i]);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      valid_q <= 1'b0;
      value_q <= '0;
    end else begin
      if (step_i) count_q <= count_q == 3'd4 ? 3'd0 : count_q + 3'd1;
      valid_q <= step_i;
      if (step_i) value_q <= sum;
    end
  end

  assign sixth_o = count_q >= 3'd6;
  assign value_o = valid_q ? value_q : '0;

  always_ff @(posedge clk_i) if (rst_ni) assert (count_q < 3'd5);
endmodule
