// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's allgather(v): knem_gather_bcast and knem_ring. coll/blocks/knem.hpp has what the family shares.
//
// knem_gather_bcast: a gather to rank 0, whose memory all ranks write concurrently, followed by a broadcast of the
// whole result from there, each rank's own part included: all ranks copy it concurrently, or level after level in
// pieces. Small parts are sent as `small` says. Four steps, or L + 3 + p·n/piece. Bytes per rank: n written and p·n
// read, all of them to or from the memory of rank 0 if the broadcast is linear.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section V.C.
#include "coll/blocks/knem.hpp"
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/gathering.hpp"
#include "coll/blocks/sender_writing.hpp"

namespace tutti::coll::algorithms::allgather {

extern Algorithm<AllgatherArgs> const recursive_doubling_algorithm, bruck_algorithm, ring_algorithm;

namespace {

constexpr Parameter small_parameter = knem_small_parameter("recursive_doubling|bruck|ring");
constexpr Algorithm<AllgatherArgs> const* small_algorithms[] = {&recursive_doubling_algorithm, &bruck_algorithm,
                                                                &ring_algorithm};
/// Of both algorithms.
constexpr char knem_bytes[] =
    "s < least ? (small < 1 ? allgather_recursive_doubling(p) : small < 2 ? "
    "allgather_bruck(p) : allgather_ring(p)) : 2*p*p*s";

/// The result of an allgather(v) as one buffer: the parts in rank order.
class WholeResult {
public:
    WholeResult(AllgatherArgs const& a, int size) {
        if (merge_adjacent_parts(a.parts, size, buffer)) return;
        std::vector<std::int64_t> counts, displacements;
        auto* const first = static_cast<std::byte*>(a.parts[0].address);
        for (int i = 0; i < size; ++i) {
            counts.push_back(a.parts[i].count);
            displacements.push_back(static_cast<std::byte*>(a.parts[i].address) - first);
        }
        type_ = TypeBuilder::hindexed(counts, displacements, *a.parts[0].type);
        buffer = {first, 1, type_.get()};
    }

    Buffer buffer{};

private:
    Ref<Datatype> type_;
};

/// All ranks write their parts into the memory of rank 0.
template <class Env>
Task gather_to_first(Env& env, AllgatherArgs const& a, Truncation& truncation) {
    int const rank = env.rank();
    Buffer const mine = a.is_in_place ? a.parts[rank] : a.mine;
    ExchangeSpec const spec{.pattern = Pattern::to_root,
                            .root = 0,
                            .out = Parts::same(mine.address, mine.count, *mine.type),
                            .in = a.parts};
    SenderWriting<Env> gather(env, spec, a.parameters[LevelsParameter::least], piece_parameter.default_value);
    co_await gather.run(rank == 0 && !a.is_in_place ? &a.mine : nullptr);
    truncation = gather.truncation();
    truncation.compare(rank, mine.bytes(), a.parts[rank].bytes());
}

}   // namespace

template <class Env>
Task knem_gather_bcast(Env& env, AllgatherArgs const& a) {
    if (a.max_part_bytes < a.parameters[LevelsParameter::least]) {
        co_await run_instead(env, a, *small_algorithms[a.parameters[LevelsParameter::small]]);
        co_return;
    }
    Truncation truncation;
    copy_through(env, a.parameters[LevelsParameter::through]);
    co_await gather_to_first(env, a, truncation);

    env.begin_phase();
    copy_through(env, a.parameters[LevelsParameter::through]);
    bool const linear = a.parameters[LevelsParameter::broadcast] == 0;
    WholeResult const whole(a, env.size());
    std::size_t const bytes = whole.buffer.bytes();
    PieceTree<Env> tree(env, linear ? env.one_team() : env.hierarchy(), whole.buffer, 0,
                        linear ? whole_pieces(bytes) : pieces_of(a.parameters, bytes));
    co_await tree.run();
    truncation.check(env);
}

constexpr Parameter knem_gather_bcast_parameters[] = {
    hierarchy_parameter,
    knem_least_parameter,
    knem_piece_parameter,
    knem_large_piece_parameter,
    knem_large_parameter,
    small_parameter,
    knem_through_parameter,
    {"broadcast", 0, "the broadcast: all ranks copy from rank 0, or teams from their leaders in pieces",
     ParameterKind::keyword, "linear|pipelined"}};
extern constinit const Algorithm<AllgatherArgs> knem_gather_bcast_algorithm = {
    "knem_gather_bcast",
    "all ranks write into the memory of rank 0, which then broadcasts the whole result",
    Family::knem_coll,
    "KNEM-Coll, section V.C",
    requires_kernel_copies,
    knem_gather_bcast_parameters,
    TUTTI_SHM_ONLY(knem_gather_bcast),
    {knem_bytes}};

// knem_ring: a ring by single copy. Every rank exposes its result buffer once; in step i it copies the part of rank − i
// from the buffer of rank − 1 as soon as it is there. Thus each rank's memory is read by one rank at a time. p − 1
// steps. Bytes per rank: (p − 1)·n copied once. Small parts are sent as `small` says. If the system refuses a copy, the
// part is streamed by its owner to all ranks that lack it: where the ring breaks, it also ends for the ranks after it.
// KNEM-Coll (Ma, Bosilca, Bouteiller, Goglin, Squyres, Dongarra), section VI.D (the ring style of its next release).

namespace {

/// The state of one rank. Counters: ready[0] number of parts that are there, or max_step when no more will come;
/// ack[0] the same number, when this rank reads no more. A rank obtains the parts rank, rank − 1, … in this order.
template <class Env>
class Ring {
public:
    Ring(Env& env, AllgatherArgs const& a)
        : env_(env), a_(a), size_(env.size()), rank_(env.rank()), previous_((rank_ + size_ - 1) % size_),
          staging_(env, a.parameters[PartsParameter::piece]) {}

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
            targets[part] = staging_.try_expose(a_.parts[part], {0, staging_.piece(), 0, true});
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
        return e.is_exposed() && fetch_part(env_, previous_, e, a_.parts[part], {}, working_set(), truncation_);
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
    if (a.max_part_bytes < a.parameters[PartsParameter::least]) {
        co_await run_instead(env, a, *small_algorithms[a.parameters[PartsParameter::small]]);
        co_return;
    }
    copy_through(env, a.parameters[PartsParameter::through]);
    Ring<Env> ring(env, a);
    co_await ring.run();
}

constexpr Parameter knem_ring_parameters[] = {knem_least_parameter, piece_parameter, small_parameter,
                                              knem_through_parameter};
extern constinit const Algorithm<AllgatherArgs> knem_ring_algorithm = {
    "knem_ring",
    "every rank copies part after part from its neighbour's buffer",
    Family::knem_coll,
    "KNEM-Coll, section VI.D",
    requires_kernel_copies,
    knem_ring_parameters,
    TUTTI_SHM_ONLY(knem_ring),
    {knem_bytes}};

}   // namespace tutti::coll::algorithms::allgather
