// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a case on an intercommunicator: the ranks below the case's first_group_size form one group, the
// others the second one.
#include "coll/blocks/two_groups.hpp"
#include "tests/coll/world/checks.hpp"

namespace tutti::coll::test {
namespace {

/// One rank's view of a case between two groups.
struct InterCaseRun : CaseRun {
    explicit InterCaseRun(CaseRun const& t)
        : CaseRun(t), own{0, t.c.first_group_size}, other{t.c.first_group_size, t.suite.ranks} {
        if (t.rank >= t.c.first_group_size) std::swap(own, other);
    }

    GroupRanks own, other;

    bool at_root() const { return rank == c.root; }
    /// Is the root in the other group?
    bool leaf() const { return other.contains(c.root); }
    int root() const { return at_root() || leaf() ? c.root : -1; }
    /// The data that the rank receives in a movement: a part from each rank of the other group.
    Plan plan(int to) const {
        std::vector<std::int64_t> counts;
        for (int i = other.first; i < other.last; ++i) counts.push_back(count_between(suite, c, i, to));
        return Plan(suite, c, counts);
    }
    Parts parts(Plan const& plan, Memory& memory) const {
        return plan.parts(memory).restricted_to(other.first, other.size());
    }
    template <class Args>
    void run(Args& args) {
        args.first_group_size = c.first_group_size;
        CaseRun::run(args);
    }
};

void check_inter_bcast(InterCaseRun t) {
    Kind const& kind = t.suite.kind(t.c);
    std::int64_t const n = t.root() < 0 ? 0 : t.suite.count_of(t.c);
    Memory buffer(n, *kind.type), expected = buffer;
    expected.unpack_at(0, n, *kind.type, t.data(static_cast<std::size_t>(n * kind.type->size()), t.c.root, 0));
    if (t.at_root()) buffer = expected;
    BcastArgs args{};
    args.data = {buffer.origin(), n, kind.type.get()};
    args.root = t.root();
    t.run(args);
    t.same(buffer, expected, "buffer");
}

void check_inter_rooted(InterCaseRun t, bool gather) {
    Kind const& kind = t.suite.kind(t.c);
    int const root = t.c.root;
    std::int64_t const n = t.leaf() ? count_between(t.suite, t.c, t.rank, root) : 0;
    Plan const plan = t.plan(root);
    Memory mine(n, *kind.type), all = plan.memory(), mine_expected = mine, all_expected = all;
    for (int i = 0; t.at_root() && i < t.other.size(); ++i)
        plan.unpack_at(all_expected, i, t.data(plan.bytes(i), t.other.first + i, root));
    mine_expected.unpack_at(0, n, *kind.type, t.data(static_cast<std::size_t>(n * kind.type->size()), t.rank, root));
    if (gather) mine = mine_expected;
    else all = all_expected;
    RootedArgs args{};
    if (t.at_root()) args.parts = t.parts(plan, all);
    args.mine = {mine.origin(), n, kind.type.get()};
    args.root = t.root();
    args.in_place_at_root = t.at_root();
    args.equal_parts = t.c.form == Form::equal;
    t.run(args);
    t.same(all, all_expected, "the root's buffer");
    t.same(mine, mine_expected, "the leaf's buffer");
}

void check_inter_allgather(InterCaseRun t) {
    Kind const& kind = t.suite.kind(t.c);
    std::int64_t const n = count_between(t.suite, t.c, t.rank, 0);
    Plan const plan = t.plan(0);
    Memory mine(n, *kind.type), all = plan.memory(), expected = all;
    mine.unpack_at(0, n, *kind.type, t.data(static_cast<std::size_t>(n * kind.type->size()), t.rank, 0));
    for (int i = 0; i < t.other.size(); ++i) plan.unpack_at(expected, i, t.data(plan.bytes(i), t.other.first + i, 0));
    AllgatherArgs args{};
    args.parts = t.parts(plan, all);
    args.mine = {mine.origin(), n, kind.type.get()};
    t.run(args);
    t.same(all, expected, "recvbuf");
}

void check_inter_alltoall(InterCaseRun t) {
    Plan const plan = t.plan(t.rank);
    Memory send = plan.memory(), receive = plan.memory(), expected = plan.memory();
    for (int i = 0; i < t.other.size(); ++i) {
        plan.unpack_at(send, i, t.data(plan.bytes(i), t.rank, t.other.first + i));
        plan.unpack_at(expected, i, t.data(plan.bytes(i), t.other.first + i, t.rank));
    }
    Memory const send_before = send;
    AlltoallArgs args{};
    args.receive = t.parts(plan, receive);
    args.send = t.parts(plan, send);
    args.equal_parts = t.c.form == Form::equal;
    t.run(args);
    t.same(receive, expected, "recvbuf");
    t.same(send, send_before, "sendbuf");
}

/// An operand of n elements from each rank of the other group; this rank receives elements [first, first + count) of
/// the sum.
template <class Args>
void inter_reduce_case(InterCaseRun t, std::int64_t n, std::vector<int> const& counts, std::int64_t first,
                       std::int64_t count) {
    Kind const& kind = t.suite.kind(t.c);
    std::int64_t const size = kind.type->size();
    Memory in(n, *kind.type), out(count, *kind.type);
    in.unpack_at(0, n, *kind.type, packed_data(kind.unit, static_cast<std::size_t>(n * size), t.c.seed, t.rank, 0));
    Memory const in_before = in;
    Memory expected = out;
    if (count > 0) {
        std::vector<std::byte> const sum = combined(t, n, t.other.first, t.other.last - 1);
        expected.unpack_at(0, count, *kind.type, {sum.begin() + first * size, sum.begin() + (first + count) * size});
    }
    bool const rooted = t.c.algorithm->collective == Collective::reduce;
    Args args{};
    args.in = rooted && !t.leaf() ? nullptr : in.origin();
    args.out = rooted && !t.at_root() ? nullptr : out.origin();
    args.count = rooted && t.root() < 0 ? 0 : n;
    args.type = kind.type.get();
    args.op = &t.op();
    args.root = rooted ? t.root() : 0;
    find_kernels(args);
    if constexpr (std::is_same_v<Args, ReduceScatterArgs>) args.counts = counts;
    t.run(args);
    t.same(out, expected, "recvbuf");
    t.same(in, in_before, "sendbuf");
}

void check_inter_reduce_scatter(InterCaseRun t) {
    // Both groups share one vector; in the form with counts, some ranks receive nothing and the last one the rest.
    std::int64_t const n = t.suite.count_of(t.c) * t.suite.ranks, each = n / t.own.size();
    std::vector<int> counts;
    std::int64_t left = n, before = 0;
    for (int r = t.own.first; r < t.own.last; ++r) {
        std::int64_t mine = t.c.form == Form::equal ? each : (r + t.c.seed) % 3 * each / 2;
        if (r + 1 == t.own.last) mine = left;
        if (r < t.rank) before += mine;
        left -= mine;
        counts.push_back(static_cast<int>(mine));
    }
    inter_reduce_case<ReduceScatterArgs>(t, n, counts, before, counts[static_cast<std::size_t>(t.rank - t.own.first)]);
}

}   // namespace

void check_inter(CaseRun const& case_run) {
    InterCaseRun t(case_run);
    std::int64_t const n = t.suite.count_of(t.c);
    switch (t.c.algorithm->collective) {
    case Collective::bcast: return check_inter_bcast(t);
    case Collective::gather: return check_inter_rooted(t, true);
    case Collective::scatter: return check_inter_rooted(t, false);
    case Collective::allgather: return check_inter_allgather(t);
    case Collective::alltoall: return check_inter_alltoall(t);
    case Collective::reduce: return inter_reduce_case<ReduceArgs>(t, n, {}, 0, t.at_root() ? n : 0);
    case Collective::allreduce: return inter_reduce_case<ReduceArgs>(t, n, {}, 0, n);
    case Collective::reduce_scatter: return check_inter_reduce_scatter(t);
    default: t.suite.fail(t.c, t.rank, "this collective has no check between two groups");
    }
}

}   // namespace tutti::coll::test
