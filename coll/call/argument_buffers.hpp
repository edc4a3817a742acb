// SPDX-License-Identifier: BSD-3-Clause
// The program's buffers named by the arguments of a collective, as far as they are significant at this rank: those that
// it sends and those that it receives (MPI 4.1, 6.12). --check uses them to find accesses while an operation is
// pending.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coll/env/arguments.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Calls a function of `each` for every buffer: sends(), receives(), or again() for an in-place argument, which names a
/// buffer that another argument names, too.
template <class Each>
class ArgumentBuffers {
public:
    ArgumentBuffers(Comm const& comm, Collective collective, Each& each)
        : collective_(collective), ranks_(comm.union_group->size()), me_(comm.union_group->rank()),
          own_rank_(comm.rank()), each_(each) {}

    void visit(BarrierArgs&) {}
    void visit(BcastArgs& args) {
        if (args.root < 0) return;   // non-root rank in the root's group of an intercommunicator: nothing is used
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
    int const ranks_, me_;   ///< in the union group
    int const own_rank_;     ///< in this rank's own group
    Each& each_;
};

/// Collects all buffers.
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
        if (parts.distance() != 0) all.count *= n;   // otherwise one buffer serves all ranks
        add(list, all);
    }
};

/// Moves every receive buffer by `by` bytes.
struct RedirectedBuffers {
    std::ptrdiff_t by;

    void sends(Buffer const&) {}
    void sends(Parts const&, int) {}
    void receives(Buffer& buffer) { buffer.address = moved(buffer.address); }
    void receives(Parts& parts, int) { parts.move_to(moved(parts.base())); }
    void again(Buffer& buffer) { receives(buffer); }
    void again(Parts& parts) { receives(parts, 0); }

private:
    void* moved(void const* address) const {   // computed as integers, because MPI_BOTTOM is a null pointer
        return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(by));
    }
};

/// Returns the buffers of a call that is about to start, or null if it has none. Where received data is kept in a
/// shadow copy, `args` are changed to name that memory. What `args` point to must outlive the result.
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
