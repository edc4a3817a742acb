// SPDX-License-Identifier: BSD-3-Clause
// The copy kernels of 64-bit Arm: the C library's copy, and one with non-temporal stores (STNP), which every such
// processor has. They need no fence: the hint does not change the order of stores, so a release store orders them.
#include "runtime/kernels/copy.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "runtime/kernels/copy_loops.hpp"

namespace tutti {
namespace {

struct NeonPair {
    using Type = uint8x16x2_t;
    static constexpr std::size_t bytes = sizeof(Type);
    static Type load(char const* at) { return vld1q_u8_x2(reinterpret_cast<std::uint8_t const*>(at)); }
    static void stream(char* at, Type value) {
        asm volatile("stnp %q1, %q2, [%0]" : : "r"(at), "w"(value.val[0]), "w"(value.val[1]) : "memory");
    }
    static void fence() {}
};

void copy_by_library(void* to, void const* from, std::size_t n) { std::memcpy(to, from, n); }

}   // namespace

constinit CopyKernels const neon_copies{copy_by_library, copy_by_library, copy_by_library, streaming<NeonPair>};
}   // namespace tutti
#endif
