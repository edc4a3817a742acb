// SPDX-License-Identifier: BSD-3-Clause
// One rank's buffers and arguments for calls of any collective with parts of ints.
#pragma once

#include <memory>
#include <vector>

#include "coll/env/arguments.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/objects/virtual_topology.hpp"

namespace tutti::coll::test {

/// May be shared by ranks that one thread drives: results are then meaningless.
struct IntBuffers {
    IntBuffers(int ranks, int count)
        : mine(static_cast<std::size_t>(count)), out(mine.size() * static_cast<std::size_t>(ranks)), in(out.size()) {}
    std::vector<int> mine, out, in;
};

class IntCalls {
public:
    /// All parts have `count` ints. With gaps, each part of the result is preceded by one unused int, and the calls are
    /// those of the v forms. `buffers` must then have room for `count` + 1 ints per part.
    IntCalls(Comm& comm, int count, IntBuffers& buffers, bool gaps = false)
        : comm_(comm), count_(count), gaps_(gaps), buffers_(buffers), counts_(ranks(), count),
          ring_(CartTopology::make(std::vector{comm.size()}, std::vector{true}, comm.size(), comm.rank())),
          edges_(Neighborhood::of(ring_, comm.rank(), comm.size())), op_(Ref<Op>::adopt(new Op)) {
        op_->builtin = BuiltinOp::sum;
        for (std::size_t r = 0; r < ranks(); ++r) at_.push_back(static_cast<int>(r) * (count + 1) + 1);
    }

    /// Calls f(collective, its arguments). Roots are rank 0.
    template <class F>
    void with(Collective which, F&& f) {
        Buffer const mine{buffers_.mine.data(), count_, type_.get()};
        Parts const out = parts(buffers_.out), in = parts(buffers_.in);
        switch (which) {
        case Collective::barrier: return f(which, BarrierArgs{});
        case Collective::bcast: {
            BcastArgs a{};
            a.data = mine;
            return f(which, a);
        }
        case Collective::gather:
        case Collective::scatter: {
            RootedArgs a{};
            a.mine = mine;
            if (comm_.rank() == 0) a.parts = out;
            a.root = 0;
            a.equal_parts = !gaps_;
            a.max_part_bytes = bytes();
            return f(which, a);
        }
        case Collective::allgather: {
            AllgatherArgs a{};
            a.mine = mine;
            a.parts = in;
            a.max_part_bytes = bytes();
            return f(which, a);
        }
        case Collective::alltoall: {
            AlltoallArgs a{};
            a.send = out;
            a.receive = in;
            a.equal_parts = !gaps_;
            a.part_bytes = bytes();
            return f(which, a);
        }
        case Collective::reduce_scatter: {
            ReduceScatterArgs a{};
            reduction(a, buffers_.out.data(), static_cast<std::int64_t>(count_) * comm_.size());
            a.counts = counts_;
            return f(which, a);
        }
        case Collective::neighbor_allgather: {
            NeighborAllgatherArgs a{};
            a.mine = mine;
            neighborhood(a, in);
            return f(which, a);
        }
        case Collective::neighbor_alltoall: {
            NeighborAlltoallArgs a{};
            a.send = out;
            neighborhood(a, in);
            return f(which, a);
        }
        default: {
            ReduceArgs a{};
            reduction(a, buffers_.mine.data(), count_);
            return f(which, a);
        }
        }
    }

private:
    std::size_t ranks() const { return static_cast<std::size_t>(comm_.size()); }
    std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(int); }
    Parts parts(std::vector<int>& all) const {
        return gaps_ ? Parts::irregular(all.data(), counts_.data(), at_.data(), *type_)
                     : Parts::regular(all.data(), count_, *type_);
    }
    void reduction(ReduceArgs& a, int* in, std::int64_t count) {
        a.in = in;
        a.out = buffers_.in.data();
        a.count = count;
        a.type = type_.get();
        a.op = op_.get();
    }
    void neighborhood(NeighborArgs& a, Parts const& in) {
        a.edges = edges_.get();
        a.receive = in;
        a.equal_parts = !gaps_;
        a.part_bytes = bytes();
    }

    Comm& comm_;
    int count_;
    bool gaps_;
    IntBuffers& buffers_;
    std::vector<int> counts_, at_;
    Ref<Datatype> type_ = TypeBuilder::predefined(Basic::int32);
    VirtualTopology ring_;
    std::unique_ptr<Neighborhood const> edges_;
    Ref<Op> op_;
};

}   // namespace tutti::coll::test
