// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along a tree, pull-based and pipelined: every inner rank shows its buffer, counts up how many chunks are in
// it, and its children copy them from there; acknowledgements come back over the same tree. The root, which has nothing
// to pull, writes the last part of each child's buffer itself where both lie in arenas. What cannot be shown goes as in
// pulled_slices.hpp, a chunk being a slice. In operations that suspend, where all are the root's children, root and
// child share no fixed parts: who waits copies (exchange/either_side.hpp).
#pragma once

#include <algorithm>

#include "coll/blocks/exchange/either_side.hpp"
#include "coll/blocks/trees/pulled_slices.hpp"

namespace tutti::coll {

/// One rank's part in one broadcast.
template <class Env>
class ChunkBroadcast {
public:
    ChunkBroadcast(Env& env, BcastArgs const& a, LeaderPlace place)
        : env_(env), a_(a), data_(env, a.data, std::move(place), least_chunk(env, a)),
          grain_(std::max<std::size_t>(1, a.parameters.at(0, data_.place.level) / chunk()) * chunk()),
          share_(a.parameters[env.crowded() ? 2 : 1]) {
        data_.show();
        if (parent() < 0) data_.got = bytes();
    }
    FramePool& frames() { return env_.frames(); }

    /// `children_of_root()` is asked only where the root writes a part.
    template <class Count>
    Task run(Count children_of_root) {
        if (parent() < 0) {
            co_await pass_on();
            if (data_.way == AccessPath::load_store && bytes() >= share_) {
                if (by_either(children_of_root)) co_await give();
                else co_await push();
            }
        } else {
            env_.publish();
            if (by_either(children_of_root)) co_await env_.later();
            while (data_.got < bytes()) {
                co_await receive(children_of_root);
                if (!children().empty()) co_await pass_on();
            }
        }
        co_await data_.finish();
    }

private:
    static constexpr int data_level = 0;   // counter: chunks ready

    static std::size_t least_chunk(Env& env, BcastArgs const& args) {
        std::size_t least = args.parameters[0];
        for (int level = 1; level < env.hierarchy().levels(); ++level)
            least = std::min(least, args.parameters.at(0, level));
        return least;
    }
    int parent() const { return data_.place.parent; }
    PooledVector<int> const& children() const { return data_.place.children; }
    std::size_t bytes() const { return data_.bytes; }
    /// What is counted, the same at all ranks: the smallest of all levels.
    std::size_t chunk() const { return data_.slice; }
    std::uint64_t chunks(std::size_t up_to) const { return (up_to + chunk() - 1) / chunk(); }
    /// Does the root write the last part of this rank's, or this child's, buffer? Both sides find the same.
    bool shared_with(int peer) const {
        Exposure const& e = env_.exposure(peer);
        bool const both = data_.way == AccessPath::load_store && e.way == AccessPath::load_store;
        return both && bytes() >= share_ && e.bytes == bytes();
    }
    /// Are all others the root's children, and may some of them compute meanwhile? All ranks find the same.
    template <class Count>
    bool by_either(Count& children_of_root) const {
        if (!env_.suspends()) return false;
        std::size_t const of_root = parent() < 0 ? children().size() : children_of_root();
        return of_root + 1 == static_cast<std::size_t>(env_.size());
    }
    /// Where the root's part begins, if it has so many children.
    std::size_t split(std::size_t of_root) const { return bytes() / (of_root + 1) * of_root / cache_line * cache_line; }

    template <class Count>
    void meet_parent(Count& children_of_root) {
        data_.meet();
        bool const shared = parent() == a_.root && shared_with(parent());
        either_ = shared && by_either(children_of_root);
        end_ = shared && !either_ ? split(children_of_root()) : bytes();
    }

    /// Receives at least one chunk more. Where it loads for itself it waits for as many as its level takes at a time:
    /// the parent goes on without it. Where the parent lays chunks out for it, it takes each at once.
    template <class Count>
    Task receive(Count& children_of_root) {
        std::uint64_t const c = data_.got / chunk();
        co_await env_.until_ready(parent(), data_level, c + 1);
        if (data_.got == 0) meet_parent(children_of_root);
        if (either_) {
            bool const all = copy_pieces(env_, env_.rank(), 0, CopyPieces(bytes()), From::front,
                                         [&](std::size_t at, std::size_t n) { data_.load(at + n); });
            if (!all) co_await env_.until_sent(parent(), last_step);
            data_.got = bytes();
            co_return;
        }
        if (!data_.source) {
            if (!data_.fetch(data_.end_of(c))) co_await data_.take_slice();
            co_return;
        }
        co_await env_.until_ready(parent(), data_level, chunks(std::min(data_.got + grain_, end_)));
        load(env_.ready_of(parent(), data_level));
        if (data_.got < end_ || end_ == bytes()) co_return;
        co_await env_.until_sent(parent(), last_step);
        data_.got = bytes();
    }
    /// What this rank can load: all that is ready, or only so much at a time when others wait for it.
    void load(std::uint64_t ready) {
        std::size_t to = std::min<std::size_t>(ready * chunk(), end_);
        if (!children().empty()) to = std::min(to, data_.got + grain_);
        data_.load(to);
    }

    /// Lets the children have what is there.
    Task pass_on() {
        if (data_.way == AccessPath::staged) {
            co_await data_.lay_out();
        } else {
            std::uint64_t const there = data_.got == bytes() ? chunks(bytes()) : data_.got / chunk();
            if (there > said_) env_.ready(data_level, said_ = there);
        }
    }

    /// The root copies what its children have not yet taken, and waits for those alone who have taken something.
    Task give() {
        co_await env_.later();
        PooledVector<int> open = children();
        std::partition(open.begin(), open.end(), [&](int child) { return env_.published(child) != 0; });
        for (int child : open) {
            co_await env_.until(child);
            if (!shared_with(child)) continue;
            PeerBuffer<Env> to;   // a child that has taken all may be gone, with its layout
            auto const write = [&](std::size_t at, std::size_t n) {
                if (!to) to = env_.buffer_of(child);
                to.put(a_.data, at, n, data_.working_set());
            };
            bool const all = copy_pieces(env_, child, 0, CopyPieces(bytes()), From::back, write);
            env_.sent(child, last_step);
            // With gaps it reads the layout in this rank's staging memory before it finds that all is there.
            if (all && a_.data.type->dense(a_.data.count)) std::erase(data_.place.children, child);
        }
    }

    /// The root's share of the copies: first for the children that are there, then for the others as they come.
    Task push() {
        std::size_t const from = split(children().size());
        PooledVector<int> open = children();
        std::partition(open.begin(), open.end(), [&](int child) { return env_.published(child) != 0; });
        for (int child : open) {
            co_await env_.until(child);
            if (!shared_with(child)) continue;
            env_.buffer_of(child).put(a_.data, from, bytes() - from, data_.working_set());
            env_.sent(child, last_step);
        }
    }

    Env& env_;
    BcastArgs const& a_;
    PulledSlices<Env> data_;
    std::size_t grain_;   ///< what this rank takes at a time where it can: its level's, in whole chunks
    std::size_t share_;
    std::size_t end_ = 0;      ///< where pulling ends
    bool either_ = false;      ///< the parent copies as well, what this rank has not yet taken
    std::uint64_t said_ = 0;   ///< chunks that the children know of
};

template <class Env, class Count>
Task chunk_broadcast(Env& env, BcastArgs const& a, LeaderPlace place, Count children_of_root) {
    ChunkBroadcast<Env> broadcast(env, a, std::move(place));
    co_await broadcast.run(children_of_root);
}

inline constexpr Parameter root_share_parameter = {
    "share", 8192, "bytes from which the root writes a part of its children's buffers, where all lie in arenas"};
inline constexpr Parameter crowded_share_parameter = {
    "crowded_share", 1048576, "the same with more ranks than cores, when the root's core has others to run"};

}   // namespace tutti::coll
