// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's allgather(v): knem_gather_bcast and knem_ring.
//
// knem_gather_bcast: gather and broadcast. All ranks write their parts into the memory of rank 0 concurrently; when all
// parts are there, all ranks copy the others' parts from there concurrently. Small parts use recursive doubling. Four
// steps. Bytes per rank: n written and (p − 1)·n read, all of them to or from the memory of rank 0.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/gathering.hpp"
#include "coll/blocks/movement.hpp"
#include "coll/blocks/sender_writing.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

constexpr int root = 0;
/// Of both algorithms: small parts use recursive doubling.
constexpr char knem_bytes[] =
    "q = power(p, 2); r = p - q; "
    "2*p*p*s + (s < least ? sum(j, r, staged(s) + staged((2*j + 1)*s) + staged((p - 2*j - 2)*s)) + "
    "doubling(d, q, d*sum(g, q/d, staged((d + min((g + 1)*d, r) - min(g*d, r))*s))) : 0)";
enum Reply : std::uint64_t { has_parts = 1, wants_stream = 2 };   // of a non-root rank in ack[0]

/// Copies the others' parts from the root's buffers. Returns false if the system refuses a copy.
template <class Env>
bool read_from_root(Env& env, AllgatherArgs const& a, SenderWriting<Env>& w, std::size_t working_set) {
    for (int part = 0; part < env.size(); ++part) {
        Entry const& e = w.target_entry(root, part);
        if (part == env.rank() || e.bytes == 0) continue;
        if (!e.is_exposed()) return false;
        if (!fetch_part(env, root, e, a.parts[part], w.staging().bounce(), working_set, w.truncation())) return false;
    }
    return true;
}

}   // namespace

template <class Env>
Task knem_gather_bcast(Env& env, AllgatherArgs const& a) {
    if (a.max_part_bytes < a.parameters[0]) {
        co_await recursive_doubling_allgather(env, a);
        co_return;
    }
    int const size = env.size(), rank = env.rank();
    std::size_t const working_set = a.max_part_bytes * static_cast<std::size_t>(size * (size + 1));
    Buffer const mine = a.is_in_place ? a.parts[rank] : a.mine;
    ExchangeSpec const spec{.pattern = Pattern::to_root,
                            .root = root,
                            .out = Parts::same(mine.address, mine.count, *mine.type),
                            .in = a.parts};
    SenderWriting<Env> w(env, spec, a.parameters[0], a.parameters[1]);
    co_await w.run(a.is_in_place ? nullptr : &a.mine);

    std::vector<int> readers;
    std::vector<PartStream> streams;
    PartStream const all{root, 0, size};
    if (rank == root) {
        env.ready(0, 1);
        for (int leaf = 1; leaf < size; ++leaf) {
            co_await env.until_ack(leaf, 0, has_parts);
            if (env.acked(leaf, 0) == wants_stream) readers.push_back(leaf);
        }
    } else {
        co_await env.until_ready(root, 0, 1);
        bool const done = read_from_root(env, a, w, working_set);
        if (!done) streams.push_back(all);
        env.ack(0, done ? has_parts : wants_stream);
    }
    KnownParts<Env> parts{a, w.staging(), w.truncation()};
    PartStreams<Env, KnownParts<Env>> s(env, parts, w.staging());
    co_await s.run(all, readers, streams);
    w.check();
}

extern constinit const Algorithm<AllgatherArgs> knem_gather_bcast_algorithm = {
    "knem_gather_bcast",
    "all ranks write into the memory of rank 0, then read from there",
    Family::knem_coll,
    "KNEM-Coll, section V.C",
    requires_copyable_buffers,
    knem_movement_parameters,
    TUTTI_SHM_ONLY(knem_gather_bcast),
    {knem_bytes}};

// knem_ring: a ring by single copy. Every rank exposes its result buffer once; in step i it copies the part of rank − i
// from the buffer of rank − 1 as soon as it is there. Thus each rank's memory is read by one rank at a time. p − 1
// steps. Bytes per rank: (p − 1)·n copied once. Small parts use recursive doubling. A part that a rank cannot read
// there is streamed by its owner to all ranks that lack it: where the ring breaks, it also ends for the ranks after it.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section VI.D (the ring style of its next release).

namespace {

/// The state of one rank. Counters: ready[0] number of parts that are there, or max_step when no more will come;
/// ack[0] the same number, when this rank reads no more. A rank obtains the parts rank, rank − 1, … in this order.
template <class Env>
class Ring {
public:
    Ring(Env& env, AllgatherArgs const& a)
        : env_(env), a_(a), size_(env.size()), rank_(env.rank()), previous_((rank_ + size_ - 1) % size_),
          staging_(env, a.parameters[1]) {}

    FramePool& frames() { return env_.frames(); }
    Task run() {
        post();
        co_await copy_from_previous();
        co_await stream_missing_parts();
        truncation_.check(env_);
    }

private:
    std::size_t working_set() const { return a_.max_part_bytes * static_cast<std::size_t>(size_ * (size_ + 1)); }

    void post() {
        env_.expose_staged();
        Entry* const targets = reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes()));
        for (int part = 0; part < size_; ++part)
            targets[part] = staging_.try_expose(a_.parts[part], Limits::none(staging_.piece()));
        env_.publish();
        if (!a_.is_in_place) deliver_own(env_, a_.parts[rank_], a_.mine, working_set(), truncation_);
        env_.ready(0, held_parts_);
    }

    Task copy_from_previous() {
        if (size_ > 1) co_await env_.until(previous_);
        while (held_parts_ < static_cast<std::uint64_t>(size_)) {
            co_await env_.until_ready(previous_, 0, held_parts_);
            bool const ended = env_.ready_of(previous_, 0) == max_step && env_.acked(previous_, 0) < held_parts_;
            if (ended || !copy((rank_ - static_cast<int>(held_parts_) + size_) % size_)) break;
            env_.ready(0, ++held_parts_);
        }
        env_.ack(0, held_parts_);
        if (held_parts_ < static_cast<std::uint64_t>(size_)) env_.ready(0, max_step);
    }

    bool copy(int part) {
        Entry const& e = reinterpret_cast<Entry const*>(env_.peek(previous_, env_.slot_bytes()))[part];
        if (e.bytes == 0) return true;
        return e.is_exposed() &&
               fetch_part(env_, previous_, e, a_.parts[part], staging_.bounce(), working_set(), truncation_);
    }

    /// Every rank acknowledges how many parts it has obtained, which also states that it no longer reads any buffer;
    /// the owners then stream what is missing.
    Task stream_missing_parts() {
        std::vector<int> readers;
        std::vector<PartStream> streams;
        for (int i = 1; i < size_; ++i) {
            int const peer = (rank_ + i) % size_;
            co_await env_.until_ack(peer, 0, 1);
            if (static_cast<std::uint64_t>(size_ - i) >= held_parts_) streams.push_back({peer, peer, peer + 1});
            if (static_cast<std::uint64_t>(i) >= env_.acked(peer, 0)) readers.push_back(peer);
        }
        KnownParts<Env> parts{a_, staging_, truncation_};
        PartStreams<Env, KnownParts<Env>> s(env_, parts, staging_);
        co_await s.run({rank_, rank_, rank_ + 1}, readers, streams);
    }

    Env& env_;
    AllgatherArgs const& a_;
    int size_, rank_, previous_;
    Staging<Env> staging_;
    std::uint64_t held_parts_ = 1;
    Truncation truncation_;
};

}   // namespace

template <class Env>
Task knem_ring(Env& env, AllgatherArgs const& a) {
    if (a.max_part_bytes < a.parameters[0]) {
        co_await recursive_doubling_allgather(env, a);
        co_return;
    }
    Ring<Env> ring(env, a);
    co_await ring.run();
}

extern constinit const Algorithm<AllgatherArgs> knem_ring_algorithm = {
    "knem_ring",
    "every rank copies part after part from its neighbour's buffer",
    Family::knem_coll,
    "KNEM-Coll, section VI.D",
    requires_copyable_buffers,
    knem_movement_parameters,
    TUTTI_SHM_ONLY(knem_ring),
    {knem_bytes}};

}   // namespace tutti::coll::algorithms::allgather
