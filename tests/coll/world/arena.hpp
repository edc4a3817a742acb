// SPDX-License-Identifier: BSD-3-Clause
// Arenas for the messages of the generic tests: a case has all messages in arenas, some of them, or all but one rank's.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>

namespace tutti::coll::test {

/// The memory resource for messages of the calling rank; null: the default one.
inline thread_local std::pmr::memory_resource* message_memory = nullptr;
// Fibers of one thread share its thread-local variables, which ThreadSanitizer would report as a race.
[[gnu::no_sanitize("thread")]] inline void set_message_memory(std::pmr::memory_resource* memory) {
    message_memory = memory;
}
[[gnu::no_sanitize("thread")]] inline std::pmr::memory_resource* memory_of_messages() {
    return message_memory ? message_memory : std::pmr::new_delete_resource();
}

/// One rank's arena. The next case reuses all of it; blocks that do not fit are allocated elsewhere.
class Arena final : public std::pmr::memory_resource {
public:
    Arena(std::span<std::byte> room, int rank, int ranks)
        : room_(room), rank_(static_cast<std::size_t>(rank)), ranks_(static_cast<std::size_t>(ranks)) {
        set_message_memory(this);
    }
    ~Arena() override { set_message_memory(nullptr); }

    void begin(std::size_t case_number) {
        used_ = 0;
        case_ = case_number;
    }

private:
    bool outside() {
        ++allocations_;
        if (case_ % 3 == 0) return false;
        if (case_ % 3 == 1) return case_ / 3 % ranks_ == rank_;
        return (allocations_ + rank_) % 3 == 0;
    }
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        std::size_t const room = (bytes + 63) / 32 * 32;   // like malloc's, a block may begin anywhere in a cache line
        if (outside() || room > room_.size() - used_)
            return std::pmr::new_delete_resource()->allocate(bytes, alignment);
        std::byte* p = room_.data() + used_;
        used_ += room;
        return p;
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        auto* at = static_cast<std::byte*>(p);
        if (at >= room_.data() && at < room_.data() + room_.size()) return;
        std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
    }
    bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override { return this == &other; }

    std::span<std::byte> room_;
    std::size_t rank_, ranks_, used_ = 0, case_ = 0, allocations_ = 0;
};

}   // namespace tutti::coll::test
