// SPDX-License-Identifier: BSD-3-Clause
// The data volumes of YHCCL (Peng et al., SC 2023, tables 1 to 3) for its reductions and for other algorithms: bytes
// loaded and stored by all p ranks of a node, in units of the vector's s bytes, on m sockets. The counted volumes must
// equal them exactly, in one round and in several, in place and not, with either kind of stores.
#include <gtest/gtest.h>

#include "coll/blocks/reducer.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll::test {
namespace {

/// p ranks on m sockets of consecutive ranks. Where m does not divide p, some sockets have one rank more than others.
topo::Hierarchy sockets(int p, int m) {
    topo::Grouping g{"socket", {}};
    for (int r = 0; r < p; ++r) g.group.push_back(r * m / p);
    return topo::Hierarchy::build(p, std::vector{g});
}

struct Call {
    Collective collective;
    char const* algorithm;
    std::int64_t count;      ///< doubles of the whole vector
    std::size_t slice = 0;   ///< the parameter of this name; 0: its default
    bool in_place = false;
    Copier::Stores stores = Copier::Stores::automatic;
};

template <class Args>
void run_rank(ThreadWorld& world, Call const& call, int rank) {
    int const p = world.area.members();
    AlgorithmRow const& row = row_of(call.collective, call.algorithm);
    Values values = defaults(row).values;
    for (std::size_t i = 0; i < row.parameters.size(); ++i)
        if (call.slice && std::string(row.parameters[i].name) == "slice") values.set(i, call.slice);
    auto const real = TypeBuilder::predefined(Basic::float64);
    Op sum;
    sum.builtin = BuiltinOp::sum;
    std::vector<double> in(static_cast<std::size_t>(call.count), rank + 1.0), out = in;
    std::vector<int> const counts(static_cast<std::size_t>(p), static_cast<int>(call.count / p));
    Args args{};
    args.parameters = values;
    bool const in_place = call.in_place && (call.collective != Collective::reduce || rank == 0);
    args.in = in_place ? coll::in_place : in.data();
    args.out = out.data();
    args.count = call.count;
    args.type = real.get();
    args.op = &sum;
    find_kernels(args);
    if constexpr (std::is_same_v<Args, ReduceScatterArgs>) args.counts = counts;
    FramePool frames;
    coll::run(world, rank, 1, frames, row, args);
    if (call.collective == Collective::reduce && rank != 0) return;
    out.resize(call.collective == Collective::reduce_scatter ? static_cast<std::size_t>(counts[0]) : out.size());
    EXPECT_EQ(out, std::vector<double>(out.size(), p * (p + 1) / 2.0)) << call.algorithm << ", rank " << rank;
}

/// Bytes that all ranks load and store while each runs `rank_body`.
template <class Body>
std::uint64_t counted(ThreadWorld& world, Body rank_body) {
    run_as_ranks(world.area.members(), rank_body);
    std::uint64_t bytes = 0;
    for (Traffic const& t : world.traffic) bytes += t.loaded.read() + t.stored.read();
    return bytes;
}

std::uint64_t volume(Call const& call, int p, int m) {
    ThreadWorld world(p, sockets(p, m));
    world.copier = Copier({}, call.stores);
    return counted(world, [&](int rank) {
        if (call.collective == Collective::reduce_scatter) run_rank<ReduceScatterArgs>(world, call, rank);
        else run_rank<ReduceArgs>(world, call, rank);
    });
}

using Formula = std::uint64_t (*)(std::uint64_t p, std::uint64_t m);
struct Published {
    Collective collective;
    char const* algorithm;
    Formula per_byte;
};

std::string title_of(testing::TestParamInfo<Published> const& info) {
    return std::string(coll::name_of(info.param.collective)) + "_" + info.param.algorithm;
}

class Volume : public testing::TestWithParam<Published> {};

/// The m of the formulas. The paper derives them for sockets of p/m ranks, but they hold for sockets of any sizes n_1 +
/// … + n_m = p. The first step is a reduction in each socket (section 3.3) of s·(3·n_i − 1) bytes, also if n_i is 1 and
/// only the copy-in remains: s·(3·p − m) in total. The second step combines m operands of every slice, 3·s·(m − 1), on
/// whichever ranks. Only sockets that have ranks count. If each has one rank, the hierarchy has no level inside
/// sockets, and all ranks form one socket: m = 1.
int sockets_that_count(int p, int m) { return m < p ? m : 1; }

/// Vectors that fill one round of p slices of the largest size, several rounds, and several rounds with a remainder.
TEST_P(Volume, EqualsTheFormula) {
    auto const [collective, algorithm, per_byte] = GetParam();
    for (int p : {2, 3, 4, 5, 8, 16})
        for (int m : {1, 2, 3, 4}) {
            if (m == 3 && p > 5) continue;   // smaller p cover sockets of different sizes
            for (std::int64_t each : {1024, 4096, 2312})
                for (bool in_place : {false, true})
                    for (auto stores : {Copier::Stores::temporal, Copier::Stores::nontemporal}) {
                        Call const call{collective, algorithm, each * p, 8192, in_place, stores};
                        EXPECT_EQ(volume(call, p, m),
                                  per_byte(static_cast<unsigned>(p), static_cast<unsigned>(sockets_that_count(p, m))) *
                                      static_cast<unsigned>(each * p) * sizeof(double))
                            << p << " ranks on " << m << " sockets, " << each << " doubles each"
                            << (in_place ? ", in place" : "");
                    }
        }
}

constexpr Published published[] = {
    {Collective::reduce_scatter, "dpml", [](auto p, auto) { return 5 * p - 1; }},
    {Collective::reduce_scatter, "movement_avoiding", [](auto p, auto) { return 3 * p - 1; }},
    {Collective::reduce_scatter, "socket_aware", [](auto p, auto m) { return 3 * p + 2 * m - 3; }},
    {Collective::reduce_scatter, "ring", [](auto p, auto) { return 5 * (p - 1); }},
    {Collective::allreduce, "ring", [](auto p, auto) { return 7 * (p - 1); }},
    {Collective::allreduce, "dpml", [](auto p, auto) { return 7 * p - 1; }},
    {Collective::allreduce, "xbrc", [](auto p, auto) { return 5 * (p - 1); }},
    {Collective::allreduce, "movement_avoiding", [](auto p, auto) { return 5 * p - 1; }},
    {Collective::allreduce, "socket_aware", [](auto p, auto m) { return 5 * p + 2 * m - 3; }},
    {Collective::reduce, "dpml", [](auto p, auto) { return 5 * p + 1; }},
    {Collective::reduce, "movement_avoiding", [](auto p, auto) { return 3 * p + 1; }},
    {Collective::reduce, "socket_aware", [](auto p, auto m) { return 3 * p + 2 * m - 1; }},
};
INSTANTIATE_TEST_SUITE_P(Published, Volume, testing::ValuesIn(published), title_of);

/// The number of sockets with one rank, if p ranks are distributed evenly over m sockets.
constexpr std::uint64_t alone(std::uint64_t p, std::uint64_t m) { return 2 * m > p && m > 1 ? 2 * m - p : 0; }

// Volumes derived from the algorithms, without a published formula. A leader alone in its socket has no operands to
// combine and copies its own operand: 2·s for each such socket.
constexpr Published derived[] = {
    {Collective::reduce_scatter, "dpml_two_level", [](auto p, auto m) { return 5 * p - 3 + 2 * alone(p, m); }},
    {Collective::allreduce, "dpml_two_level", [](auto p, auto m) { return 7 * p - 3 + 2 * alone(p, m); }},
    {Collective::reduce, "dpml_two_level", [](auto p, auto m) { return 5 * p - 1 + 2 * alone(p, m); }},
    {Collective::reduce, "xbrc", [](auto p, auto) { return 3 * (p - 1); }},
    {Collective::reduce_scatter, "direct", [](auto p, auto) { return p + 1; }},
    {Collective::allreduce, "direct", [](auto p, auto) { return 2 * p; }},
    {Collective::reduce, "direct", [](auto p, auto) { return p + 1; }},
};
INSTANTIATE_TEST_SUITE_P(Derived, Volume, testing::ValuesIn(derived), title_of);

/// From three ranks on, combining all operands in one pass moves less data than combining two at a time.
TEST(Volumes, AreLeastWhereOnePassCombinesAllOperands) {
    for (int p : {2, 3, 4, 8})
        for (auto collective : {Collective::reduce_scatter, Collective::allreduce, Collective::reduce}) {
            auto of = [&](char const* algorithm) { return volume({collective, algorithm, 1024 * p}, p, 1); };
            EXPECT_LT(of("direct"), of("movement_avoiding")) << p << " ranks, " << coll::name_of(collective);
            EXPECT_LT(of("movement_avoiding"), of("dpml")) << p << " ranks, " << coll::name_of(collective);
            // With two operands, both algorithms make one pass.
            EXPECT_TRUE(p == 2 || of("direct") < of("xbrc")) << p << " ranks, " << coll::name_of(collective);
        }
}

/// In place only, a rank's share is then moved to the user's buffer.
TEST(Volumes, OfDirectReductionInPlaceIncludeTheMove) {
    for (int p : {2, 4}) {
        Call call{Collective::reduce_scatter, "xbrc", 1024 * p};
        std::uint64_t const each = 1024 * sizeof(double), others = static_cast<unsigned>(p - 1);
        EXPECT_EQ(volume(call, p, 1), 3 * others * each * static_cast<unsigned>(p));
        call.in_place = true;
        EXPECT_EQ(volume(call, p, 1), 3 * others * each * static_cast<unsigned>(p) + 2 * others * each);
    }
}

/// Algorithms 3 and 4: one copy-in by each rank that has data, one copy-out by each rank that receives it.
TEST(Volumes, OfAdaptiveCopiesAreOneCopyInAndOneOutForEachReader) {
    auto const real = TypeBuilder::predefined(Basic::float64);
    constexpr std::int64_t n = 30000;   // several slices and a remainder
    for (int p : {2, 3, 8}) {
        std::uint64_t const ranks = static_cast<unsigned>(p), bytes = n * sizeof(double);
        auto run_one = [&](ThreadWorld& world, int rank, Collective collective, auto& args) {
            FramePool frames;
            Values values;
            values.set(0, 8192);
            args.parameters = values;
            coll::run(world, rank, 1, frames, row_of(collective, "adaptive_copy"), args);
        };
        ThreadWorld one(p, sockets(p, 1)), all(p, sockets(p, 1));
        EXPECT_EQ(counted(one,
                          [&](int rank) {
                              std::vector<double> data(n, rank == 1 ? 7.0 : 0.0);
                              BcastArgs args{{}, {data.data(), n, real.get()}, 1};
                              run_one(one, rank, Collective::bcast, args);
                              EXPECT_EQ(data, std::vector<double>(n, 7.0));
                          }),
                  2 * ranks * bytes);
        EXPECT_EQ(
            counted(all,
                    [&](int rank) {
                        std::vector<double> mine(n, rank), data(static_cast<std::size_t>(n * p), -1.0);
                        AllgatherArgs args{
                            {}, {mine.data(), n, real.get()}, Parts::regular(data.data(), n, *real), false, bytes};
                        run_one(all, rank, Collective::allgather, args);
                        for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], static_cast<double>(i / n));
                    }),
            2 * (ranks + ranks * ranks) * bytes);
    }
}

}   // namespace
}   // namespace tutti::coll::test
