// SPDX-License-Identifier: BSD-3-Clause
// The costs in the records of algorithms (coll/algorithms/algorithm.hpp): the bytes that all ranks load and store, as
// counted, must equal the formula, in one round and in several, in place and not, with either kind of stores, with the
// parameters' defaults and with other values, and with several roots. The formulas of YHCCL's reductions are those of
// its paper (yhccl_test.cpp).
#include <gtest/gtest.h>

#include <set>

#include "coll/choice/cost.hpp"
#include "tests/coll/threads/counted_calls.hpp"

namespace tutti::coll::test {
namespace {

bool has_root(Collective c) {
    return c == Collective::bcast || c == Collective::reduce || c == Collective::gather || c == Collective::scatter;
}

std::vector<AlgorithmRow const*> rows_with_cost() {
    std::vector<AlgorithmRow const*> all;
    for (AlgorithmRow const& row : all_algorithms())
        if (row.cost.bytes) all.push_back(&row);
    return all;
}

class Costs : public testing::TestWithParam<AlgorithmRow const*> {
protected:
    /// In place, ranks may also move their shares of the result to the user's buffers; with messages, each rank may
    /// move its operand or its result once.
    void compare(int p, int m, CountedCall const& call, AccessPath access = AccessPath::load_store) {
        ThreadWorld world(p, sockets(p, m), access);
        std::size_t const slot = world.area.slot_bytes(), bytes = static_cast<std::size_t>(call.count) * sizeof(double);
        if ((call.row->requirements & requires_slot) && bytes > slot) return;
        Setting const setting = call.setting();
        CostOfCall const cost{setting,   world.trees.hierarchy, slot,           bytes,
                              call.root, sizeof(double),        edges(p, call), access};
        double const counted = static_cast<double>(volume(world, call));
        double const expected = cost.value(), moves = call.row->runs_on(CommKind::several_nodes) ? p : 1,
                     most = expected + (call.in_place ? 2 * moves * static_cast<double>(bytes) : 0);
        EXPECT_TRUE(counted == expected || (counted > expected && counted <= most))
            << "counted " << counted << ", not " << expected << " = " << call.row->cost.bytes << ": " << p
            << " ranks on " << m << " sockets, " << bytes << " bytes, root " << call.root
            << (call.in_place ? ", in place" : "") << (call.values == ParameterValues::others ? ", other values" : "");
    }

private:
    static std::optional<EdgeCounts> edges(int p, CountedCall const& call) {
        if (!is_neighborhood(call.row->collective)) return {};
        EdgeCounts all{};
        for (int rank = 0; rank < p; ++rank) {
            auto const edges = call.neighborhood(rank, p);
            int to_others = 0;
            for (auto const& peer : edges->peers()) to_others += static_cast<int>(peer.out.size());
            all.edges += to_others, all.loops += static_cast<int>(edges->self_edges().size());
            all.senders += to_others > 0, all.out = std::max(all.out, edges->out_degree());
        }
        return all;
    }
};

/// Vectors that fill one round of p slices of the largest size, several rounds, and several rounds with a remainder;
/// messages on both sides of each limit. The m of YHCCL's formulas: the paper derives them for sockets of p/m ranks,
/// but they hold for sockets of any sizes n_1 + … + n_m = p. The first step is a reduction in each socket (section 3.3)
/// of s·(3·n_i − 1) bytes, also if n_i is 1 and only the copy-in remains: s·(3·p − m) in total. The second step
/// combines m operands of every slice, 3·s·(m − 1), on whichever ranks.
TEST_P(Costs, EqualTheCountedBytes) {
    AlgorithmRow const& row = *GetParam();
    bool const whole = row.collective == Collective::bcast || reduces(row.collective);   // s is shared by all ranks
    for (int p : {2, 3, 4, 5, 8, 16})
        for (int m : {1, 2, 3, 4}) {
            if (m > p || (m == 3 && p > 5)) continue;   // smaller p cover sockets of different sizes
            for (std::int64_t each : {1, 63, 300, 1024, 2312})
                for (int root : std::set{0, p / 2, p - 1}) {
                    if (root != 0 && !has_root(row.collective)) continue;
                    CountedCall call{&row, whole ? each * p : each, root};
                    call.ring = m == 1;
                    compare(p, m, call);
                    call.values = ParameterValues::others;
                    if (p <= 8 && each > 1) compare(p, m, call);
                }
            if (!reduces(row.collective)) continue;
            for (auto stores : {Copier::Stores::temporal, Copier::Stores::nontemporal})
                compare(p, m, {&row, 1024 * p, 0, true, stores});
        }
}
/// Where no buffer can be accessed, algorithms that require it do not run. The formulas of the others hold.
TEST_P(Costs, EqualTheCountedBytesWithoutSingleCopy) {
    AlgorithmRow const& row = *GetParam();
    CallTraits traits;
    traits.loadable_buffers = traits.copyable_buffers = traits.kernel_copies = false;
    if (row.requirements & buffer_requirements) {
        EXPECT_FALSE(traits.suits(row));
        return;
    }
    bool const whole = row.collective == Collective::bcast || reduces(row.collective);
    for (int p : {2, 4, 5, 8})
        for (int m : {1, 2})
            for (std::int64_t each : {1, 300, 1024, 2312}) {
                CountedCall call{&row, whole ? each * p : each, p - 1};
                compare(p, m, call, AccessPath::staged);
                call.values = ParameterValues::others;
                if (each > 1) compare(p, m, call, AccessPath::staged);
            }
}
INSTANTIATE_TEST_SUITE_P(Records, Costs, testing::ValuesIn(rows_with_cost()), [](auto const& info) {
    return std::string(coll::name_of(info.param->collective)) + "_" + info.param->name;
});

TEST(CostsOfRecords, AreStatedByAllAlgorithmsOnOneNode) {
    for (AlgorithmRow const& row : all_algorithms())
        EXPECT_EQ(row.cost.bytes != nullptr, row.runs_on(CommKind::one_node))
            << name_of(row.collective) << "/" << row.name;
}

/// Teams of 2, 1 and 2 ranks: 0 1 | 2 | 3 4, and the leaders 0, 2 and 3.
TEST(Formulas, DescribeTheHierarchy) {
    topo::Hierarchy const tree = topo::Hierarchy::build(5, std::vector{topo::Grouping{"socket", {0, 0, 1, 2, 2}}});
    Setting const setting = defaults(row_of(Collective::reduce, "cheetah"));
    CostOfCall call{setting, tree, 8192, 8};
    auto const value = [&](char const* formula) { return evaluate(formula, {{"p", 5}}, &call); };
    EXPECT_EQ(value("teams(n)"), 2 + 1 + 2 + 3);
    EXPECT_EQ(value("teams(top*n + 10*i)"), 3 + 10 * (0 + 1 + 2 + 0));
    EXPECT_EQ(value("teams(fan_in)"), 4 * 2);
    EXPECT_EQ(value("parents(2)"), 2);   // ranks 0 and 3
    EXPECT_EQ(value("parents(1)"), 3);   // and 2, which is between them
    EXPECT_EQ(value("group_parents(2)"), 2);
    EXPECT_EQ(value("teams(at + 10*n)"), 10 * (2 + 1 + 2 + 3));
    call.root = 4;   // above 3, which is above 0 and 2
    EXPECT_EQ(value("teams(at + 10*n)"), 2 + 10 * (2 + 1 + 2 + 3));
    EXPECT_EQ(value("parents(2)"), 3);   // 4, 3, and 0 for 1
    EXPECT_EQ(value("group_parents(2)"), 2);
}

TEST(Formulas, AreEvaluated) {
    CostNames const names{{"p", 5}, {"s", 4100}, {"k", 2}};
    EXPECT_EQ(evaluate("2*p*s", names), 41000);
    EXPECT_EQ(evaluate("p - 1 - 1 + 6/k*2", names), 9);
    EXPECT_EQ(evaluate("(p - 1)*(s < 4K ? 4 : 2)", names), 8);
    EXPECT_EQ(evaluate("s < 8K ? p < k ? 1 : 2 : 3", names), 2);
    EXPECT_EQ(evaluate("ceil(p/k) + mod(s, 4K)", names), 7);
    EXPECT_EQ(evaluate("floor(p/k) + 10*min(p, k) + 100*max(p, k)", names), 522);
    EXPECT_EQ(evaluate("power(p, k) + 10*log(p, k) + 100*power(p, 3) + 1K*power(p, 9)", names), 4 + 20 + 300 + 1024);
    EXPECT_EQ(evaluate("staged(s) + staged(s - 5) + staged(0)", names), 2 * 4095);
    EXPECT_EQ(evaluate("staged(s, 2K) + staged(s, 4K) + staged(s, 8K)", names), 2 * 4100 + 2 * 4);
    EXPECT_EQ(evaluate("q = p + 1; r = q*q; r - q", names), 30);
    EXPECT_EQ(evaluate("sum(i, p, i*k) + sum(i, 0, p/i)", names), 20);
    EXPECT_EQ(evaluate("doubling(d, p, d) + 10*doubling(d, 4, 1)", names), 7 + 20);
    EXPECT_EQ(evaluate("sum(i, 3, q = i + 1; doubling(d, q, q*d))", names), 1 * 0 + 2 * 1 + 3 * 3);
    EXPECT_EQ(evaluate("bcast_binomial(p) + bcast_binomial(k)", names), 2 * 4 * 4100 + 2 * 4100);
    EXPECT_EQ(evaluate("reduce_rank_order(p) - reduce_rank_order(p, 4)", names), 2 * 4100);   // segment=32K
    EXPECT_EQ(evaluate("segment = 4K; reduce_rank_order(k, 1)", names), 3 * 4100 + 2 * 4);
    EXPECT_EQ(evaluate("inner(1, 2) + 10*inner(2, 2) + 100*inner(5, 2) + 1000*inner(5, 4)", names),
              0 + 10 + 300 + 1000);
    for (char const* wrong : {"",
                              "p +",
                              "q",
                              "2 p",
                              "(p",
                              "p)",
                              "ceil p",
                              "mod(p)",
                              "p < 2",
                              "1,5",
                              "p ? 1 : 2",
                              "q = 2",
                              "q = 2; ",
                              "2 = p; p",
                              "sum(i, p)",
                              "sum(i, p, 1 2)",
                              "sum(2, p, 1)",
                              "sum(i, p, 1",
                              "sum(i, p, q = 1; q) + q",
                              "staged()",
                              "teams(1)",
                              "parents(2)",
                              "sum(i, p, i) + i",
                              "log(p)",
                              "bcast_nothing(p)",
                              "bcast_masters(p)",
                              "t(s)",
                              "phases(n)",
                              "doubling(d, 1/0, 1)"})
        EXPECT_THROW(evaluate(wrong, names), std::invalid_argument) << wrong;
}

/// Three nodes, the largest with five ranks.
TEST(Formulas, OfTimesDistinguishMessagesInsideAndBetweenNodes) {
    CostNames const names{{"p", 9}, {"s", 100}, {"N", 3}, {"c", 5}};
    MessageTimes const m{.inside = {1, 0.01}, .between = {20, 0.5}, .alpha = 0.25};
    EXPECT_EQ(evaluate_time("t(s) + 1000*alpha + latency", names, m), 20 + 50 + 250 + 20);
    EXPECT_EQ(evaluate_time("phases(n + 100*top)", names, m), 5 + 103);
    EXPECT_EQ(evaluate_time("phases(latency) + 100*phases(beta*s)", names, m), 21 + 100 * 51);
    EXPECT_EQ(evaluate_time("phases(k = top + 1; k*t(s)) + t(0)", names, m), 2 + 2 * 70 + 20);
    EXPECT_EQ(evaluate_time("log2(1) + 10*log2(2) + 100*log2(5) + 1000*log2(8)", names, m), 10 + 300 + 3000);
    EXPECT_EQ(evaluate_time("phases(bcast_binomial(n))", names, m), 3 * 2 + 2 * 70);
    EXPECT_EQ(evaluate_time("bcast_binomial(p)", {{"s", 100}, {"p", 4}, {"N", 1}, {"c", 4}}, m), 2 * 2)
        << "one node has no messages between nodes";
    for (char const* wrong : {"bcast_slots(p)", "t()", "phases()", "gamma"})
        EXPECT_THROW(evaluate_time(wrong, names, m), std::invalid_argument) << wrong;
}

/// From three ranks on, combining all operands in one pass moves less data than combining two at a time.
TEST(Volumes, AreLeastWhereOnePassCombinesAllOperands) {
    for (int p : {2, 3, 4, 8})
        for (auto collective : {Collective::reduce_scatter, Collective::allreduce, Collective::reduce}) {
            auto of = [&](char const* algorithm) { return volume(collective, algorithm, 1024 * p, p); };
            EXPECT_LT(of("direct"), of("movement_avoiding")) << p << " ranks, " << coll::name_of(collective);
            EXPECT_LT(of("movement_avoiding"), of("dpml")) << p << " ranks, " << coll::name_of(collective);
            // With two operands, both algorithms make one pass.
            EXPECT_TRUE(p == 2 || of("direct") < of("xbrc")) << p << " ranks, " << coll::name_of(collective);
        }
}

/// In place only, a rank's share is then moved to the user's buffer.
TEST(Volumes, OfDirectReductionInPlaceIncludeTheMove) {
    for (int p : {2, 4}) {
        std::uint64_t const each = 1024 * sizeof(double), others = static_cast<unsigned>(p - 1);
        std::uint64_t const apart = volume(Collective::reduce_scatter, "xbrc", 1024 * p, p);
        EXPECT_EQ(apart, 3 * others * each * static_cast<unsigned>(p));
        EXPECT_EQ(volume(Collective::reduce_scatter, "xbrc", 1024 * p, p, true), apart + 2 * others * each);
    }
}

}   // namespace
}   // namespace tutti::coll::test
