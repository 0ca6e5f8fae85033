// Generated from model/beatmatch/isa/fields.py by `make generate`; do not edit.
// SPDX-License-Identifier: Apache-2.0
//
// Encodings only: nothing here depends on a configuration.

// A package states all of its constants, whichever of them a design uses.
// verilator lint_off UNUSEDPARAM
package bm_pkg;

  localparam int INSTR_W = 256;
  localparam int SEMAPHORES = 32;
  localparam int BASES = 16;
  localparam int SYNC_W = 30;
  localparam int SEQ_W = 16;

  typedef enum logic [3:0] {
    EngFrontend = 4'd0,
    EngLoad = 4'd1,
    EngWeights = 4'd2,
    EngMatmul = 4'd3,
    EngVector = 4'd4,
    EngStore = 4'd5
  } engine_e;

  typedef enum logic [4:0] {
    OpLoad = 5'd1,
    OpWeightsMem = 5'd2,
    OpWeightsSp = 5'd3,
    OpMatmul = 5'd4,
    OpRequant = 5'd5,
    OpAdd = 5'd6,
    OpMaxpool = 5'd7,
    OpAvgpool = 5'd8,
    OpStore = 5'd9
  } opcode_e;

  typedef enum logic [1:0] {
    SpaceScratchpad = 2'd0,
    SpaceParameter = 2'd1,
    SpaceAccumulator = 2'd2
  } space_e;

  typedef enum logic [3:0] {
    FmtInt8 = 4'd0,
    FmtInt32 = 4'd1
  } format_e;

  typedef enum logic [7:0] {
    ErrNone = 8'd0,
    ErrIllegalOpcode = 8'd1,
    ErrIllegalField = 8'd2,
    ErrZeroSize = 8'd3,
    ErrLocalRange = 8'd4,
    ErrUnaligned = 8'd5,
    ErrWindow = 8'd6,
    ErrBusSlverr = 8'd7,
    ErrBusDecerr = 8'd8,
    ErrSemaphoreOverflow = 8'd9,
    ErrDeadlock = 8'd10,
    ErrCycleLimit = 8'd11,
    ErrProgram = 8'd12
  } error_e;

  // The fields that every instruction starts with, at bit 0.
  typedef struct packed {
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_header_t;

  typedef struct packed {
    logic [43:0] reserved;
    logic [1:0] dst_ring;
    logic [15:0] dst_outer_stride;
    logic [11:0] dst_row_stride;
    logic [17:0] dst;
    logic [27:0] outer_stride;
    logic [23:0] row_stride;
    logic [11:0] rows;
    logic [15:0] row_bytes;
    logic [31:0] offset;
    logic [3:0] base;
    logic [1:0] dst_space;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_load_t;

  typedef struct packed {
    logic [60:0] reserved;
    logic [0:0] packed_;
    logic [27:0] outer_stride;
    logic [27:0] inner_stride;
    logic [23:0] row_stride;
    logic [31:0] offset;
    logic [3:0] base;
    logic [3:0] weight_format;
    logic [7:0] n_lanes;
    logic [7:0] k_rows;
    logic [11:0] inner;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_weights_mem_t;

  typedef struct packed {
    logic [112:0] reserved;
    logic [0:0] transpose;
    logic [1:0] src_ring;
    logic [15:0] outer_stride;
    logic [15:0] inner_stride;
    logic [11:0] row_stride;
    logic [17:0] src;
    logic [3:0] weight_format;
    logic [7:0] n_lanes;
    logic [7:0] k_rows;
    logic [11:0] inner;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_weights_sp_t;

  typedef struct packed {
    logic [7:0] n_lanes;
    logic [7:0] k_lanes;
    logic [7:0] pad_value;
    logic [1:0] acc_ring;
    logic [11:0] acc_outer_stride;
    logic [11:0] acc;
    logic [1:0] src_ring;
    logic [15:0] src_outer_stride;
    logic [11:0] src_kc_stride;
    logic [9:0] src_pitch_x;
    logic [15:0] src_pitch_y;
    logic [17:0] src;
    logic [8:0] height;
    logic [11:0] width;
    logic [3:0] pad_top;
    logic [3:0] pad_left;
    logic [1:0] dilation_y;
    logic [1:0] dilation_x;
    logic [2:0] stride_y;
    logic [2:0] stride_x;
    logic [7:0] kc;
    logic [3:0] ky;
    logic [3:0] kx;
    logic [8:0] y;
    logic [11:0] x;
    logic [3:0] weight_format;
    logic [3:0] act_format;
    logic [0:0] accumulate;
    logic [0:0] keep;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_matmul_t;

  typedef struct packed {
    logic [37:0] reserved;
    logic [6:0] param;
    logic [1:0] param_mode;
    logic [1:0] dst_ring;
    logic [15:0] dst_outer_stride;
    logic [9:0] dst_pitch;
    logic [17:0] dst;
    logic [1:0] src_ring;
    logic [15:0] src_outer_stride;
    logic [9:0] src_pitch_x;
    logic [15:0] src_pitch_y;
    logic [17:0] src;
    logic [1:0] src_space;
    logic [8:0] y;
    logic [11:0] x;
    logic [3:0] dst_format;
    logic [3:0] src_format;
    logic [7:0] clip_high;
    logic [7:0] clip_low;
    logic [7:0] zero_point;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_requant_t;

  typedef struct packed {
    logic [19:0] reserved;
    logic [17:0] src2;
    logic [6:0] param;
    logic [1:0] param_mode;
    logic [1:0] dst_ring;
    logic [15:0] dst_outer_stride;
    logic [9:0] dst_pitch;
    logic [17:0] dst;
    logic [1:0] src_ring;
    logic [15:0] src_outer_stride;
    logic [9:0] src_pitch_x;
    logic [15:0] src_pitch_y;
    logic [17:0] src;
    logic [1:0] src_space;
    logic [8:0] y;
    logic [11:0] x;
    logic [3:0] dst_format;
    logic [3:0] src_format;
    logic [7:0] clip_high;
    logic [7:0] clip_low;
    logic [7:0] zero_point;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_add_t;

  typedef struct packed {
    logic [8:0] height;
    logic [8:0] width;
    logic [2:0] pad_top;
    logic [2:0] pad_left;
    logic [2:0] stride_y;
    logic [2:0] stride_x;
    logic [3:0] ky;
    logic [3:0] kx;
    logic [6:0] param;
    logic [1:0] param_mode;
    logic [1:0] dst_ring;
    logic [15:0] dst_outer_stride;
    logic [9:0] dst_pitch;
    logic [17:0] dst;
    logic [1:0] src_ring;
    logic [15:0] src_outer_stride;
    logic [9:0] src_pitch_x;
    logic [15:0] src_pitch_y;
    logic [17:0] src;
    logic [1:0] src_space;
    logic [8:0] y;
    logic [11:0] x;
    logic [3:0] dst_format;
    logic [3:0] src_format;
    logic [7:0] clip_high;
    logic [7:0] clip_low;
    logic [7:0] zero_point;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_maxpool_t;

  typedef struct packed {
    logic [8:0] height;
    logic [8:0] width;
    logic [2:0] pad_top;
    logic [2:0] pad_left;
    logic [2:0] stride_y;
    logic [2:0] stride_x;
    logic [3:0] ky;
    logic [3:0] kx;
    logic [6:0] param;
    logic [1:0] param_mode;
    logic [1:0] dst_ring;
    logic [15:0] dst_outer_stride;
    logic [9:0] dst_pitch;
    logic [17:0] dst;
    logic [1:0] src_ring;
    logic [15:0] src_outer_stride;
    logic [9:0] src_pitch_x;
    logic [15:0] src_pitch_y;
    logic [17:0] src;
    logic [1:0] src_space;
    logic [8:0] y;
    logic [11:0] x;
    logic [3:0] dst_format;
    logic [3:0] src_format;
    logic [7:0] clip_high;
    logic [7:0] clip_low;
    logic [7:0] zero_point;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_avgpool_t;

  typedef struct packed {
    logic [45:0] reserved;
    logic [1:0] src_ring;
    logic [15:0] src_outer_stride;
    logic [11:0] src_row_stride;
    logic [17:0] src;
    logic [27:0] outer_stride;
    logic [23:0] row_stride;
    logic [11:0] rows;
    logic [15:0] row_bytes;
    logic [31:0] offset;
    logic [3:0] base;
    logic [7:0] outer;
    logic [4:0] sig1_id;
    logic [0:0] sig1_en;
    logic [4:0] sig0_id;
    logic [0:0] sig0_en;
    logic [3:0] wait1_n;
    logic [4:0] wait1_id;
    logic [3:0] wait0_n;
    logic [4:0] wait0_id;
    logic [0:0] each;
    logic [1:0] instance_;
    logic [4:0] opcode;
  } instr_store_t;

endpackage
// verilator lint_on UNUSEDPARAM
