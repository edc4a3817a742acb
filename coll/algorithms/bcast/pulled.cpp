// SPDX-License-Identifier: BSD-3-Clause
// hierarchical: Tutti's pull-based, pipelined broadcast over any number of levels. Every leader exposes its buffer and
// counts up the chunks in it, and its team copies them; acknowledgements return over the same tree. L + s/chunk steps;
// (p − 1)·s bytes copied by single copy, of any layout, at most twice that if it is staged.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A; the root's share is ours.
#include <algorithm>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/pulled.hpp"

// The root, which has nothing to pull, writes the last part of each child's buffer if both are in arenas: with c
// children, c + 1 ranks copy c·s/(c + 1) bytes each. A buffer that cannot be exposed is sent in slices
// (coll/blocks/pulled.hpp), each chunk being a slice. In operations that suspend, if all ranks are the root's children,
// root and child share no fixed parts: the rank that waits copies (Environment::share).

namespace tutti::coll {

/// The state of one rank in one broadcast.
template <class Env>
class ChunkBroadcast {
public:
    ChunkBroadcast(Env& env, BcastArgs const& a, LeaderPosition position)
        : env_(env), a_(a), data_(env, a.data, std::move(position), smallest_chunk(env, a)),
          grain_(std::max<std::size_t>(1, a.parameters.at(0, data_.position.level) / chunk()) * chunk()),
          share_(a.parameters[env.oversubscribed() ? 2 : 1]) {
        data_.expose();
        if (parent() < 0) data_.received = bytes();
    }
    FramePool& frames() { return env_.frames(); }

    /// `children_of_root()` is called only if the root writes a part.
    template <class Count>
    Task run(Count children_of_root) {
        if (parent() < 0) {
            co_await announce_chunks();
            if (data_.access == AccessPath::load_store && bytes() >= share_) {
                if (either_may_copy(children_of_root)) co_await write_unclaimed();
                else co_await write_root_share();
            }
        } else {
            env_.publish();
            if (either_may_copy(children_of_root)) co_await env_.defer();
            while (data_.received < bytes()) {
                co_await receive(children_of_root);
                if (!children().empty()) co_await announce_chunks();
            }
        }
        co_await data_.finish();
    }

private:
    static constexpr int data_level = 0;   // counter: chunks ready

    static std::size_t smallest_chunk(Env& env, BcastArgs const& args) {
        std::size_t smallest = args.parameters[0];
        for (int level = 1; level < env.hierarchy().levels(); ++level)
            smallest = std::min(smallest, args.parameters.at(0, level));
        return smallest;
    }
    int parent() const { return data_.position.parent; }
    PooledVector<int> const& children() const { return data_.position.children; }
    std::size_t bytes() const { return data_.bytes; }
    /// The unit of the counters, the same at all ranks: the smallest chunk of all levels.
    std::size_t chunk() const { return data_.slice; }
    std::uint64_t chunks(std::size_t up_to) const { return (up_to + chunk() - 1) / chunk(); }
    /// True if the root writes the last part of this rank's, or this child's, buffer. Both sides get the same result.
    bool root_writes_share(int peer) const {
        Exposure const& e = env_.exposure(peer);
        bool const both = data_.access == AccessPath::load_store && e.access == AccessPath::load_store;
        return both && bytes() >= share_ && e.bytes == bytes();
    }
    /// True if all other ranks are the root's children and some of them may compute in the meantime. All ranks get the
    /// same result.
    template <class Count>
    bool either_may_copy(Count& children_of_root) const {
        if (!env_.suspends()) return false;
        std::size_t const root_children = parent() < 0 ? children().size() : children_of_root();
        return root_children + 1 == static_cast<std::size_t>(env_.size());
    }
    /// Returns where the root's part begins if it has this number of children.
    std::size_t share_start(std::size_t root_children) const {
        return bytes() / (root_children + 1) * root_children / cache_line * cache_line;
    }

    template <class Count>
    void read_parent_exposure(Count& children_of_root) {
        data_.read_parent();
        bool const shared = parent() == a_.root && root_writes_share(parent());
        either_side_ = shared && either_may_copy(children_of_root);
        pull_end_ = shared && !either_side_ ? share_start(children_of_root()) : bytes();
    }

    /// Receives at least one more chunk. If this rank loads for itself, it waits for as many chunks as its level loads
    /// at a time, because the parent proceeds without it. If the parent stages chunks for it, it consumes each chunk as
    /// soon as it is ready.
    template <class Count>
    Task receive(Count& children_of_root) {
        std::uint64_t const c = data_.received / chunk();
        co_await env_.until_ready(parent(), data_level, c + 1);
        if (data_.received == 0) read_parent_exposure(children_of_root);
        if (either_side_) {
            Area::Word const copy = env_.copy_of_pair(parent(), env_.rank());
            env_.share(copy, shared_pieces(bytes()), CopyFrom::front,
                       [&](std::size_t at, std::size_t n) { data_.load(at + n); });
            co_await env_.until_done(copy, shared_pieces(bytes()), parent());
            data_.received = bytes();
            co_return;
        }
        if (!data_.source) {
            if (!data_.fetch(data_.end_of(c))) co_await data_.receive_slice();
            co_return;
        }
        co_await env_.until_ready(parent(), data_level, chunks(std::min(data_.received + grain_, pull_end_)));
        load(env_.ready_of(parent(), data_level));
        if (data_.received < pull_end_ || pull_end_ == bytes()) co_return;
        co_await env_.until_sent(parent(), max_step);
        data_.received = bytes();
    }
    /// Loads what is ready, but only a grain at a time if this rank has children that wait for it.
    void load(std::uint64_t ready) {
        std::size_t to = std::min<std::size_t>(ready * chunk(), pull_end_);
        if (!children().empty()) to = std::min(to, data_.received + grain_);
        data_.load(to);
    }

    /// Announces to the children the chunks that are there.
    Task announce_chunks() {
        if (data_.access == AccessPath::staged) {
            co_await data_.stage_slices();
        } else {
            std::uint64_t const there = data_.received == bytes() ? chunks(bytes()) : data_.received / chunk();
            if (there > announced_) env_.ready(data_level, announced_ = there);
        }
    }

    /// The root copies the pieces that its children have not claimed, and waits only for those that are copying one.
    Task write_unclaimed() {
        co_await env_.defer();
        PooledVector<int> pending = children();
        std::partition(pending.begin(), pending.end(), [&](int child) { return env_.published(child) != 0; });
        for (int child : pending) {
            co_await env_.until(child);
            if (!root_writes_share(child)) continue;
            PeerBuffer<Env> to;   // a child that has claimed everything may have returned, and its layout with it
            auto const write = [&](std::size_t at, std::size_t n) {
                if (!to) to = env_.buffer_of(child);
                to.put(a_.data, at, n, data_.working_set());
            };
            Area::Word const copy = env_.copy_of_pair(env_.rank(), child);
            bool const all = env_.share(copy, shared_pieces(bytes()), CopyFrom::back, write);
            // With gaps, the child reads the layout in this rank's staging memory before it finds that everything is
            // there.
            if (all && a_.data.type->dense(a_.data.count)) std::erase(data_.position.children, child);
        }
    }

    /// Copies the root's share: first for the children that have arrived, then for the others as they arrive.
    Task write_root_share() {
        std::size_t const from = share_start(children().size());
        PooledVector<int> pending = children();
        std::partition(pending.begin(), pending.end(), [&](int child) { return env_.published(child) != 0; });
        for (int child : pending) {
            co_await env_.until(child);
            if (!root_writes_share(child)) continue;
            env_.buffer_of(child).put(a_.data, from, bytes() - from, data_.working_set());
            env_.sent(child, max_step);
        }
    }

    Env& env_;
    BcastArgs const& a_;
    PulledSlices<Env> data_;
    std::size_t grain_;   ///< bytes that this rank loads at a time if it can: its level's chunk, in whole units
    std::size_t share_;
    std::size_t pull_end_ = 0;      ///< where pulling ends
    bool either_side_ = false;      ///< the parent also copies pieces that this rank has not claimed
    std::uint64_t announced_ = 0;   ///< chunks announced to the children
};

template <class Env, class Count>
Task chunk_broadcast(Env& env, BcastArgs const& a, LeaderPosition position, Count children_of_root) {
    ChunkBroadcast<Env> broadcast(env, a, std::move(position));
    co_await broadcast.run(children_of_root);
}

inline constexpr Parameter root_share_parameter = {
    "share", 8192, "smallest message, in bytes, of which the root writes a share if all buffers are in arenas"};
inline constexpr Parameter oversubscribed_share_parameter = {
    "oversubscribed_share", 1048576, "the same threshold on an oversubscribed node (more ranks than cores)"};

}   // namespace tutti::coll

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task hierarchical(Env& env, BcastArgs const& a) {
    LeaderPosition position = position_in_hierarchy(env.frames(), env.hierarchy(), env.rank(), a.root);
    return chunk_broadcast(env, a, std::move(position), [&env, root = a.root] {
        return child_count_in_hierarchy(env.hierarchy(), root, root, env.hierarchy().levels());
    });
}

constexpr Parameter hierarchical_parameters[] = {
    {"chunk", 65536, "bytes forwarded at a time on each level", ParameterKind::per_level},
    root_share_parameter,
    oversubscribed_share_parameter,
    hierarchy_parameter};
extern constinit const Algorithm<BcastArgs> hierarchical_algorithm = {
    "hierarchical",
    "every team pulls chunks from its leader's buffer, level after level",
    Family::tutti,
    "after XHC, section IV.A",
    requires_nothing,
    hierarchical_parameters,
    TUTTI_SHM_ONLY(hierarchical),
    {"2*(p - 1 + (1 - copyable)*leaders)*s"}};

}   // namespace tutti::coll::algorithms::bcast
