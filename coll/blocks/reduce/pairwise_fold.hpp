// SPDX-License-Identifier: BSD-3-Clause
// Combining operands two at a time, as the literature's reductions do: k operands take k − 1 passes of two loads and a
// store per element. (Our own algorithms take all operands in one pass: k loads and one store.)
#pragma once

#include <span>

#include "coll/blocks/reduce/reducer.hpp"

namespace tutti::coll {

/// out = in[0] op … op in[k − 1], beginning with in[from], then those below it, then those above: the order of the
/// operands is kept, and `out` may be in[from] itself. `n` elements, `piece` bytes of them at a time so that the sum
/// stays in the innermost cache. One operand is copied.
inline void fold_from(Reducer& reducer, std::span<void const* const> in, std::size_t from, void* out, std::size_t n,
                      std::size_t piece) {
    std::size_t const element = std::max<std::size_t>(1, reducer.element_bytes()),
                      most = std::max<std::size_t>(1, piece / element);
    for (std::size_t first = 0; first < n; first += most) {
        std::size_t const count = std::min(most, n - first), at = first * element;
        auto operand = [&](std::size_t i) { return static_cast<std::byte const*>(in[i]) + at; };
        std::byte* const sum = static_cast<std::byte*>(out) + at;
        void const* so_far = operand(from);
        if (in.size() == 1) reducer.combine(&so_far, 1, sum, count);
        auto combine = [&](void const* lower, void const* upper) {
            void const* two[] = {lower, upper};
            reducer.combine(two, 2, sum, count);
            so_far = sum;
        };
        for (std::size_t i = from; i-- > 0;) combine(operand(i), so_far);
        for (std::size_t i = from + 1; i < in.size(); ++i) combine(so_far, operand(i));
    }
}

}   // namespace tutti::coll
