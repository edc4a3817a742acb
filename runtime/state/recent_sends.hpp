// SPDX-License-Identifier: BSD-3-Clause
// The last messages that a rank has sent eagerly to ranks of its node, with their call sites: for a receiver that
// finds a message in MPI_Finalize which was never received. The sender writes a few plain stores per message; a
// receiver may read concurrently and accepts an entry only if it identifies the message both before and after the
// rest was read.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/function.hpp"

namespace tutti {

class RecentSends {
public:
    struct CallSite {
        std::uint64_t site = 0;   ///< return address of the call; 0: the message is no longer recorded
        Function function;        ///< the function called
    };

    /// Called by the sender: records the message with sequence number `number` in the channel to local rank `to`.
    void record(unsigned to, std::uint64_t number, void const* site, Function function) {
        Entry& entry = entries_[next_++ % capacity];
        entry.key.store(0, std::memory_order_relaxed);
        entry.site.store(reinterpret_cast<std::uintptr_t>(site), std::memory_order_release);
        entry.function.store(function, std::memory_order_release);
        entry.key.store(key_of(to, number), std::memory_order_release);
    }
    /// Called by the receiver, whose local rank is `to`.
    CallSite find(unsigned to, std::uint64_t number) const {
        std::uint64_t const key = key_of(to, number);
        for (Entry const& entry : entries_) {
            if (entry.key.load(std::memory_order_acquire) != key) continue;
            CallSite const found{entry.site.load(std::memory_order_acquire),
                                 entry.function.load(std::memory_order_acquire)};
            if (entry.key.load(std::memory_order_relaxed) == key) return found;
        }
        return {};
    }

private:
    static constexpr unsigned capacity = 64;
    struct Entry {
        std::atomic<std::uint64_t> key;   ///< 0: none
        std::atomic<std::uint64_t> site;
        std::atomic<Function> function;
    };
    /// Identifies up to 2^44 messages to each of a million ranks; never 0.
    static std::uint64_t key_of(unsigned to, std::uint64_t number) {
        return static_cast<std::uint64_t>(to + 1) << 44 | (number & ((std::uint64_t{1} << 44) - 1));
    }

    Entry entries_[capacity];
    std::uint64_t next_;   ///< used by the sender only
};

}   // namespace tutti
