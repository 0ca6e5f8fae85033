// SPDX-License-Identifier: Apache-2.0
// Transport of the lockstep run under Verilator: the bench top takes stimulus rows from, and leaves trace records in,
// arrays that Python owns. Python attaches a block (bm_attach, through ctypes); bm_put says when it is used up.
#include <cstdint>
#include <cstring>

static const uint32_t *rows = nullptr;
static uint32_t *records = nullptr;
static uint32_t row_words = 0, record_words = 0;
static uint32_t length = 0;   // cycles in the attached block
static uint32_t started = 0;  // rows handed out
static uint32_t done = 0;     // records taken

extern "C" {

void bm_attach(const uint32_t *stimulus, uint32_t stimulus_words, uint32_t *trace, uint32_t trace_words,
               uint32_t cycles) {
    rows = stimulus;
    row_words = stimulus_words;
    records = trace;
    record_words = trace_words;
    length = cycles;
    started = done = 0;
}

// Falling edge: the next row; the row before stays when there is none.
void bm_get(uint32_t *row) {
    if (started < length) std::memcpy(row, rows + static_cast<size_t>(started++) * row_words, 4 * row_words);
}

// Rising edge: the record of the cycle that ends. Returns 1 with the last record of a block.
unsigned char bm_put(const uint32_t *word) {
    if (done == started) return 0;
    std::memcpy(records + static_cast<size_t>(done++) * record_words, word, 4 * record_words);
    return done == length;
}
}
