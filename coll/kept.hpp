// SPDX-License-Identifier: BSD-3-Clause
// What a request must keep alive because its arguments point to it: the program may free an operator or a datatype
// while an operation that uses it is under way (MPI 3.1, 2.5.1 and 5.12).
#pragma once

#include <vector>

#include "coll/collectives.hpp"

namespace tutti::coll {

class Kept {
public:
    template <class Args>
    Kept(Args const& args, Lists&& lists) : lists_(std::move(lists)) {
        for (auto const* list : {&lists_.send_types, &lists_.receive_types})
            for (Datatype const* type : *list) listed_.push_back(share(type));
        keep(args);
    }

private:
    static Ref<Datatype> share(Datatype const* type) { return Ref<Datatype>::share(const_cast<Datatype*>(type)); }

    void keep(BarrierArgs const&) {}
    void keep(BcastArgs const& args) { first_ = share(args.data.type); }
    void keep(ReduceArgs const& args) {
        first_ = share(args.type);
        op_ = Ref<Op>::share(const_cast<Op*>(args.op));
    }
    void keep(RootedArgs const& args) { first_ = share(args.mine.type), second_ = share(args.parts.type()); }
    void keep(AllgatherArgs const& args) { first_ = share(args.mine.type), second_ = share(args.parts.type()); }
    void keep(AlltoallArgs const& args) { first_ = share(args.send.type()), second_ = share(args.receive.type()); }
    void keep(NeighborAllgatherArgs const& args) {
        first_ = share(args.mine.type), second_ = share(args.receive.type());
    }
    void keep(NeighborAlltoallArgs const& args) {
        first_ = share(args.send.type()), second_ = share(args.receive.type());
    }

    Ref<Op> op_;
    Ref<Datatype> first_, second_;
    std::vector<Ref<Datatype>> listed_;
    Lists lists_;
};

}  // namespace tutti::coll
