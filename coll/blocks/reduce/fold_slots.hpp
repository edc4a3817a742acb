// SPDX-License-Identifier: BSD-3-Clause
// Reducing straight from the slots of ranks [lead, last]: one pass for up to 32 operands, further ones join in turn.
#pragma once

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/env/env.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

inline constexpr int slots_per_pass = 32;

/// The unusual case: elements with gaps, a user's operator, or more slots than fit into one pass.
template <class Env>
[[gnu::noinline]] void fold_slots_in_turn(Env& env, ReduceArgs const& a, int lead, int last, std::int64_t first,
                                          std::int64_t count) {
    constexpr int most = slots_per_pass;
    void const* operands[most];
    Reducer reducer(env.traffic(), a);
    std::size_t const bytes = a.bytes(), element = reducer.element_bytes(), n = static_cast<std::size_t>(count);
    bool const straight = a.kernels.many != nullptr && a.type->dense(a.count);
    PooledVector<std::byte> packed(straight ? 0 : n * element, env.frames());
    void* out = straight ? static_cast<std::byte*>(a.out) + a.type->true_lb() : packed.data();
    int k = 0;
    for (int r = lead; r <= last; ++r) {
        operands[k++] = env.slot(r, bytes) + static_cast<std::size_t>(first) * element;
        if (k < most && r < last) continue;
        reducer.combine(operands, k, out, n);
        operands[0] = out;
        k = 1;
    }
    if (!straight) env.store(Buffer{a.out, count, a.type}, 0, out, n * element);
}

/// Every one of those slots has been published and holds a.count elements, of which `count` from `first` on are
/// reduced. The result goes to the start of `a.out` in the user's layout.
template <class Env>
void fold_slots(Env& env, ReduceArgs const& a, int lead, int last, std::int64_t first, std::int64_t count) {
    bool const straight = a.kernels.many != nullptr && a.type->dense(a.count);
    if (!straight || last - lead >= slots_per_pass) [[unlikely]]
        return fold_slots_in_turn(env, a, lead, last, first, count);
    void const* operands[slots_per_pass];
    Reducer reducer(env.traffic(), a);
    std::size_t const at = static_cast<std::size_t>(first) * reducer.element_bytes();
    auto const slots = env.slots(a.bytes());
    for (int r = lead; r <= last; ++r) {
        env.count_message(r);
        operands[r - lead] = slots[r] + at;
    }
    reducer.combine(operands, last - lead + 1, static_cast<std::byte*>(a.out) + a.type->true_lb(),
                    static_cast<std::size_t>(count));
}
template <class Env>
void fold_slots(Env& env, ReduceArgs const& a, int last) {
    fold_slots(env, a, 0, last, 0, a.count);
}

}   // namespace tutti::coll
