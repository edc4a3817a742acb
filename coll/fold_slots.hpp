// SPDX-License-Identifier: BSD-3-Clause
// Reducing straight from the slots of ranks [0, last]: one pass for up to 32 operands, further ones join in turn.
#pragma once

#include "coll/env.hpp"
#include "coll/reducer.hpp"

namespace tutti::coll {

/// Every one of those slots has been published. The result goes to `a.out` in the user's layout.
template <class Env>
void fold_slots(Env& env, ReduceArgs const& a, int last) {
    constexpr int most = 32;
    void const* operands[most];
    std::size_t const bytes = a.bytes();
    bool const straight = a.kernel_k != nullptr && a.type->dense(a.count);
    std::vector<std::byte> packed(straight ? 0 : bytes);
    void* out = straight ? static_cast<std::byte*>(a.out) + a.type->true_lb() : packed.data();
    Reducer reducer(a);
    int k = 0;
    for (int r = 0; r <= last; ++r) {
        operands[k++] = env.slot(r, bytes);
        if (k < most && r < last) continue;
        reducer.combine(operands, k, out, static_cast<std::size_t>(a.count));
        operands[0] = out;
        k = 1;
    }
    if (!straight) env.store(result(a), 0, out, bytes);
}

}  // namespace tutti::coll
