// SPDX-License-Identifier: Apache-2.0
// Transport of the mutation run under Verilator: stimulus rows to the bench top, and the trace records compared here,
// word by word, with those that the model gave. The first record that differs ends the program.
#include <cstdint>
#include <cstring>

static const uint32_t *rows = nullptr;
static const uint32_t *records = nullptr;  // expected
static const uint32_t *mask = nullptr;     // bits of a record that are compared
static uint32_t row_words = 0, record_words = 0;
static uint32_t length = 0;   // rows of the program, reset in front included
static uint32_t skipped = 0;  // rows in front whose records are not compared
static uint32_t started = 0, done = 0;
static int64_t difference = -1;
static uint16_t selected = 0;

extern "C" {

void bm_attach(const uint32_t *stimulus, uint32_t stimulus_words, const uint32_t *expected, const uint32_t *compared,
               uint32_t trace_words, uint32_t cycles, uint32_t reset_cycles, uint16_t mutant) {
    rows = stimulus;
    row_words = stimulus_words;
    records = expected;
    mask = compared;
    record_words = trace_words;
    length = cycles;
    skipped = reset_cycles;
    selected = mutant;
    started = done = 0;
    difference = -1;
}

// The row of the first record that differed, -1 if none did.
int64_t bm_difference() { return difference; }

uint16_t bm_selected() { return selected; }

// Falling edge: the next row; the row before stays when there is none.
void bm_get(uint32_t *row) {
    if (started < length) std::memcpy(row, rows + static_cast<size_t>(started++) * row_words, 4 * row_words);
}

// Rising edge: the record of the cycle that ends. Returns 1 when the program is over or differs.
unsigned char bm_put(const uint32_t *word) {
    if (done == started || done == length) return 0;
    const uint32_t row = done++;
    if (row >= skipped) {
        const uint32_t *expected = records + static_cast<size_t>(row - skipped) * record_words;
        uint32_t differs = 0;
        for (uint32_t i = 0; i < record_words; i++) differs |= (word[i] ^ expected[i]) & mask[i];
        if (differs) {
            difference = row - skipped;
            started = done = length;
            return 1;
        }
    }
    return done == length;
}
}
