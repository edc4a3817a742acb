// SPDX-License-Identifier: BSD-3-Clause
// Reductions on several nodes, with the default choice: the number of messages between nodes is minimal for every root.
// With TUTTI_DETERMINISTIC, operands are combined in rank order on any placement of the ranks.
#include "tests/coll/world/nodes_world.hpp"

#include <thread>

#include "coll/call/collectives.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/kinds.hpp"

namespace tutti::coll::test {
namespace {

Variables variables(bool deterministic = false) {
    Variables v;
    v.wait = "shared";
    v.deterministic = deterministic;
    return v;
}

/// Runs `body(rank, comm)` as every rank.
template <class Body>
void run_as_all(std::vector<int> const& node_of, Variables const& v, Body body) {
    NodesWorld world(node_of, v);
    std::vector<std::thread> ranks;
    for (int r = 0; r < world.size(); ++r)
        ranks.emplace_back([&, r] {
            body(r, world.comm(r));
            world.leave(r);
        });
    for (std::thread& rank : ranks) rank.join();
}

/// Sums of doubles. With `commutes` false, the operator sums as well but is declared non-commutative.
struct Sums {
    explicit Sums(std::size_t count, bool commutes = true)
        : type(TypeBuilder::predefined(Basic::float64)), op(Ref<Op>::adopt(new Op)), in(count), out(count) {
        op->builtin = BuiltinOp::sum;
        op->commutative = commutes;
    }
    ReduceArgs args(int root = 0) {
        ReduceArgs a{};
        a.in = in.data();
        a.out = out.data();
        a.count = static_cast<std::int64_t>(in.size());
        a.type = type.get();
        a.op = op.get();
        a.root = root;
        return a;
    }
    Ref<Datatype> type;
    Ref<Op> op;
    std::vector<double> in, out;
};

std::uint64_t to_other_nodes(Comm const& comm) {
    return comm.process.rank_state().traffic.messages[static_cast<int>(topo::Locality::network)].read();
}

/// Messages between nodes of one call by all ranks.
template <class Call>
std::uint64_t messages_of(std::vector<int> const& node_of, Call call) {
    std::atomic<std::uint64_t> all{0};
    run_as_all(node_of, variables(), [&](int, Comm& comm) {
        std::uint64_t const before = to_other_nodes(comm);
        call(comm);
        all += to_other_nodes(comm) - before;
    });
    return all;
}

struct NodeShape {
    char const* name;
    std::vector<int> node_of;
    std::uint64_t nodes;
};
NodeShape const node_shapes[] = {{"two_of_two", {0, 0, 1, 1}, 2},
                                 {"four_of_two", {0, 0, 1, 1, 2, 2, 3, 3}, 4},
                                 {"three_and_one", {0, 0, 0, 1}, 2},
                                 {"three_of_one", {0, 1, 2}, 3},
                                 {"dealt_out", {0, 1, 2, 0, 1, 2, 0}, 3}};

class FoldsOnNodes : public testing::TestWithParam<NodeShape> {
protected:
    std::vector<int> const& node_of() const { return GetParam().node_of; }
    int ranks() const { return static_cast<int>(node_of().size()); }
    std::uint64_t nodes() const { return GetParam().nodes; }
    bool consecutive() const { return std::ranges::is_sorted(node_of()); }
};

TEST_P(FoldsOnNodes, ReduceCrossesEachNodeOnceWhateverTheRoot) {
    for (std::size_t count : {1, 4000})
        for (bool commutes : {true, false})
            for (int root = 0; root < ranks() && (commutes || consecutive()); ++root)
                EXPECT_EQ(messages_of(node_of(),
                                      [&](Comm& comm) {
                                          Sums sums(count, commutes);
                                          ReduceArgs a = sums.args(root);
                                          execute(BoundCall{comm, Collective::reduce, a});
                                      }),
                          nodes() - 1)
                    << "root " << root << ", " << count << " elements";
}

TEST_P(FoldsOnNodes, SmallAllreduceTakesOneStepBetweenFewNodes) {
    EXPECT_EQ(messages_of(node_of(),
                          [&](Comm& comm) {
                              Sums sums(1);
                              ReduceArgs a = sums.args();
                              execute(BoundCall{comm, Collective::allreduce, a});
                          }),
              nodes() * (nodes() - 1));
}

TEST_P(FoldsOnNodes, LargeAllreduceSendsEachNodeItsShareAndReturnsIt) {
    EXPECT_EQ(messages_of(node_of(),
                          [&](Comm& comm) {
                              Sums sums(8192);
                              ReduceArgs a = sums.args();
                              execute(BoundCall{comm, Collective::allreduce, a});
                          }),
              2 * nodes() * (nodes() - 1));
}

TEST_P(FoldsOnNodes, ReduceScatterSendsEachNodeItsShareOnce) {
    EXPECT_EQ(messages_of(node_of(),
                          [&](Comm& comm) {
                              Sums sums(static_cast<std::size_t>(5 * ranks()));
                              std::vector<int> const counts(static_cast<std::size_t>(ranks()), 5);
                              ReduceScatterArgs a{};
                              static_cast<ReduceArgs&>(a) = sums.args();
                              a.counts = counts;
                              execute(BoundCall{comm, Collective::reduce_scatter, a});
                          }),
              nodes() * (nodes() - 1));
}

TEST_P(FoldsOnNodes, BarrierTakesOneRoundPerDoubling) {
    std::uint64_t rounds = 0;
    while (1u << rounds < nodes()) ++rounds;
    EXPECT_EQ(messages_of(node_of(), [](Comm& comm) { barrier(comm); }), nodes() * rounds);
}

TEST_P(FoldsOnNodes, SmallPrefixTakesOneStepAndLargeOneCrossesEachBorderOnce) {
    if (!consecutive()) GTEST_SKIP() << "the ranks of a node are not consecutive";
    for (Collective prefix : {Collective::scan, Collective::exscan})
        for (auto [count, messages] : {std::pair{1, nodes() * (nodes() - 1) / 2}, std::pair{4000, nodes() - 1}})
            EXPECT_EQ(messages_of(node_of(),
                                  [&, n = static_cast<std::size_t>(count)](Comm& comm) {
                                      Sums sums(n);
                                      ReduceArgs a = sums.args();
                                      execute(BoundCall{comm, prefix, a});
                                  }),
                      messages)
                << name_of(prefix) << ", " << count << " elements";
}

/// Values of very different magnitude: each order and grouping gives different bits.
double value_of(int rank, std::size_t element) {
    std::uint64_t x = (static_cast<std::size_t>(rank) * 1000003 + element + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return std::ldexp(static_cast<double>(x >> 11), static_cast<int>(x % 60) - 80);
}
double sum_up_to(int rank, std::size_t element) {
    double sum = value_of(0, element);
    for (int r = 1; r <= rank; ++r) sum += value_of(r, element);
    return sum;
}

/// The elements of a result that differ in any bit from the sums over ranks 0 … `last`.
std::size_t wrong(std::vector<double> const& out, std::size_t n, int last, std::size_t first = 0) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += out[i] != sum_up_to(last, first + i);
    return count;
}

TEST_P(FoldsOnNodes, DeterministicResultsFollowRankOrder) {
    std::atomic<std::size_t> differ{0};
    run_as_all(node_of(), variables(true), [&](int rank, Comm& comm) {
        for (std::size_t n : {std::size_t{4}, std::size_t{3000}}) {
            for (Collective c : {Collective::reduce, Collective::allreduce, Collective::scan, Collective::exscan}) {
                Sums sums(n);
                for (std::size_t i = 0; i < n; ++i) sums.in[i] = value_of(rank, i);
                ReduceArgs a = sums.args(c == Collective::reduce ? ranks() - 2 : 0);
                execute(BoundCall{comm, c, a});
                int const last = c == Collective::scan ? rank : c == Collective::exscan ? rank - 1 : ranks() - 1;
                if (last >= 0 && (c != Collective::reduce || rank == a.root)) differ += wrong(sums.out, n, last);
            }
            Sums sums(n * static_cast<std::size_t>(ranks()));
            for (std::size_t i = 0; i < sums.in.size(); ++i) sums.in[i] = value_of(rank, i);
            std::vector<int> const counts(static_cast<std::size_t>(ranks()), static_cast<int>(n));
            ReduceScatterArgs a{};
            static_cast<ReduceArgs&>(a) = sums.args();
            a.counts = counts;
            execute(BoundCall{comm, Collective::reduce_scatter, a});
            differ += wrong(sums.out, n, ranks() - 1, n * static_cast<std::size_t>(rank));
        }
    });
    EXPECT_EQ(differ, 0u);
}

INSTANTIATE_TEST_SUITE_P(Worlds, FoldsOnNodes, testing::ValuesIn(node_shapes),
                         [](auto const& info) { return info.param.name; });

}   // namespace
}   // namespace tutti::coll::test
