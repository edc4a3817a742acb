// SPDX-License-Identifier: BSD-3-Clause
// A peer's buffer that this rank can load and store, in any layout. Data is copied from one user's layout to the
// other's in a single pass.
#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "coll/env/arguments.hpp"
#include "runtime/datatype/layout.hpp"

namespace tutti::coll {

/// Copies `n` bytes. Most copies are a few bytes, so words of 4 and 8 bytes need no call.
inline void copy_bytes(void* to, void const* from, std::size_t n) {
    if (n == 8) std::memcpy(to, from, 8);
    else if (n == 4) std::memcpy(to, from, 4);
    else if (n != 0) std::memcpy(to, from, n);
}

inline TypedMemory typed_memory(ConstBuffer const& b) { return TypedMemory::of(b.address, b.count, *b.type); }

template <class Env>
class PeerBuffer {
public:
    /// A buffer that this rank cannot reach.
    PeerBuffer() = default;
    /// `bytes` contiguous bytes at `address` in the peer's own memory.
    PeerBuffer(Env& env, int peer, std::uint64_t address, std::size_t bytes)
        : env_(&env), peer_(peer), dense_(env.reach(peer, address, bytes)) {}
    /// `bytes` bytes of elements with gaps; the peer has written their layout to `flat`.
    PeerBuffer(Env& env, int peer, std::uint64_t origin, std::size_t bytes, std::byte const* flat)
        : env_(&env), peer_(peer), type_(reinterpret_cast<std::int64_t const*>(flat)) {
        std::int64_t const count = static_cast<std::int64_t>(bytes) / type_->size();
        AddressRange const range = type_->range(origin, count);
        if (std::byte* here = env.reach(peer, range.first, range.bytes)) typed_ = type_->at(here, origin, count);
        else type_.reset();
    }

    explicit operator bool() const { return dense_ || type_; }

    /// Copies packed bytes [position, position + bytes) from the peer's buffer to the same position in this rank's own.
    /// `working_set` as in Copier::copy.
    void get(Buffer const& mine, std::size_t position, std::size_t bytes, std::size_t working_set) const {
        env_->count_message(peer_);
        if (type_) copy_with_gaps(typed_memory(mine), typed_, position, bytes);
        else if (mine.type->dense(mine.count))
            env_->copy(first_byte(mine) + position, dense_ + position, bytes, working_set);
        else env_->store(mine, position, dense_ + position, bytes);
    }
    /// Copies in the opposite direction, from this rank's buffer to the peer's.
    void put(Buffer const& mine, std::size_t position, std::size_t bytes, std::size_t working_set) const {
        env_->count_message(peer_);
        if (type_) copy_with_gaps(typed_, typed_memory(mine), position, bytes);
        else if (mine.type->dense(mine.count))
            env_->copy(dense_ + position, first_byte(mine) + position, bytes, working_set);
        else env_->load(dense_ + position, mine, position, bytes);
    }

private:
    void copy_with_gaps(TypedMemory const& to, TypedMemory const& from, std::size_t position, std::size_t bytes) const {
        env_->count(bytes, bytes);
        copy_typed(to, from, position, bytes);
    }

    Env* env_ = nullptr;
    int peer_ = -1;
    std::byte* dense_ = nullptr;
    std::optional<RemoteType> type_;
    TypedMemory typed_{};
};

/// A peer's buffer of elements with gaps, in the peer's address space, for copies by the kernel. `flat` as above.
struct RemoteSegments {
    RemoteSegments(std::uint64_t origin, std::size_t bytes, std::byte const* flat)
        : type(reinterpret_cast<std::int64_t const*>(flat)),
          memory(type.in_owner(origin, static_cast<std::int64_t>(bytes) / type.size())) {}

    RemoteType type;
    TypedMemory memory;
};

/// Copies packed bytes [at, end) from a peer's memory, where they are contiguous from `address` on, to the same
/// position in this rank's buffer, by system calls; a buffer with gaps through `bounce`, or directly to its segments if
/// that is empty. Advances `at` past the bytes that were copied. Returns false if the system refuses.
template <class Env>
bool fetch_packed(Env& env, int peer, std::uint64_t address, Buffer const& mine, std::size_t& at, std::size_t end,
                  std::span<std::byte> bounce) {
    bool const dense = mine.type->dense(mine.count);
    if (dense || bounce.empty()) {
        bool const done =
            dense ? env.fetch(peer, address + at, first_byte(mine) + at, end - at)
                  : env.fetch_segments(peer, ContiguousMemory(address, end), typed_memory(mine), at, end - at);
        if (done) at = end;
        return done;
    }
    for (std::size_t n; at < end; at += n) {
        n = std::min(bounce.size(), end - at);
        if (!env.fetch(peer, address + at, bounce.data(), n)) return false;
        env.store(mine, at, bounce.data(), n);
    }
    return true;
}

}   // namespace tutti::coll
