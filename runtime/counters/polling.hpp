// SPDX-License-Identifier: BSD-3-Clause
// What a rank shows that looks for something in vain again and again, by MPI_Test or MPI_Iprobe: such a rank may do
// other things between its looks, so nothing is proven by it.
//
// One writer, any readers, as in blocked.hpp: `changes` is odd while what stands there belongs together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

struct Polling {
    static constexpr std::size_t most_addresses = 8;

    std::atomic<std::uint64_t> changes;
    std::atomic<std::int64_t> since, last;   ///< now_ns() at the first and the newest note since anything moved here
    std::uint64_t moves;                     ///< Blocked::moves all that time
    char call[256];                          ///< as Blocked has it, or its name alone, zero-ended
    char script[160];                        ///< as Blocked has it
    std::uint32_t addresses;                 ///< how many of `stack` count
    std::uint64_t stack[most_addresses];     ///< return addresses in the program, the innermost first
};

}   // namespace tutti
