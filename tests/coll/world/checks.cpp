// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a case, for each collective.
#include "tests/coll/world/checks.hpp"

#include <tuple>

namespace tutti::coll::test {
namespace {
struct Sums {
    std::tuple<int, int, unsigned, std::int64_t, int> question;
    std::vector<std::vector<std::byte>> parts;   ///< of ranks first … first + i
};
}   // namespace

std::vector<std::byte> combined(CaseRun const& t, std::int64_t n, int first, int last) {
    // Cached for the next rank with the same arguments: if ranks are fibers, one rank computes the sums for all. Under
    // ThreadSanitizer, ranks may share nothing but what the algorithm shares.
#if defined(__SANITIZE_THREAD__)
    Sums kept;
#else
    static thread_local Sums kept;
#endif
    auto& [question, sums] = kept;
    if (question != std::tuple(t.c.kind, t.c.op, t.c.seed, n, first)) {
        question = {t.c.kind, t.c.op, t.c.seed, n, first};
        sums.clear();
    }
    Kind const& kind = t.suite.kind(t.c);
    std::size_t const bytes = static_cast<std::size_t>(n * kind.type->size());
    // Combines the packed form as integers: gaps in the type do not change the result.
    Datatype const& type = kind.unit == Unit::u32 ? *t.suite.kinds.front().type : *kind.type;
    for (int r = first + static_cast<int>(sums.size()); r <= last; ++r) {
        std::vector<std::byte> packed = packed_data(kind.unit, bytes, t.c.seed, r, 0);
        if (r > first && bytes > 0) {
            std::int64_t const count = static_cast<std::int64_t>(bytes) / type.size();
            Memory sum(count, type), next(count, type);
            sum.unpack_at(0, count, type, sums.back());
            next.unpack_at(0, count, type, packed);
            t.op().apply(sum.origin(), next.origin(), count, type);
            type.pack(next.origin(), count, 0, packed.data(), bytes);
        }
        sums.push_back(std::move(packed));
    }
    return sums[static_cast<std::size_t>(last - first)];
}

namespace {

void check_bcast(CaseRun t) {
    Kind const& kind = t.suite.kind(t.c);
    std::int64_t const n = t.suite.count_of(t.c);
    std::size_t const bytes = static_cast<std::size_t>(n * kind.type->size());
    Memory buffer(n, *kind.type), expected = buffer;
    expected.unpack_at(0, n, *kind.type, t.data(bytes, t.c.root, 0));
    if (t.rank == t.c.root) buffer = expected;
    BcastArgs args{};
    args.data = {buffer.origin(), n, kind.type.get()};
    args.root = t.c.root;
    t.run(args);
    t.same(buffer, expected, "buffer");
}

/// Gather and scatter: `out` of the leaf and the parts of the root, in either direction.
void check_rooted(CaseRun t, bool gather) {
    Suite& s = t.suite;
    int const root = t.c.root;
    Kind const& kind = s.kind(t.c);
    std::vector<std::int64_t> counts;
    for (int i = 0; i < s.ranks; ++i) counts.push_back(count_between(s, t.c, i, root));
    Plan const plan(s, t.c, counts);
    std::int64_t const n = counts[static_cast<std::size_t>(t.rank)];
    Memory mine(n, *kind.type), all = plan.memory(), mine_expected = mine, all_expected = all;
    mine_expected.unpack_at(0, n, *kind.type, t.data(plan.bytes(t.rank), t.rank, root));
    for (int i = 0; i < s.ranks && t.rank == root; ++i) {
        std::vector<std::byte> const packed = t.data(plan.bytes(i), i, root);
        plan.unpack_at(all_expected, i, packed);
        if (!gather || (t.c.in_place && i == root)) plan.unpack_at(all, i, packed);
    }
    if (gather) mine = mine_expected;
    bool const in_place = t.c.in_place && t.rank == root;
    RootedArgs args{};
    if (t.rank == root) args.parts = plan.parts(all);
    args.mine = in_place ? args.parts[root] : Buffer{mine.origin(), n, kind.type.get()};
    args.root = root;
    args.in_place_at_root = in_place;
    args.equal_parts = t.c.form == Form::equal;
    args.max_part_bytes = args.equal_parts ? args.mine.bytes() : 0;
    t.run(args);
    if (t.rank == root) t.same(all, all_expected, "the root's buffer");
    if (!in_place) t.same(mine, mine_expected, "the leaf's buffer");
}

void check_allgather(CaseRun t) {
    Suite& s = t.suite;
    Kind const& kind = s.kind(t.c);
    std::vector<std::int64_t> counts;
    for (int i = 0; i < s.ranks; ++i) counts.push_back(count_between(s, t.c, i, 0));
    Plan const plan(s, t.c, counts);
    std::int64_t const n = counts[static_cast<std::size_t>(t.rank)];
    Memory mine(n, *kind.type), all = plan.memory(), expected = all;
    mine.unpack_at(0, n, *kind.type, t.data(plan.bytes(t.rank), t.rank, 0));
    AllgatherArgs args{};
    for (int i = 0; i < s.ranks; ++i) {
        plan.unpack_at(expected, i, t.data(plan.bytes(i), i, 0));
        args.max_part_bytes = std::max(args.max_part_bytes, plan.bytes(i));
    }
    if (t.c.in_place) plan.unpack_at(all, t.rank, t.data(plan.bytes(t.rank), t.rank, 0));
    args.parts = plan.parts(all);
    args.is_in_place = t.c.in_place;
    args.mine = t.c.in_place ? args.parts[t.rank] : Buffer{mine.origin(), n, kind.type.get()};
    t.run(args);
    t.same(all, expected, "recvbuf");
}

void check_alltoall(CaseRun t) {
    Suite& s = t.suite;
    std::vector<std::int64_t> counts;
    for (int i = 0; i < s.ranks; ++i) counts.push_back(count_between(s, t.c, i, t.rank));
    Plan const plan(s, t.c, counts);
    Memory send = plan.memory(), receive = plan.memory(), expected = plan.memory();
    for (int i = 0; i < s.ranks; ++i) {
        plan.unpack_at(t.c.in_place ? receive : send, i, t.data(plan.bytes(i), t.rank, i));
        plan.unpack_at(expected, i, t.data(plan.bytes(i), i, t.rank));
    }
    Memory const send_before = send;
    AlltoallArgs args{};
    args.receive = plan.parts(receive);
    args.send = t.c.in_place ? args.receive : plan.parts(send);
    args.is_in_place = t.c.in_place;
    args.equal_parts = t.c.form == Form::equal;
    args.part_bytes = args.equal_parts ? plan.bytes(0) : 0;
    t.run(args);
    t.same(receive, expected, "recvbuf");
    t.same(send, send_before, "sendbuf");
}

template <class Args>
void reduce_case(CaseRun t, std::int64_t n, std::vector<int> const& counts, bool gives_result,
                 std::int64_t result_count, std::vector<std::byte> result_packed) {
    Kind const& kind = t.suite.kind(t.c);
    std::size_t const bytes = static_cast<std::size_t>(n * kind.type->size());
    Memory in(n, *kind.type), out(n, *kind.type);
    in.unpack_at(0, n, *kind.type, packed_data(kind.unit, bytes, t.c.seed, t.rank, 0));
    bool const in_place = t.c.in_place && (t.c.algorithm->collective != Collective::reduce || t.rank == t.c.root);
    if (in_place) out = in;
    Memory const in_before = in;
    Memory expected = out;
    if (gives_result) expected.unpack_at(0, result_count, *kind.type, result_packed);
    Args args{};
    args.in = in_place ? coll::in_place : in.origin();
    args.out = out.origin();
    args.count = n;
    args.type = kind.type.get();
    args.op = &t.op();
    args.root = t.c.root;
    find_kernels(args);
    if constexpr (std::is_same_v<Args, ReduceScatterArgs>) args.counts = counts;
    t.run(args);
    bool const compare_start_only = in_place && result_count < n;   // contents behind the rank's share are undefined
    if (compare_start_only) {
        std::vector<std::byte> packed(result_packed.size());
        kind.type->pack(out.origin(), result_count, 0, packed.data(), packed.size());
        if (packed != result_packed) t.suite.fail(t.c, t.rank, "the share differs");
    } else {
        t.same(out, expected, "recvbuf");
    }
    t.same(in, in_before, "sendbuf");
}

void check_reduction(CaseRun t) {
    Suite const& s = t.suite;
    std::int64_t const n = s.count_of(t.c);
    switch (t.c.algorithm->collective) {
    case Collective::reduce:
        return reduce_case<ReduceArgs>(t, n, {}, t.rank == t.c.root, n,
                                       t.rank == t.c.root ? combined(t, n, 0, s.ranks - 1) : std::vector<std::byte>{});
    case Collective::allreduce: return reduce_case<ReduceArgs>(t, n, {}, true, n, combined(t, n, 0, s.ranks - 1));
    case Collective::scan: return reduce_case<ReduceArgs>(t, n, {}, true, n, combined(t, n, 0, t.rank));
    default:
        return reduce_case<ReduceArgs>(t, n, {}, t.rank > 0, n,
                                       t.rank > 0 ? combined(t, n, 0, t.rank - 1) : std::vector<std::byte>{});
    }
}

void check_reduce_scatter(CaseRun t) {
    Suite const& s = t.suite;
    std::vector<int> counts;
    for (int i = 0; i < s.ranks; ++i) counts.push_back(static_cast<int>(count_between(s, t.c, i, 0)));
    std::int64_t const n = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::int64_t const before = std::accumulate(counts.begin(), counts.begin() + t.rank, std::int64_t{0});
    std::int64_t const mine = counts[static_cast<std::size_t>(t.rank)], size = s.kind(t.c).type->size();
    std::vector<std::byte> const& all = combined(t, n, 0, s.ranks - 1);
    reduce_case<ReduceScatterArgs>(t, n, counts, true, mine,
                                   {all.begin() + before * size, all.begin() + (before + mine) * size});
}

}   // namespace

void check(CaseRun const& t) {
    if (t.c.first_group_size > 0) return check_inter(t);
    switch (t.c.algorithm->collective) {
    case Collective::barrier: {
        BarrierArgs args{};
        return t.run(args);
    }
    case Collective::bcast: return check_bcast(t);
    case Collective::gather: return check_rooted(t, true);
    case Collective::scatter: return check_rooted(t, false);
    case Collective::allgather: return check_allgather(t);
    case Collective::alltoall: return check_alltoall(t);
    case Collective::reduce_scatter: return check_reduce_scatter(t);
    case Collective::neighbor_allgather: return check_neighbors(t, true);
    case Collective::neighbor_alltoall: return check_neighbors(t, false);
    default: return check_reduction(t);
    }
}

}   // namespace tutti::coll::test
