// SPDX-License-Identifier: Apache-2.0
// State of a verilated design as one array of bytes: the variables bound to it, one after the other, as they lie in
// memory. Python binds the flip-flops and memories, then reads and writes all of them between two clock edges.
#include <verilated.h>
#include <verilated_syms.h>

#include <cstdint>
#include <cstring>
#include <vector>

struct Bound {
    uint8_t *data;
    size_t bytes;
};
static std::vector<Bound> bound;

extern "C" {

// Bind anew from here on.
void bm_state_clear() { bound.clear(); }

// Bytes of the variable, which comes next in the array; 0 if there is none of this name. stride: bytes of one word.
uint32_t bm_state_bind(const char *scope, const char *name, uint32_t *stride) {
    const VerilatedScope *found = Verilated::threadContextp()->scopeFind(scope);
    const VerilatedVar *variable = found ? found->varFind(name) : nullptr;
    if (!variable || variable->isParam()) return 0;
    bound.push_back({static_cast<uint8_t *>(variable->datap()), variable->totalSize()});
    *stride = static_cast<uint32_t>(variable->entSize());
    return static_cast<uint32_t>(variable->totalSize());
}

void bm_state_read(uint8_t *state) {
    for (const Bound &variable : bound) {
        std::memcpy(state, variable.data, variable.bytes);
        state += variable.bytes;
    }
}

void bm_state_write(const uint8_t *state) {
    for (const Bound &variable : bound) {
        std::memcpy(variable.data, state, variable.bytes);
        state += variable.bytes;
    }
}
}
