// SPDX-License-Identifier: BSD-3-Clause
// What a request must keep because its arguments point to it. The program may free an operator or a datatype while an
// operation that uses it is under way (MPI 3.1, 2.5.1 and 5.12). Lists of counts, displacements and types it should
// leave alone until the end (MPI 4.0, 6.12), yet other libraries copy them and callers free them: so they are copied.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "coll/call/collectives.hpp"

namespace tutti::coll {

/// Memory for copies of lists: in here when they are short, so that most requests allocate nothing for it.
class ListMemory {
public:
    std::byte* of(std::size_t bytes) {
        if (bytes <= sizeof here_) return here_;
        elsewhere_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        return elsewhere_.get();
    }

private:
    alignas(void*) std::byte here_[256];   ///< counts and displacements of 32 ranks, or of 16 to send and to receive
    std::unique_ptr<std::byte[]> elsewhere_;
};

/// Keeps what `args` point to, and lets them point to copies where that is the program's.
template <class Args>
class ArgumentReferences {
public:
    ArgumentReferences(Comm const& comm, Args& args) { keep(args, comm.union_group->size()); }

private:
    struct None {};
    static constexpr bool lists =
        !std::is_same_v<Args, BarrierArgs> && !std::is_same_v<Args, BcastArgs> && !std::is_same_v<Args, ReduceArgs>;

    static Ref<Datatype> share(Datatype const* type) { return Ref<Datatype>::share(const_cast<Datatype*>(type)); }

    void keep(BarrierArgs&, int) {}
    void keep(BcastArgs& args, int) { first_ = share(args.data.type); }
    void keep(ReduceArgs& args, int) {
        first_ = share(args.type);
        op_ = Ref<Op>::share(const_cast<Op*>(args.op));
    }
    void keep(ReduceScatterArgs& args, int ranks) {
        keep(static_cast<ReduceArgs&>(args), ranks);
        std::span<int const> const given = args.counts;
        if (given.empty()) return;
        args.counts = {static_cast<int*>(std::memcpy(memory_.of(given.size_bytes()), given.data(), given.size_bytes())),
                       given.size()};
    }
    void keep(RootedArgs& args, int ranks) { keep_sides(&args.mine, {{args.parts, ranks}}); }
    void keep(AllgatherArgs& args, int ranks) { keep_sides(&args.mine, {{args.parts, ranks}}); }
    void keep(AlltoallArgs& args, int ranks) { keep_sides(nullptr, {{args.send, ranks}, {args.receive, ranks}}); }
    void keep(NeighborAllgatherArgs& args, int) { keep_sides(&args.mine, {{args.receive, args.edges->in_degree()}}); }
    void keep(NeighborAlltoallArgs& args, int) {
        keep_sides(nullptr, {{args.send, args.edges->out_degree()}, {args.receive, args.edges->in_degree()}});
    }

    struct Side {
        Parts& parts;
        int all;
    };
    void keep_sides(Buffer const* mine, std::initializer_list<Side> sides) {
        if (mine) first_ = share(mine->type);
        std::size_t bytes = 0;
        for (Side const& side : sides) {
            bytes += side.parts.list_bytes(side.all);
            if (side.parts.type()) (first_ ? second_ : first_) = share(side.parts.type());
            for (Datatype const* type : side.parts.types(side.all)) listed_.push_back(share(type));
        }
        std::byte* memory = bytes > 0 ? memory_.of(bytes) : nullptr;
        for (Side const& side : sides) {
            side.parts.copy_lists(side.all, memory);
            memory += side.parts.list_bytes(side.all);
        }
    }

    Ref<Op> op_;
    Ref<Datatype> first_, second_;
    std::vector<Ref<Datatype>> listed_;
    [[no_unique_address]] std::conditional_t<lists, ListMemory, None> memory_;
};

}   // namespace tutti::coll
