// SPDX-License-Identifier: BSD-3-Clause
// What messages inside an operation consist of, on one node (messages.hpp) and between nodes (net_messages.hpp): parts
// of buffers, options, state per peer, and segments for pipelines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "runtime/datatype/builder.hpp"

namespace tutti::coll {

/// Packed bytes [at, at + bytes) of a user's buffer.
struct MessagePart {
    ConstBuffer buffer;
    std::size_t at, bytes;
};

/// Stores received data into a user's buffer, from packed byte `position` on. Data that the system copies goes there
/// directly if the buffer is dense. `working_set` as in Copier::copy.
template <class Env>
struct IntoBuffer {
    Env* env;
    Buffer to;
    std::size_t position, working_set;

    std::byte* address() const { return to.type->dense(to.count) ? first_byte(to) + position : nullptr; }
    void operator()(std::byte const* from, std::size_t at, std::size_t n) const {
        if (std::byte* const there = address()) env->copy(there + at, from, n, working_set);
        else env->store(to, position + at, from, n);
    }
};

/// How messages are moved; the same at all ranks.
struct MessageOptions {
    std::size_t grain = 1;       ///< received data is delivered in whole elements of this size
    std::size_t direct = 4096;   ///< messages of this size or more are read in place if peers can load the memory
    std::size_t cma = 32768;     ///< messages of this size or more are read in place by the system
    std::size_t piece = 32768;   ///< bytes of a piece of a staged message; at least one element
    std::size_t reserved = 0;    ///< bytes at the start of the staging memory that the algorithm uses itself
};

/// State per peer, of those peers only that have been asked for.
template <class State>
class PeerMap {
public:
    explicit PeerMap(FramePool& frames) : entries_(4, Entry{}, frames) {}

    /// The state of a peer; a new one at first. Valid until that of a new peer is asked for.
    State& operator[](int peer) {
        std::size_t at = find(peer);
        if (entries_[at].peer < 0) {
            if (2 * ++used_ > entries_.size()) grow(), at = find(peer);
            entries_[at].peer = peer;
        }
        return entries_[at].state;
    }
    /// Calls visit(peer, state) for each peer in the map.
    template <class Visit>
    void for_each(Visit visit) {
        for (Entry& e : entries_)
            if (e.peer >= 0) visit(e.peer, e.state);
    }

private:
    struct Entry {
        int peer = -1;
        State state{};
    };

    /// The index of a peer's entry, or of the free one where it belongs. Sizes are powers of two.
    std::size_t find(int peer) const {
        std::size_t const last = entries_.size() - 1;
        std::size_t at = static_cast<std::size_t>(peer) & last;
        while (entries_[at].peer >= 0 && entries_[at].peer != peer) at = (at + 1) & last;
        return at;
    }
    void grow() {
        PooledVector<Entry> old(2 * entries_.size(), Entry{}, entries_.get_allocator());
        old.swap(entries_);
        for (Entry& e : old)
            if (e.peer >= 0) entries_[find(e.peer)] = e;
    }

    PooledVector<Entry> entries_;
    std::size_t used_ = 0;
};

/// A part that describes packed bytes of the algorithm itself.
inline MessagePart packed_part(std::byte const* data, std::size_t bytes) {
    static auto const byte = TypeBuilder::predefined(Basic::byte_);
    return {{data, static_cast<std::int64_t>(bytes), byte.get()}, 0, bytes};
}

/// Arguments of a broadcast of packed bytes.
inline BcastArgs bcast_bytes_args(void* data, std::size_t bytes, int root) {
    BcastArgs args{};
    args.data = {data, static_cast<std::int64_t>(bytes), packed_part(nullptr, 0).buffer.type};
    args.root = root;
    return args;
}

/// Arguments of an allgather of packed bytes.
inline AllgatherArgs allgather_bytes_args(void const* mine, std::size_t bytes, void* all) {
    Datatype const& byte = *packed_part(nullptr, 0).buffer.type;
    auto const count = static_cast<std::int64_t>(bytes);
    AllgatherArgs args{};
    args.mine = {const_cast<void*>(mine), count, &byte};
    args.parts = Parts::regular(all, count, byte);
    args.max_part_bytes = bytes;
    return args;
}

// Segments: how a message is cut for pipelining.

/// Packed bytes of one element; 1 if the element is empty.
inline std::size_t element_of(ReduceArgs const& a) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()));
}

inline constexpr std::size_t one_segment = ~std::size_t{0};   ///< segment length: one segment for the whole message

/// Segments contain whole elements; there are none if there are no bytes.
struct Segments {
    Segments(std::size_t bytes, std::size_t element, std::size_t segment)
        : total(bytes), length(std::max(element, std::min(segment, bytes) / element * element)),
          count((bytes + length - 1) / length) {}
    std::size_t at(std::uint64_t k) const { return k * length; }
    std::size_t bytes(std::uint64_t k) const { return std::min(length, total - at(k)); }
    /// The part of a reduction, cut into these segments, that covers segment k.
    ReduceArgs slice(ReduceArgs const& a, std::uint64_t k) const {
        return a.slice(static_cast<std::int64_t>(at(k)) / a.type->size(),
                       static_cast<std::int64_t>(bytes(k)) / a.type->size());
    }
    std::size_t total, length;
    std::uint64_t count;
};

}   // namespace tutti::coll
