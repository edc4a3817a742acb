// SPDX-License-Identifier: BSD-3-Clause
// KNEM-Coll's algorithms do what their paper says: the order of Fig. 3, the bytes that the kernel copies and the number
// of its calls for buffers with gaps, the broadcast of the whole result in allgather, and the baselines for small data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>

#include "tests/coll/threads/counted_calls.hpp"

namespace tutti::coll::test {
namespace {

constexpr std::int64_t doubles_each = 4096;   // 32 KiB, which is not small

std::vector<AlgorithmRow const*> knem_rows() {
    std::vector<AlgorithmRow const*> all;
    for (AlgorithmRow const& row : all_algorithms())
        if (row.family == Family::knem_coll) all.push_back(&row);
    return all;
}

std::uint64_t sum(std::vector<std::uint64_t> const& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}
/// Bytes that all ranks load. Every copy loads its bytes once.
std::uint64_t copied(ThreadWorld const& world) {
    std::uint64_t bytes = 0;
    for (Traffic const& t : world.traffic) bytes += t.loaded.read();
    return bytes;
}

class Knem : public testing::TestWithParam<AlgorithmRow const*> {
protected:
    static std::uint64_t bytes_of(std::int64_t count) { return static_cast<std::uint64_t>(count) * sizeof(double); }
    /// Bytes that ranks copy from their own buffers to their own.
    static std::uint64_t own_bytes(AlgorithmRow const& row, int ranks) {
        if (row.collective == Collective::bcast) return 0;
        bool const one = row.collective == Collective::gather || row.collective == Collective::scatter ||
                         std::string_view(row.name) == "knem_gather_bcast";
        return bytes_of(doubles_each) * static_cast<unsigned>(one ? 1 : ranks);
    }
};
INSTANTIATE_TEST_SUITE_P(Records, Knem, testing::ValuesIn(knem_rows()), [](auto const& info) {
    return std::string(coll::name_of(info.param->collective)) + "_" + info.param->name;
});

TEST_P(Knem, CopiesThroughTheKernelAloneIfAsked) {
    AlgorithmRow const& row = *GetParam();
    for (int ranks : {2, 5, 8}) {
        ThreadWorld by_any(ranks, sockets(ranks, 2)), by_kernel(ranks, sockets(ranks, 2));
        CountedCall call{&row, doubles_each, ranks - 1};
        run_call(by_any, call);
        EXPECT_EQ(sum(by_any.kernel_bytes), 0u) << "buffers are in memory that all ranks access";
        call.parameters = "through=kernel";
        run_call(by_kernel, call);
        EXPECT_EQ(sum(by_kernel.kernel_bytes), copied(by_kernel) - own_bytes(row, ranks));
        EXPECT_EQ(copied(by_kernel), copied(by_any));
        EXPECT_EQ(sum(by_any.staged) + sum(by_kernel.staged), 0u);
    }
}

/// If the system refuses a copy in mid-run, what passes through staging memory is counted.
TEST_P(Knem, StagesWhatTheSystemRefusesToCopy) {
    AlgorithmRow const& row = *GetParam();
    for (AccessPath way : {AccessPath::staged, AccessPath::cma}) {
        ThreadWorld world(5, sockets(5, 2), way);
        CountedCall call{&row, doubles_each};
        call.parameters = "through=kernel";
        run_call(world, call);
        if (way == AccessPath::staged) {
            EXPECT_EQ(sum(world.kernel_bytes), 0u);
            EXPECT_GT(sum(world.staged), 0u);
        } else {
            EXPECT_GT(sum(world.kernel_bytes), 0u) << "two copies of three";
        }
    }
}

TEST_P(Knem, IsLeftOutIfTheSystemCopiesNothingBetweenRanks) {
    CallTraits traits = CallTraits::plain(make_tree(4, 1), 8192, 65536);
    traits.loadable_buffers = false;
    EXPECT_TRUE(traits.suits(*GetParam()));
    traits.loadable_buffers = true, traits.kernel_copies = false;
    EXPECT_FALSE(traits.suits(*GetParam()));
    EXPECT_EQ(unmet_requirement(*GetParam(), traits), "needs copies between ranks by the system (CMA)");
}

TEST_P(Knem, RunsTheNamedBaselineForSmallData) {
    AlgorithmRow const& row = *GetParam();
    auto const small = std::ranges::find(row.parameters, std::string_view("small"), &Parameter::name);
    ASSERT_NE(small, row.parameters.end());
    std::string_view names = small->keywords;
    for (std::int64_t count : {1, 300, 1000})
        for (std::string_view rest = names; !rest.empty();) {
            std::string const name(rest.substr(0, rest.find('|')));
            rest.remove_prefix(std::min(rest.size(), name.size() + 1));
            std::string const parameters = "small=" + name;
            ThreadWorld one(7, sockets(7, 2)), other(7, sockets(7, 2));
            CountedCall call{&row, count, 3};
            call.parameters = parameters.c_str();
            run_call(one, call);
            run_call(other, {&row_of(row.collective, name), count, 3});
            for (std::size_t rank = 0; rank < one.traffic.size(); ++rank) {
                EXPECT_EQ(one.traffic[rank].loaded.read(), other.traffic[rank].loaded.read()) << name;
                EXPECT_EQ(one.traffic[rank].messages[0].read(), other.traffic[rank].messages[0].read()) << name;
            }
            EXPECT_EQ(one.staged, other.staged) << name;
        }
}

/// Fig. 3: rank r copies from r + 1, r + 2, …; in step i, each rank's memory is read by one rank.
TEST(KnemRotated, CopiesInTheOrderOfFigure3) {
    constexpr int ranks = 4;
    for (char const* through : {"through=any", "through=kernel"}) {
        ThreadWorld world(ranks, sockets(ranks, 1));
        std::vector<std::vector<int>> sources(ranks);
        world.locality = [&](int rank, int peer) {   // called once per copy
            sources[static_cast<std::size_t>(rank)].push_back(peer);
            return topo::Locality::cache;
        };
        CountedCall call{&row_of(Collective::alltoall, "knem_rotated"), doubles_each};
        call.parameters = through;
        run_call(world, call);
        EXPECT_THAT(sources, testing::ElementsAre(testing::ElementsAre(1, 2, 3), testing::ElementsAre(2, 3, 0),
                                                  testing::ElementsAre(3, 0, 1), testing::ElementsAre(0, 1, 2)));
    }
}

/// No rank copies before all have described their parts, and none returns before all have copied, whatever their order.
TEST(KnemRotated, BeginsWithAnAllgatherAndEndsWithABarrier) {
    constexpr int ranks = 4;
    for (int turn = 0; turn < 30; ++turn) {
        ThreadWorld world(ranks, sockets(ranks, 1));
        std::vector<std::set<int>> awaited(ranks);
        std::atomic<int> copies = 0;
        world.on_wait = [&](int rank, int peer) { awaited[static_cast<std::size_t>(rank)].insert(peer); };
        world.locality = [&](int rank, int) {   // called once per copy
            ++copies;
            EXPECT_EQ(awaited[static_cast<std::size_t>(rank)].size(), ranks - 1u) << "rank " << rank;
            return topo::Locality::cache;
        };
        CountedCall const call{&row_of(Collective::alltoall, "knem_rotated"), doubles_each};
        run_as_ranks(ranks, [&](int rank) {
            CountedRank(world, call, rank).run();
            EXPECT_EQ(copies, ranks * (ranks - 1)) << "when rank " << rank << " returns";
        });
    }
}

/// A leaf writes its part, and copies the whole result, its own part included.
TEST(KnemGatherBcast, BroadcastsTheWholeResult) {
    constexpr int ranks = 6;
    for (char const* parameters : {"broadcast=linear", "broadcast=pipelined,piece=8K"}) {
        ThreadWorld world(ranks, sockets(ranks, 2));
        CountedCall call{&row_of(Collective::allgather, "knem_gather_bcast"), doubles_each};
        call.parameters = parameters;
        run_call(world, call);
        auto const part = static_cast<std::uint64_t>(doubles_each) * sizeof(double);
        for (int rank = 0; rank < ranks; ++rank)
            EXPECT_EQ(world.traffic[static_cast<std::size_t>(rank)].loaded.read(),
                      part * static_cast<unsigned>(rank == 0 ? 1 : 1 + ranks));
    }
}

/// Runs calls on buffers with gaps: `blocks` blocks of 16 bytes, 48 or 40 bytes apart.
class Gaps {
public:
    Gaps(int ranks, std::int64_t blocks, bool irregular)
        : world(ranks, sockets(ranks, 2)), ranks_(ranks), blocks_(blocks), irregular_(irregular) {}

    /// `root_only`: only the root's buffers have gaps.
    void run(Collective collective, char const* algorithm, char const* through, bool root_only = false) {
        AlgorithmRow const& row = row_of(collective, algorithm);
        CountedCall call{&row, 0};
        call.parameters = through;
        Setting const setting = call.setting();
        run_as_ranks(ranks_, [&](int rank) {
            auto const dense = TypeBuilder::contiguous(16 * blocks_, *TypeBuilder::predefined(Basic::uint8));
            auto const type = root_only && rank != 0 ? dense : with_gaps();
            std::size_t const all = static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(type->extent());
            std::vector<unsigned char> in(all), out(all);
            auto const fill = [&](std::vector<unsigned char>& bytes, std::int64_t part, int value) {
                std::vector<unsigned char> const packed(static_cast<std::size_t>(16 * blocks_),
                                                        static_cast<unsigned char>(value));
                type->unpack(bytes.data() + part * type->extent(), 1, 0, packed.data(), packed.size());
            };
            std::vector<unsigned char> expected = out;
            FramePool frames;
            auto const execute = [&](auto args) {
                args.parameters = setting.values;
                coll::run(world, rank, 1, frames, row, args);
            };
            Parts const parts = Parts::regular(out.data(), 1, *type);
            switch (collective) {
            case Collective::bcast:
                if (rank == 0) fill(out, 0, 42);
                fill(expected, 0, 42);
                execute(BcastArgs{{}, {out.data(), 1, type.get()}, 0});
                break;
            case Collective::gather: {
                fill(in, 0, rank + 1);
                for (int i = 0; rank == 0 && i < ranks_; ++i) fill(expected, i, i + 1);
                RootedArgs args{};
                args.mine = {in.data(), 1, type.get()};
                if (rank == 0) args.parts = parts;
                args.max_part_bytes = args.mine.bytes();
                execute(args);
                break;
            }
            case Collective::allgather:
                fill(in, 0, rank + 1);
                for (int i = 0; i < ranks_; ++i) fill(expected, i, i + 1);
                execute(AllgatherArgs{{}, {in.data(), 1, type.get()}, parts, false, part_bytes()});
                break;
            default: {
                for (int i = 0; i < ranks_; ++i) fill(in, i, 10 * rank + i), fill(expected, i, 10 * i + rank);
                AlltoallArgs args{};
                args.send = Parts::regular(in.data(), 1, *type);
                args.receive = parts;
                args.part_bytes = part_bytes();
                execute(args);
            }
            }
            EXPECT_EQ(out, expected) << row.name << ", rank " << rank;
        });
    }
    std::size_t part_bytes() const { return static_cast<std::size_t>(16 * blocks_); }

    ThreadWorld world;

private:
    Ref<Datatype> with_gaps() const {
        auto const byte = TypeBuilder::predefined(Basic::uint8);
        if (!irregular_) return TypeBuilder::hvector(blocks_, 16, 48, *byte);
        std::vector<std::int64_t> displacements;
        for (std::int64_t i = 0; i < blocks_; ++i) displacements.push_back(48 * i - i % 2 * 8);
        return TypeBuilder::hindexed_block(16, displacements, *byte);
    }

    int const ranks_;
    std::int64_t const blocks_;
    bool const irregular_;
};

/// One call of the system copies up to max_segments segments, on one side or on both. The description of the irregular
/// type is larger than the room for it in staging memory.
TEST(KnemGaps, AreCopiedAsSegmentsByAsFewCallsAsPossible) {
    constexpr int ranks = 4;
    for (auto const& [collective, algorithm, copies] :
         {std::tuple{Collective::bcast, "knem_linear", ranks - 1},
          {Collective::bcast, "knem_pipelined", ranks - 1},
          {Collective::gather, "knem_sender_writing", ranks - 1},
          {Collective::gather, "knem_receiver_reading", ranks - 1},
          {Collective::allgather, "knem_gather_bcast", ranks - 1 + (ranks - 1) * ranks},
          {Collective::allgather, "knem_ring", (ranks - 1) * ranks},
          {Collective::alltoall, "knem_rotated", (ranks - 1) * ranks},
          {Collective::alltoall, "knem_sender_writing", (ranks - 1) * ranks}})
        for (bool irregular : {false, true})
            for (bool root_only : {false, true}) {
                bool const pipelined = std::string_view(algorithm) == "knem_pipelined",
                           from_or_to_root = collective == Collective::bcast || collective == Collective::gather;
                if (root_only && (pipelined || !from_or_to_root)) continue;
                Gaps gaps(ranks, 4 * static_cast<std::int64_t>(max_segments), irregular);
                std::string const pieces = pipelined ? ",piece=1M" : "";
                gaps.run(collective, algorithm, ("through=kernel" + pieces).c_str(), root_only);
                EXPECT_EQ(sum(gaps.world.kernel_calls), 4u * static_cast<unsigned>(copies)) << algorithm;
                EXPECT_EQ(sum(gaps.world.kernel_bytes), gaps.part_bytes() * static_cast<unsigned>(copies)) << algorithm;
                EXPECT_EQ(sum(gaps.world.staged), 0u) << algorithm;
            }
}

/// In memory that all ranks access, no call is needed.
TEST(KnemGaps, AreLoadedAndStoredWherePossible) {
    for (auto const& [collective, algorithm] : {std::pair{Collective::bcast, "knem_linear"},
                                                {Collective::gather, "knem_sender_writing"},
                                                {Collective::allgather, "knem_gather_bcast"},
                                                {Collective::alltoall, "knem_rotated"}}) {
        Gaps gaps(4, 4000, true);
        gaps.run(collective, algorithm, "through=any");
        EXPECT_EQ(sum(gaps.world.kernel_calls) + sum(gaps.world.staged), 0u) << algorithm;
    }
}

}   // namespace
}   // namespace tutti::coll::test
