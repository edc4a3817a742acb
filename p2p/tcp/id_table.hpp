// SPDX-License-Identifier: BSD-3-Clause
// Identifiers of operations for other nodes, which must not see addresses. Each identifier that a frame contains is
// looked up; one that was never issued or is no longer valid finds nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::p2p {

/// An identifier consists of the index in the table and a use count of that index, so old identifiers are not found.
template <class T>
class IdTable {
public:
    /// Allocates the memory that the next call of add needs.
    void reserve() {
        if (free_ != none) return;
        entries_.emplace_back();
        free_ = static_cast<std::uint32_t>(entries_.size() - 1);
    }
    /// Returns a new identifier, never 0. `rank`: the only rank that may use it.
    std::uint64_t add(T& item, int rank) {
        reserve();
        std::uint32_t const index = free_;
        free_ = entries_[index].next;
        Entry& e = entries_[index];
        e.item = &item;
        e.rank = rank;
        if (++e.uses == 0) e.uses = 1;
        return static_cast<std::uint64_t>(e.uses) << 32 | index;
    }
    /// Returns null if the identifier is not valid for `rank`.
    T* find(std::uint64_t id, int rank) const {
        auto const index = static_cast<std::uint32_t>(id);
        if (index >= entries_.size()) return nullptr;
        Entry const& e = entries_[index];
        return e.uses == id >> 32 && e.rank == rank ? e.item : nullptr;
    }
    /// Invalidates an identifier, which must be valid.
    void remove(std::uint64_t id) {
        auto const index = static_cast<std::uint32_t>(id);
        entries_[index].item = nullptr;
        entries_[index].next = free_;
        free_ = index;
    }
    /// Returns all operations of that rank.
    std::vector<T*> items_of(int rank) const {
        std::vector<T*> all;
        for (Entry const& e : entries_)
            if (e.item && e.rank == rank) all.push_back(e.item);
        return all;
    }
    void remove_all(int rank) {
        for (std::uint32_t index = 0; index < entries_.size(); ++index)
            if (entries_[index].item && entries_[index].rank == rank) remove(index);
    }

private:
    static constexpr std::uint32_t none = ~0u;
    struct Entry {
        T* item = nullptr;
        int rank = 0;
        std::uint32_t uses = 0;
        std::uint32_t next = none;
    };
    std::vector<Entry> entries_;
    std::uint32_t free_ = none;
};

}   // namespace tutti::p2p
