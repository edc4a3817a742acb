// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) round a ring by single copy: every rank shows its result buffer once; in step i it copies the part of
// rank − i from the buffer of rank − 1, as soon as that has it. So every memory is read by one rank at a time.
// p − 1 steps. Bytes per rank: (p − 1)·n copied once. Small parts go by recursive doubling. What a rank cannot read
// there is streamed by its owner, to all who lack it: where the ring breaks, it ends for those behind, too.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section VI.D (the ring style of its next release).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/exchange/knem.hpp"
#include "coll/blocks/exchange/part_streams.hpp"
#include "coll/blocks/messages/block_row.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

/// One rank's part in one ring. Counters: ready[0] parts that are there, last_step when no more will come; ack[0] as
/// many when this rank reads no more. A rank has the parts rank, rank − 1, …
template <class Env>
class Ring {
public:
    Ring(Env& env, AllgatherArgs const& a)
        : env_(env), a_(a), size_(env.size()), rank_(env.rank()), left_((rank_ + size_ - 1) % size_),
          staging_(env, a.parameters[1]) {}

    FramePool& frames() { return env_.frames(); }
    Task run() {
        post();
        co_await copy_from_left();
        co_await stream_the_rest();
        truncation_.check(env_);
    }

private:
    std::size_t working_set() const { return a_.largest * static_cast<std::size_t>(size_ * (size_ + 1)); }

    void post() {
        env_.expose_staged();
        Entry* const places = reinterpret_cast<Entry*>(env_.slot(env_.slot_bytes()));
        for (int part = 0; part < size_; ++part)
            places[part] = staging_.show(a_.parts[part], Limits::none(staging_.piece()));
        env_.publish();
        if (!a_.is_in_place) deliver_own(env_, a_.parts[rank_], a_.mine, working_set(), truncation_);
        env_.ready(0, has_);
    }

    Task copy_from_left() {
        if (size_ > 1) co_await env_.until(left_);
        while (has_ < static_cast<std::uint64_t>(size_)) {
            co_await env_.until_ready(left_, 0, has_);
            bool const ended = env_.ready_of(left_, 0) == last_step && env_.acked(left_, 0) < has_;
            if (ended || !copy((rank_ - static_cast<int>(has_) + size_) % size_)) break;
            env_.ready(0, ++has_);
        }
        env_.ack(0, has_);
        if (has_ < static_cast<std::uint64_t>(size_)) env_.ready(0, last_step);
    }

    bool copy(int part) {
        Entry const& e = reinterpret_cast<Entry const*>(env_.peek(left_, env_.slot_bytes()))[part];
        if (e.bytes == 0) return true;
        return e.shown() && fetch_part(env_, left_, e, a_.parts[part], staging_.bounce(), working_set(), truncation_);
    }

    /// Everybody says how far it has come, and so that it reads nobody's buffer any more.
    Task stream_the_rest() {
        std::vector<int> readers;
        std::vector<PartStream> streams;
        for (int i = 1; i < size_; ++i) {
            int const peer = (rank_ + i) % size_;
            co_await env_.until_ack(peer, 0, 1);
            if (static_cast<std::uint64_t>(size_ - i) >= has_) streams.push_back({peer, peer, peer + 1});
            if (static_cast<std::uint64_t>(i) >= env_.acked(peer, 0)) readers.push_back(peer);
        }
        KnownParts<Env> parts{a_, staging_, truncation_};
        PartStreams<Env, KnownParts<Env>> s(env_, parts, staging_);
        co_await s.run({rank_, rank_, rank_ + 1}, readers, streams);
    }

    Env& env_;
    AllgatherArgs const& a_;
    int size_, rank_, left_;
    Staging<Env> staging_;
    std::uint64_t has_ = 1;
    Truncation truncation_;
};

}   // namespace

template <class Env>
Task knem_ring(Env& env, AllgatherArgs const& a) {
    if (a.largest < a.parameters[0]) {
        co_await doubling_allgather(env, a);
        co_return;
    }
    Ring<Env> ring(env, a);
    co_await ring.run();
}

extern constinit const Algorithm<AllgatherArgs> knem_ring_algorithm = {
    "knem_ring",          "every rank copies part after part from its neighbour's buffer",
    Family::knem_coll,    "KNEM-Coll, section VI.D",
    requires_nothing,     knem_movement_parameters,
    TUTTI_RUNS(knem_ring)};

}   // namespace tutti::coll::algorithms::allgather
