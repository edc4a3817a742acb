// SPDX-License-Identifier: BSD-3-Clause
// Copying large pieces of memory between ranks.
#pragma once

#include <cstddef>
#include <cstring>

namespace tutti {

/// How this node's ranks copy: the size of what they have in cache together decides between temporal and non-temporal
/// stores (YHCCL, section 4.2).
class Copier {
public:
    /// `cache_bytes`: what all ranks of the node have together; 0: unknown.
    explicit Copier(std::size_t cache_bytes = 0) : cache_bytes_(cache_bytes) {}

    /// `working_set`: bytes that all ranks of the node touch in the operation that this copy is part of.
    void copy(void* to, void const* from, std::size_t n, std::size_t working_set) const {
        (void)working_set;
        std::memcpy(to, from, n);
    }

    std::size_t cache_bytes() const { return cache_bytes_; }

private:
    std::size_t cache_bytes_;
};

}  // namespace tutti
