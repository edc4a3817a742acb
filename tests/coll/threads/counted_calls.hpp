// SPDX-License-Identifier: BSD-3-Clause
// Calls of every collective by ranks that are fibers, for tests that compare what the ranks count: bytes loaded and
// stored, bytes staged, bytes stored past the cache.
#pragma once

#include <gtest/gtest.h>

#include "coll/blocks/reducer.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/threads/ranks.hpp"
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll::test {

/// p ranks on m sockets of consecutive ranks. Where m does not divide p, some sockets have one rank more than others.
inline topo::Hierarchy sockets(int p, int m) {
    topo::Grouping g{"socket", {}};
    for (int r = 0; r < p; ++r) g.group.push_back(r * m / p);
    return topo::Hierarchy::build(p, std::vector{g});
}

inline bool reduces(Collective c) {
    return c == Collective::reduce || c == Collective::allreduce || c == Collective::reduce_scatter;
}

inline bool is_neighborhood(Collective c) {
    return c == Collective::neighbor_allgather || c == Collective::neighbor_alltoall;
}

enum class ParameterValues { usual, others };

struct CountedCall {
    AlgorithmRow const* row;
    std::int64_t count;   ///< doubles of the message
    int root = 0;
    bool in_place = false;   ///< reductions only
    Copier::Stores stores = Copier::Stores::automatic;
    ParameterValues values = ParameterValues::usual;
    bool ring = true;   ///< neighbourhoods: ranks in a ring, with edges to themselves; otherwise in a row with two ends
    char const* parameters = "";   ///< values that precede those, as in settings

    /// The parameters' defaults, but slices so small that there are several; or other values: 2 KiB, 3 children, ranks
    /// or levels, and the next keyword.
    Setting setting() const {
        Setting setting = defaults(*row);
        for (std::size_t i = 0; i < row->parameters.size(); ++i) {
            Parameter const& p = row->parameters[i];
            using enum ParameterKind;
            if (values == ParameterValues::usual) {
                if (std::string(p.name) == "slice") setting.values.set(i, 8192);
            } else if (p.kind == keyword) {
                std::string_view const all = p.keywords;
                auto const count = static_cast<std::size_t>(std::ranges::count(all, '|')) + 1;
                setting.values.set(i, (setting.values[i] + 1) % count);
            } else if (p.kind != hierarchy) {
                setting.values.set(i, p.kind == number || p.kind == numbers ? 3 : 2048);
            }
        }
        std::vector<std::string> diagnostics;
        if (*parameters) parse_parameters(parameters, setting, "the test", diagnostics);
        EXPECT_TRUE(diagnostics.empty()) << diagnostics.front();
        return setting;
    }
    std::unique_ptr<Neighborhood const> neighborhood(int rank, int ranks) const {
        std::vector<int> const torus{ranks, 1}, line{ranks};
        return Neighborhood::of(ring ? CartTopology::make(torus, {true, true}, ranks, rank)
                                     : CartTopology::make(line, {false}, ranks, rank),
                                rank, ranks);
    }
};

/// One rank of a call.
class CountedRank {
public:
    CountedRank(ThreadWorld& world, CountedCall const& call, int rank)
        : world_(world), call_(call), rank_(rank), ranks_(world.area.members()), setting_(call.setting()),
          in_(static_cast<std::size_t>(call.count * std::max(ranks_, 4)), rank + 1.0), out_(in_) {}

    void run() {
        switch (call_.row->collective) {
        case Collective::barrier: return execute(BarrierArgs{});
        case Collective::bcast: return execute(BcastArgs{{}, {in_.data(), call_.count, real_.get()}, call_.root});
        case Collective::gather:
        case Collective::scatter: {
            RootedArgs args{};
            args.mine = mine();
            if (rank_ == call_.root) args.parts = parts(out_);
            args.root = call_.root;
            args.equal_parts = true;
            args.max_part_bytes = args.mine.bytes();
            return execute(args);
        }
        case Collective::allgather: return execute(AllgatherArgs{{}, mine(), parts(out_), false, mine().bytes()});
        case Collective::alltoall: {
            AlltoallArgs args{};
            args.send = parts(in_);
            args.receive = parts(out_);
            args.equal_parts = true;
            args.part_bytes = mine().bytes();
            return execute(args);
        }
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall: {
            auto const edges = call_.neighborhood(rank_, ranks_);
            NeighborArgs common{};
            common.edges = edges.get();
            common.receive = parts(out_);
            common.part_bytes = mine().bytes();
            if (call_.row->collective == Collective::neighbor_allgather)
                return execute(NeighborAllgatherArgs{common, mine()});
            return execute(NeighborAlltoallArgs{common, parts(in_)});
        }
        case Collective::reduce_scatter: return reduce<ReduceScatterArgs>();
        default: return reduce<ReduceArgs>();
        }
    }

private:
    Buffer mine() { return {in_.data(), call_.count, real_.get()}; }
    Parts parts(std::vector<double>& of) { return Parts::regular(of.data(), call_.count, *real_); }

    template <class Args>
    void execute(Args args) {
        args.parameters = setting_.values;
        FramePool frames;
        coll::run(world_, rank_, 1, frames, *call_.row, args);
    }
    template <class Args>
    void reduce() {
        Op sum;
        sum.builtin = BuiltinOp::sum;
        std::vector<int> const counts(static_cast<std::size_t>(ranks_), static_cast<int>(call_.count / ranks_));
        Args args{};
        bool const in_place = call_.in_place && (call_.row->collective != Collective::reduce || rank_ == call_.root);
        args.in = in_place ? coll::in_place : in_.data();
        args.out = out_.data();
        args.count = call_.count;
        args.type = real_.get();
        args.op = &sum;
        args.root = call_.root;
        find_kernels(args);
        if constexpr (std::is_same_v<Args, ReduceScatterArgs>) args.counts = counts;
        execute(args);
        bool const has_result = call_.row->collective != Collective::reduce || rank_ == call_.root;
        if (reduces(call_.row->collective) && has_result) { EXPECT_EQ(out_[0], ranks_ * (ranks_ + 1) / 2.0); }
    }

    ThreadWorld& world_;
    CountedCall const& call_;
    int const rank_, ranks_;
    Setting const setting_;
    Ref<Datatype> const real_ = TypeBuilder::predefined(Basic::float64);
    std::vector<double> in_, out_;
};

inline void run_call(ThreadWorld& world, CountedCall const& call) {
    run_as_ranks(world.area.members(), [&](int rank) { CountedRank(world, call, rank).run(); });
}

/// Bytes that all ranks load and store.
inline std::uint64_t volume(ThreadWorld& world, CountedCall const& call) {
    world.copier = Copier({}, call.stores);
    run_call(world, call);
    std::uint64_t bytes = 0;
    for (Traffic const& t : world.traffic) bytes += t.loaded.read() + t.stored.read();
    return bytes;
}
inline std::uint64_t volume(Collective collective, char const* algorithm, std::int64_t count, int p,
                            bool in_place = false) {
    ThreadWorld world(p, sockets(p, 1));
    return volume(world, {&row_of(collective, algorithm), count, 0, in_place});
}

}   // namespace tutti::coll::test
