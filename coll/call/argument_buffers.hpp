// SPDX-License-Identifier: BSD-3-Clause
// The program's buffers that the arguments of a collective name, as far as they are significant at this rank: which it
// gives, and which it gets (MPI 4.1, 6.12), for what --check says of them while the operation is pending.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coll/env/arguments.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Calls `each` with what a rank sends, receives, and calls a second time by another name.
template <class Each>
class ArgumentBuffers {
public:
    ArgumentBuffers(Comm const& comm, Collective collective, Each& each)
        : collective_(collective), ranks_(comm.union_group->size()), me_(comm.union_group->rank()),
          own_rank_(comm.rank()), each_(each) {}

    void visit(BarrierArgs&) {}
    void visit(BcastArgs& args) {
        if (args.root < 0) return;   // beside the root, between groups: nothing is significant
        args.root == me_ ? each_.sends(args.data) : each_.receives(args.data);
    }
    void visit(ReduceArgs& args) { reduction(args, args.count); }
    void visit(ReduceScatterArgs& args) {
        bool const own_part = args.in && !args.counts.empty();
        reduction(args, own_part ? args.counts[static_cast<std::size_t>(own_rank_)] : args.count);
    }
    void visit(RootedArgs& args) {
        if (args.root < 0) return;
        bool const gather = collective_ == Collective::gather, at_root = args.root == me_;
        if (!args.in_place_at_root) gather ? each_.sends(args.mine) : each_.receives(args.mine);
        else if (gather && args.mine.bytes() > 0) each_.again(args.mine);
        if (at_root) gather ? each_.receives(args.parts, ranks_) : each_.sends(args.parts, ranks_);
    }
    void visit(AllgatherArgs& args) {
        if (args.is_in_place) each_.again(args.mine);
        else each_.sends(args.mine);
        each_.receives(args.parts, ranks_);
    }
    void visit(AlltoallArgs& args) {
        if (args.is_in_place) each_.again(args.send);
        else each_.sends(args.send, ranks_);
        each_.receives(args.receive, ranks_);
    }
    void visit(NeighborAllgatherArgs& args) {
        if (args.edges->out_degree() > 0) each_.sends(args.mine);
        each_.receives(args.receive, args.edges->in_degree());
    }
    void visit(NeighborAlltoallArgs& args) {
        each_.sends(args.send, args.edges->out_degree());
        each_.receives(args.receive, args.edges->in_degree());
    }

private:
    void reduction(ReduceArgs& args, std::int64_t results) {
        if (args.root < 0) return;
        if (args.in) each_.sends(Buffer{const_cast<void*>(args.in), args.count, args.type});
        if (!args.out || (collective_ == Collective::exscan && me_ == 0 && args.in)) return;
        Buffer out{args.out, results, args.type};
        each_.receives(out);
        args.out = out.address;
    }

    Collective const collective_;
    int const ranks_, me_;   ///< of the union group
    int const own_rank_;     ///< of this rank's own group
    Each& each_;
};

/// Notes all of them.
struct CollectedBuffers {
    std::vector<p2p::Data> sent, received;

    void sends(Buffer const& buffer) { add(sent, buffer); }
    void sends(Parts const& parts, int n) { add(sent, parts, n); }
    void receives(Buffer const& buffer) { add(received, buffer); }
    void receives(Parts const& parts, int n) { add(received, parts, n); }
    void again(Buffer const&) {}
    void again(Parts const&) {}

private:
    using List = std::vector<p2p::Data>;
    static void add(List& list, Buffer const& b) { list.push_back(p2p::Data::of(b.address, b.count, *b.type)); }
    static void add(List& list, Parts const& parts, int n) {
        if (parts.empty() || n == 0) return;
        if (!parts.are_equal()) {
            for (int i = 0; i < n; ++i) add(list, parts[i]);
            return;
        }
        Buffer all = parts[0];
        if (parts.distance() != 0) all.count *= n;   // else it is one for all
        add(list, all);
    }
};

/// Lets what is received come to another place, so many bytes further on.
struct RedirectedBuffers {
    std::ptrdiff_t by;

    void sends(Buffer const&) {}
    void sends(Parts const&, int) {}
    void receives(Buffer& buffer) { buffer.address = moved(buffer.address); }
    void receives(Parts& parts, int) { parts.move_to(moved(parts.base())); }
    void again(Buffer& buffer) { receives(buffer); }
    void again(Parts& parts) { receives(parts, 0); }

private:
    void* moved(void const* address) const {   // as numbers: MPI_BOTTOM is a null pointer
        return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(by));
    }
};

/// The buffers of a call that is going to be started, whose arguments name other memory for what is received where that
/// is laid aside. Null: it has none. What `args` point to must outlive it.
template <class Args>
std::unique_ptr<p2p::OperationBuffers> buffers_of(Comm const& comm, Collective collective, Args& args) {
    CollectedBuffers all;
    ArgumentBuffers(comm, collective, all).visit(args);
    if (all.sent.empty() && all.received.empty()) return nullptr;
    auto buffers = std::make_unique<p2p::OperationBuffers>(p2p::OperationBuffers::Kind::collective, comm.words(),
                                                           std::move(all.sent), std::move(all.received));
    RedirectedBuffers redirected{buffers->lay_aside()};
    if (redirected.by != 0) ArgumentBuffers(comm, collective, redirected).visit(args);
    return buffers;
}

}   // namespace tutti::coll
