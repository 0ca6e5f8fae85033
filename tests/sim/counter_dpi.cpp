// SPDX-License-Identifier: Apache-2.0
// Keeps the last counts of counter.sv where Python finds them: ctypes.CDLL(None).counter_log.
#include <cstdint>

extern "C" {
int32_t counter_log[1024];
int32_t counter_length = 0;

void counter_put(int value) {
    if (counter_length < 1024) counter_log[counter_length++] = value;
}
}
