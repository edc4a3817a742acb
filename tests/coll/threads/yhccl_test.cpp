// SPDX-License-Identifier: BSD-3-Clause
// YHCCL (Peng et al., SC 2023): the bytes that its algorithms and their rivals load and store are those of the paper
// (tables 1 to 3, figure 2), each copy is of the kind that its mode says (section 4), and the algorithms change where
// the paper says (sections 5.1 and 5.4).
#include <gmock/gmock.h>

#include "coll/blocks/sliced.hpp"
#include "tests/coll/threads/counted_calls.hpp"

namespace tutti::coll::test {
namespace {

/// A row of tables 1 to 3 of YHCCL's paper: bytes for s = 1 on p ranks in m sockets.
struct PaperRow {
    Collective collective;
    char const* name;
    double (*bytes)(double p, double m);
    double (*may_run)(double p) = [](double) { return 1.0; };   ///< 0: the formula is for other numbers of ranks
    char const* parameters = "";
};

/// 3k/(k + 1)² + … + 3k/p for trees of degree k = 2.
double upper_steps(double p) { return p < 9 ? 0 : 6 / p + upper_steps(p / 3); }
double is_power_of_two(double p) { return p <= 1 ? p == 1 : is_power_of_two(p / 2); }
double is_power_of_three(double p) { return p <= 1 ? p == 1 : is_power_of_three(p / 3); }

TEST(TablesOfYhccl, AreReproduced) {
    using enum Collective;
    static constexpr PaperRow rows[] = {
        {reduce_scatter, "ring", [](double p, double) { return 5 * (p - 1); }},
        {reduce_scatter, "recursive_halving", [](double p, double) { return 5 * (p - 1); }, is_power_of_two,
         "form=copied"},
        {reduce_scatter, "dpml", [](double p, double) { return 5 * p - 1; }},
        {reduce_scatter, "movement_avoiding", [](double p, double) { return 3 * p - 1; }},
        {reduce_scatter, "socket_aware", [](double p, double m) { return 3 * p + 2 * m - 3; }},
        {allreduce, "ring", [](double p, double) { return 7 * (p - 1); }},
        // Table 2 prints the last term of the sum as 1/log p; the text and table 1 imply 1/p.
        {allreduce, "rabenseifner", [](double p, double) { return 7 * (p - 1); }, is_power_of_two, "form=copied"},
        {allreduce, "dpml", [](double p, double) { return 7 * p - 1; }},
        {allreduce, "rg", [](double p, double) { return p * (10. / 3 + upper_steps(p) + 2); }, is_power_of_three,
         "slice=128K"},
        {allreduce, "movement_avoiding", [](double p, double) { return 5 * p - 1; }},
        {allreduce, "socket_aware", [](double p, double m) { return 5 * p + 2 * m - 3; }},
        {allreduce, "xbrc", [](double p, double) { return 5 * (p - 1); }},   // section 5.5
        {reduce, "dpml", [](double p, double) { return 5 * p + 1; }},
        {reduce, "rg", [](double p, double) { return p * (10. / 3 + upper_steps(p)); }, is_power_of_three,
         "slice=128K"},
        {reduce, "movement_avoiding", [](double p, double) { return 3 * p + 1; }},
        {reduce, "socket_aware", [](double p, double m) { return 3 * p + 2 * m - 1; }},
    };
    for (PaperRow const& row : rows)
        for (int p : {2, 3, 4, 8, 9})
            for (int m : {1, 2}) {
                if (row.may_run(p) == 0 || m == p || (m > 1 && std::string_view(row.name) != "socket_aware")) continue;
                ThreadWorld world(p, sockets(p, m));
                CountedCall call{&row_of(row.collective, row.name),
                                 1024 * p};   // each slice is larger than a small message
                call.parameters = row.parameters;
                EXPECT_NEAR(static_cast<double>(volume(world, call)), row.bytes(p, m) * 8192 * p, 1)
                    << coll::name_of(row.collective) << ' ' << row.name << ", " << p << " ranks, " << m << " sockets";
            }
}

/// Figure 2: V, the volume of the copies into shared memory for one slice of I bytes of three ranks.
TEST(TablesOfYhccl, CountTheCopiesOfFigureTwo) {
    for (auto const& [name, copied] : {std::pair("dpml", 6), std::pair("rg", 4), std::pair("movement_avoiding", 2)}) {
        ThreadWorld world(3, sockets(3, 1));
        run_call(world, {&row_of(Collective::allreduce, name), 3 * 1024});
        std::uint64_t staged = 0;
        for (std::uint64_t bytes : world.staged) staged += bytes;
        EXPECT_EQ(2 * staged, static_cast<unsigned>(copied) * 3 * 8192u) << name;   // loaded and stored
    }
}

/// Section 5.4: the messages above which YHCCL copies out past the cache.
static_assert(working_set_of_chains(2176 << 10, Receives::all, 64, 2, 128 << 10) == std::size_t{294912} << 10);
static_assert(working_set_of_chains(1152 << 10, Receives::all, 48, 2, 64 << 10) == std::size_t{116736} << 10);

/// Bytes that the copies of a call store past the cache, if all ranks together have a cache of this capacity.
std::uint64_t past_cache(int m, std::size_t capacity, CountedCall const& call) {
    constexpr int ranks = 4;
    ThreadWorld world(ranks, sockets(ranks, m));
    world.copier = Copier({capacity, capacity});
    run_call(world, call);
    std::uint64_t bytes = 0;
    for (Traffic const& t : world.traffic) bytes += t.past_cache.read();
    return bytes;
}

/// The copies of an algorithm on four ranks, as multiples of the message: those into shared memory, which is read next,
/// and those into results.
struct ModalCopies {
    Collective collective;
    char const* name;
    int sockets;
    std::uint64_t in, out;
    char const* parameters = "";   ///< those before `copy`
};

TEST(CopyModes, ReachEveryCopy) {
    using enum Collective;
    constexpr std::int64_t doubles = 32 << 10;   // slices of four ranks are of several pages
    constexpr std::size_t bytes = doubles * sizeof(double), large = std::size_t{1} << 40;
    static constexpr ModalCopies all[] = {
        {reduce_scatter, "movement_avoiding", 1, 1, 0, "slice=16K,"},
        {reduce_scatter, "socket_aware", 2, 2, 0, "slice=16K,"},
        {reduce_scatter, "yhccl", 2, 2, 0, "slice=16K,small=4K,"},
        {allreduce, "movement_avoiding", 1, 1, 4, "slice=16K,"},
        {allreduce, "socket_aware", 2, 2, 4, "slice=16K,"},
        {allreduce, "yhccl", 2, 2, 4, "slice=16K,small=4K,"},
        {allreduce, "yhccl", 2, 4, 4, "slice=16K,"},
        {allreduce, "dpml_two_level", 2, 4, 4, "slice=16K,"},
        {allreduce, "dpml", 1, 4 + 1, 4, "slice=16K,"},         // leaders copy the first operand
        {allreduce, "multi_node", 2, 2 + 1, 4, "slice=16K,"},   // the ring gathers half of a slice in each node
        {reduce, "movement_avoiding", 1, 1, 1, "slice=16K,"},
        {reduce, "socket_aware", 2, 2, 1, "slice=16K,"},
        {bcast, "adaptive_copy", 1, 1, 3, "slice=16K,"},
        {allgather, "adaptive_copy", 1, 4, 16, "slice=16K,"},
        {bcast, "xpmem_direct", 1, 0, 3},
        {allgather, "xpmem_direct", 1, 0, 16},
        {allreduce, "xbrc", 1, 0, 3},
    };
    for (ModalCopies const& one : all) {
        auto const counted = [&](char const* mode, std::size_t capacity) {
            std::string const parameters = std::string(one.parameters) + "copy=" + mode;
            CountedCall call{&row_of(one.collective, one.name), doubles};
            call.parameters = parameters.c_str();
            return past_cache(one.sockets, capacity, call);
        };
        testing::Message const which = testing::Message() << coll::name_of(one.collective) << ' ' << one.name;
        EXPECT_EQ(counted("nontemporal", large), (one.in + one.out) * bytes) << which;
        EXPECT_EQ(counted("adaptive", 0), one.out * bytes) << which;
        EXPECT_EQ(counted("adaptive", large), 0u) << which;
        EXPECT_EQ(counted("temporal", 0), 0u) << which;
        EXPECT_EQ(counted("memmove", 0), 0u) << which;
    }
}

/// Algorithms 2 to 4: the working set with which adaptive copies compare the cache.
TEST(CopyModes, AdaptiveCopiesChangeWhereTheWorkingSetExceedsTheCache) {
    using enum Collective;
    constexpr std::size_t s = 256 << 10, slice = 16 << 10, p = 4;
    struct Limit {
        Collective collective;
        char const* name;
        int sockets;
        std::size_t working_set;
    };
    for (auto const& [collective, name, m, working_set] :
         {Limit{allreduce, "movement_avoiding", 1, 2 * s * p + p * slice},
          Limit{allreduce, "socket_aware", 2, 2 * s * p + 2 * p * slice},
          Limit{bcast, "adaptive_copy", 1, s * p + 2 * slice},
          Limit{allgather, "adaptive_copy", 1, s * p + s * p * p + 2 * p * slice}}) {
        CountedCall call{&row_of(collective, name), s / sizeof(double)};
        call.parameters = "slice=16K";
        EXPECT_EQ(past_cache(m, working_set, call), 0u) << coll::name_of(collective) << ' ' << name;
        EXPECT_GT(past_cache(m, working_set - 1, call), 0u) << coll::name_of(collective) << ' ' << name;
    }
}

/// The switch of section 5.1, by the copies that only the two-level parallel reduction makes.
TEST(Yhccl, ReducesMessagesOfUpTo256KiBByTwoLevelParallelReduction) {
    auto const moved = [](std::int64_t bytes, char const* parameters) {
        ThreadWorld world(4, sockets(4, 2));
        CountedCall call{&row_of(Collective::allreduce, "yhccl"), bytes / 8};
        call.parameters = parameters;
        return volume(world, call) / static_cast<std::uint64_t>(bytes);
    };
    EXPECT_EQ(moved(262144, ""), 7u * 4 - 3);
    EXPECT_EQ(moved(262144 + 64, ""), 5u * 4 + 2 * 2 - 3);
    EXPECT_EQ(moved(65536, "small=64K"), 7u * 4 - 3);
    EXPECT_EQ(moved(65536, "small=63K"), 5u * 4 + 2 * 2 - 3);
}

TEST(XpmemDirect, RefusesBuffersThatPeersCannotLoad) {
    for (AccessPath way : {AccessPath::cma, AccessPath::staged}) {
        ThreadWorld world(4, sockets(4, 1), way);
        run_call(world, {&row_of(Collective::bcast, "xpmem_direct"), 1024, 2});
        EXPECT_THAT(world.refused_for, testing::Each(2)) << "the root";
        ThreadWorld another(4, sockets(4, 1), way);
        run_call(another, {&row_of(Collective::allgather, "xpmem_direct"), 1024});
        EXPECT_THAT(another.refused_for, testing::Each(0)) << "the first of them";
    }
}

}   // namespace
}   // namespace tutti::coll::test
