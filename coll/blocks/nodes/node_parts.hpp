// SPDX-License-Identifier: BSD-3-Clause
// What movements across nodes share: parts of some ranks as the parts of a communicator of these alone; what the ranks
// of a node tell each other before their master sends. Sizes are always told by who sends: ranks need not know each
// other's, and a part that is too long is found out by its receiver and delays nobody.
#pragma once

#include <climits>
#include <cstring>

#include "coll/blocks/messages/block_row.hpp"
#include "coll/env/on_node.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

/// Buffers one after the other, for the ranks 0, 1, … of a communicator; lives as long as they are used.
class PartList {
public:
    explicit PartList(FramePool& frames) : counts_(frames), at_(frames), types_(frames), large_(frames) {}
    /// Those of `ranks` among `all`.
    PartList(FramePool& frames, Parts const& all, std::span<int const> ranks) : PartList(frames) {
        for (int r : ranks) add(all[r]);
    }
    void add(Buffer part) {
        if (part.count > INT_MAX) {   // one element of another type
            large_.push_back(TypeBuilder::contiguous(part.count, *part.type));
            part = {part.address, 1, large_.back().get()};
        }
        if (counts_.empty()) base_ = part.address;
        counts_.push_back(static_cast<int>(part.count));
        types_.push_back(part.type);
        at_.push_back(static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(part.address) -
                                                  reinterpret_cast<std::uintptr_t>(base_)));
    }
    Parts parts() const { return Parts::typed(base_, counts_.data(), at_.data(), types_.data()); }

private:
    void* base_ = nullptr;
    PooledVector<int> counts_;
    PooledVector<std::ptrdiff_t> at_;
    PooledVector<Datatype const*> types_;
    PooledVector<Ref<Datatype>> large_;
};

/// The parts of an alltoall between ranks of this node. One operation there.
inline Task alltoall_within_node(NetEnv& env, AlltoallArgs const& a, std::exception_ptr& error) {
    auto const ranks = env.map().members();
    PartList const send(env.frames(), a.send, ranks), receive(env.frames(), a.receive, ranks);
    AlltoallArgs inside = a;
    inside.send = send.parts();
    inside.receive = receive.parts();
    co_await on_node(env, Collective::alltoall, inside, error);
}

/// Memory of an algorithm's own, not touched before it is written.
struct Packed {
    Packed(FramePool& frames, std::size_t n) : bytes(n), memory(frames, n) {}
    std::byte* data() const { return memory.get(); }
    Buffer buffer() const { return packed_buffer(memory.get(), bytes); }
    Buffer part(std::size_t at, std::size_t n) const { return packed_buffer(memory.get() + at, n); }
    std::size_t bytes;
    PooledBytes memory;
};

/// How many bytes each rank of this node sends, and the bytes if none of them sends more than a few.
class NodeSizes {
public:
    static constexpr std::size_t few = 248;

    explicit NodeSizes(NetEnv& env) : sizes(env.frames()), env_(env) {}
    FramePool& frames() { return env_.frames(); }

    /// One operation on the node.
    Task learn(ConstBuffer mine) {
        std::uint64_t const bytes = mine.bytes();
        std::size_t const ranks = env_.map().members(env_.map().mine()).size();
        records_ = PooledBytes(frames(), (ranks + 1) * record);
        std::byte* const own = records_.get() + ranks * record;
        std::memcpy(own, &bytes, sizeof bytes);
        if (bytes <= few) env_.load(own + sizeof bytes, mine, 0, bytes);
        AllgatherArgs args{};
        args.mine = packed_buffer(own, record);
        args.parts = Parts::regular(records_.get(), record, *args.mine.type);
        args.largest = record;
        co_await on_node(env_, Collective::allgather, args);
        sizes.reserve(ranks);
        for (std::size_t i = 0; i < ranks; ++i) {
            sizes.emplace_back();
            std::memcpy(&sizes.back(), records_.get() + i * record, sizeof bytes);
        }
    }
    std::uint64_t sum() const {
        std::uint64_t all = 0;
        for (std::uint64_t n : sizes) all += n;
        return all;
    }
    std::uint64_t largest() const { return *std::ranges::max_element(sizes); }
    /// Are the bytes here, too?
    bool here() const { return largest() <= few; }
    std::byte const* bytes_of(std::size_t index) const {
        return records_.get() + index * record + sizeof(std::uint64_t);
    }
    /// All of them one after the other, if they are here.
    void put(std::byte* to) const {
        for (std::size_t i = 0; i < sizes.size(); to += sizes[i++]) std::memcpy(to, bytes_of(i), sizes[i]);
        env_.count(sum(), sum());
    }

    PooledVector<std::uint64_t> sizes;   ///< by index on the node

private:
    static constexpr std::size_t record = sizeof(std::uint64_t) + few;
    NetEnv& env_;
    PooledBytes records_;
};

}   // namespace tutti::coll
