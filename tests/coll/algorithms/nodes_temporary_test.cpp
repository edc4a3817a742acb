// SPDX-License-Identifier: BSD-3-Clause
// Temporary memory per rank of every algorithm between nodes, on as many ranks as one thread can drive, and connections
// per node with the default choice.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>

#include "tests/coll/world/driven_ranks.hpp"
#include "tests/coll/world/int_calls.hpp"

namespace tutti::coll::test {
namespace {

constexpr std::ptrdiff_t kilobyte = 1 << 10, megabyte = 1 << 20, most = 64 * megabyte;

enum class Order { by_node, cyclic };

std::vector<int> even_nodes(int nodes, int ranks, Order order) {
    std::vector<int> node_of;
    for (int r = 0; r < nodes * ranks; ++r) node_of.push_back(order == Order::cyclic ? r % nodes : r / ranks);
    return node_of;
}

Variables shared_waiting() {
    Variables v;
    v.wait = "shared";
    return v;
}

class DrivenCalls {
public:
    DrivenCalls(int nodes, int ranks, Order order = Order::by_node)
        : world_(even_nodes(nodes, ranks, order), shared_waiting()) {}

    /// Later calls of its collective use this algorithm; `memory` is the limit for algorithms that have such a
    /// parameter.
    void choose(AlgorithmRow const& row, std::size_t memory = 0) {
        Setting setting = defaults(row);
        for (std::size_t i = 0; memory > 0 && i < row.parameters.size(); ++i)
            if (row.parameters[i].name == std::string("memory")) setting.values.set(i, memory);
        world_.choose(row.collective, setting);
    }
    void choose_by_table(Collective collective) { world_.choose(collective, {}); }

    /// Makes a call with parts of `count` ints. Returns the most memory that a rank has allocated for it.
    std::ptrdiff_t run(Collective which, int count, bool gaps = false) {
        IntBuffers buffers(world_.size(), count + 1);   // shared by all ranks: results are meaningless
        std::deque<IntCalls> calls;
        for (int r = 0; r < world_.size(); ++r) calls.emplace_back(world_.comm(r), count, buffers, gaps);
        return world_.run([&](int r) {
            Ref<Request> request;
            calls[static_cast<std::size_t>(r)].with(which, [&](Collective collective, auto const& args) {
                request = start(BoundCall{world_.comm(r), collective, args});
            });
            return request;
        });
    }
    /// The algorithm that ran last.
    AlgorithmRow const* taken(Collective which) { return state_of(world_.comm(0)).counters_of(which).algorithm; }
    std::size_t most_links() { return std::ranges::max(world_.links()); }

private:
    DrivenRanks world_;
};

std::string as_setting(AlgorithmRow const& row) { return std::string(name_of(row.collective)) + "=" + row.name; }

/// Calls f(algorithm) for all algorithms between nodes.
template <class F>
void each_algorithm(F f) {
    int tried = 0;
    for (AlgorithmRow const& row : all_algorithms())
        if (row.runs_on(CommKind::several_nodes)) f(row), ++tried;
    EXPECT_GE(tried, collectives);
}

/// False for algorithms that connect (nearly) all ranks of a node to all ranks of another node: too many on many nodes.
bool connects_few(AlgorithmRow const& row) {
    DrivenCalls calls(4, 4);
    calls.choose(row);
    calls.run(row.collective, 1);
    return calls.most_links() <= 8;
}

/// Recorded for comparison in the report of `--gtest_output`.
void record(AlgorithmRow const& row, std::ptrdiff_t memory) {
    testing::Test::RecordProperty(as_setting(row), std::to_string(memory / kilobyte) + " KiB");
}

/// 16 ranks with 300 KB for each other rank, and 256 KiB per node for algorithms with a memory limit. An algorithm may
/// hold some other ranks' parts, or a few of a rank's own, but less than all ranks' parts together.
TEST(NodesTemporary, MemoryDoesNotGrowWithRanksTimesParts) {
    constexpr int count = 75000;
    constexpr std::ptrdiff_t part = count * 4, all = 16 * part;
    for (Order order : {Order::by_node, Order::cyclic}) {
        DrivenCalls calls(4, 4, order);
        each_algorithm([&](AlgorithmRow const& row) {
            if (row.requirements & requires_bounded_gather) return;   // see below
            bool const gaps = order == Order::cyclic;
            calls.choose(row, 256 * kilobyte);
            std::ptrdiff_t const memory = calls.run(row.collective, count, gaps);
            calls.choose_by_table(row.collective);
            if (calls.taken(row.collective) != &row) return;   // it accepts equal parts only
            record(row, memory);
            EXPECT_LE(memory, all / 2) << as_setting(row) << (gaps ? ", cyclic ranks, parts with gaps" : "");
        });
    }
}

/// Algorithms that keep all ranks' parts stay within their limit on any placement of the ranks.
TEST(NodesTemporary, AlgorithmsThatKeepAllPartsAreLimitedToSmallOnes) {
    DrivenCalls calls(4, 4);
    int tried = 0;
    each_algorithm([&](AlgorithmRow const& row) {
        if (!(row.requirements & requires_bounded_gather)) return;
        ++tried;
        calls.choose(row);
        int const fits = static_cast<int>(max_gathered_bytes / sizeof(int) / 16);
        EXPECT_LE(calls.run(row.collective, fits), most) << as_setting(row);
        EXPECT_EQ(calls.taken(row.collective), &row) << as_setting(row);
        EXPECT_LE(calls.run(row.collective, fits + 1), most) << as_setting(row);
        EXPECT_NE(calls.taken(row.collective), &row) << as_setting(row);
        calls.choose_by_table(row.collective);
    });
    EXPECT_GE(tried, 5);
}

bool is_rooted(Collective c) { return c == Collective::gather || c == Collective::scatter; }
bool follows_edges(Collective c) { return c >= Collective::neighbor_allgather; }

/// Ints per part such that all parts together exceed what a rank may allocate, although a rank or a node could hold
/// them.
int ints_of(Collective c, int ranks) {
    constexpr int million = 1 << 20;
    if (is_rooted(c)) return 32 * million / ranks;
    if (c == Collective::alltoall) return 64 * million / ranks / ranks;
    return 64;
}

/// All ranks' connections are in this process, which may not be allowed enough descriptors.
bool may_have_descriptors(rlim_t wanted) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted) return true;
    limit.rlim_cur = std::min(limit.rlim_max, wanted);
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == wanted;
}

/// `times`: the factor by which a larger job has more ranks, and longer lists of ranks.
void take_bounded_memory(int nodes, int ranks, int times) {
    if (!may_have_descriptors(16384)) GTEST_SKIP() << "needs 16384 file descriptors (ulimit -Hn)";
    DrivenCalls calls(nodes, ranks);
    std::set<AlgorithmRow const*> measured;
    auto const measure = [&](Collective which) {
        std::ptrdiff_t const lists = calls.run(which, 1);
        std::ptrdiff_t const memory = calls.run(which, ints_of(which, nodes * ranks));
        AlgorithmRow const& row = *calls.taken(which);
        measured.insert(&row);
        record(row, memory);
        EXPECT_LE(memory + (times - 1) * lists, most) << as_setting(row);
    };
    for (int c = 0; c < collectives; ++c)
        if (!follows_edges(static_cast<Collective>(c))) measure(static_cast<Collective>(c));
    EXPECT_LE(calls.most_links(), 4u * static_cast<unsigned>(nodes)) << "by the table's choice";
    each_algorithm([&](AlgorithmRow const& row) {
        if (row.runs_on_one_node || measured.contains(&row) || !connects_few(row)) return;
        calls.choose(row);
        measure(row.collective);
        EXPECT_EQ(calls.taken(row.collective), &row) << as_setting(row);
        calls.choose_by_table(row.collective);
    });
}

// AddressSanitizer finds invalid accesses among fewer ranks as well: one eighth of them.
#ifdef __SANITIZE_ADDRESS__
constexpr int ranks_of_16_nodes = 16;
#else
constexpr int ranks_of_16_nodes = 128;
#endif

TEST(NodesTemporary, MemoryAndConnectionsOf16NodesOf128RanksAreBounded) {
    take_bounded_memory(16, ranks_of_16_nodes, 128 / ranks_of_16_nodes);
}

/// As many nodes as one process may have connections. 256 nodes of 64 ranks have 256 times as many ranks.
TEST(NodesTemporary, MemoryAndConnectionsOf64NodesAreBounded) { take_bounded_memory(64, 1, 256); }

}   // namespace
}   // namespace tutti::coll::test
