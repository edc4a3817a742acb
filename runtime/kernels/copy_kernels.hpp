// SPDX-License-Identifier: BSD-3-Clause
// The tables of copy kernels, one per instruction set; runtime/kernels/copy.cpp takes the best that the processor has.
#pragma once

#include <cstddef>
#include <vector>

namespace tutti {

/// Memories do not overlap; any length, any alignment.
using CopyKernel = void (*)(void* to, void const* from, std::size_t n);

struct CopyKernels {
    CopyKernel from_core;     ///< from what another core may have written last and still have in its own cache
    CopyKernel from_shared;   ///< from a shared cache or memory
    CopyKernel in_order;      ///< the same, with what the processor itself prefetches
    CopyKernel streaming;     ///< past the cache; ordered before the stores that follow, as the others are
};

extern CopyKernels const portable_copies;
#if defined(__x86_64__)
extern CopyKernels const avx2_copies;
extern CopyKernels const avx512_copies;
#endif

/// The processor's string instruction; null: it has none that moves more than a word at a time.
CopyKernel string_copy();
/// Those past no cache which some processor is fastest with, for a measurement to decide.
std::vector<CopyKernel> copies_to_choose_from();

}   // namespace tutti
