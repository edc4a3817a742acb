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

/// Calls a function of `visitor` for every buffer: sends(), receives(), or aliases() for an in-place argument, which
/// names a buffer that another argument names, too.
template <class Visitor>
class ArgumentBuffers {
public:
    ArgumentBuffers(Comm const& comm, Collective collective, Visitor& visitor)
        : collective_(collective), ranks_(comm.union_group->size()), rank_(comm.union_group->rank()),
          own_rank_(comm.rank()), visitor_(visitor) {}

    void visit(BarrierArgs&) {}
    void visit(BcastArgs& args) {
        if (args.root < 0) return;   // non-root rank in the root's group of an intercommunicator: nothing is used
        args.root == rank_ ? visitor_.sends(args.data) : visitor_.receives(args.data);
    }
    void visit(ReduceArgs& args) { reduction(args, args.count); }
    void visit(ReduceScatterArgs& args) {
        bool const own_part = args.in && !args.counts.empty();
        reduction(args, own_part ? args.counts[static_cast<std::size_t>(own_rank_)] : args.count);
    }
    void visit(RootedArgs& args) {
        if (args.root < 0) return;
        bool const gather = collective_ == Collective::gather, at_root = args.root == rank_;
        if (!args.in_place_at_root) gather ? visitor_.sends(args.mine) : visitor_.receives(args.mine);
        else if (gather && args.mine.bytes() > 0) visitor_.aliases(args.mine);
        if (at_root) gather ? visitor_.receives(args.parts, ranks_) : visitor_.sends(args.parts, ranks_);
    }
    void visit(AllgatherArgs& args) {
        if (args.is_in_place) visitor_.aliases(args.mine);
        else visitor_.sends(args.mine);
        visitor_.receives(args.parts, ranks_);
    }
    void visit(AlltoallArgs& args) {
        if (args.is_in_place) visitor_.aliases(args.send);
        else visitor_.sends(args.send, ranks_);
        visitor_.receives(args.receive, ranks_);
    }
    void visit(NeighborAllgatherArgs& args) {
        if (args.edges->out_degree() > 0) visitor_.sends(args.mine);
        visitor_.receives(args.receive, args.edges->in_degree());
    }
    void visit(NeighborAlltoallArgs& args) {
        visitor_.sends(args.send, args.edges->out_degree());
        visitor_.receives(args.receive, args.edges->in_degree());
    }

private:
    void reduction(ReduceArgs& args, std::int64_t results) {
        if (args.root < 0) return;
        if (args.in) visitor_.sends(Buffer{const_cast<void*>(args.in), args.count, args.type});
        if (!args.out || (collective_ == Collective::exscan && rank_ == 0 && args.in)) return;
        Buffer out{args.out, results, args.type};
        visitor_.receives(out);
        args.out = out.address;
    }

    Collective const collective_;
    int const ranks_, rank_;   ///< in the union group
    int const own_rank_;       ///< in this rank's own group
    Visitor& visitor_;
};

/// Collects all buffers.
struct CollectedBuffers {
    std::vector<p2p::Data> sent, received;

    void sends(Buffer const& buffer) { add(sent, buffer); }
    void sends(Parts const& parts, int n) { add(sent, parts, n); }
    void receives(Buffer const& buffer) { add(received, buffer); }
    void receives(Parts const& parts, int n) { add(received, parts, n); }
    void aliases(Buffer const&) {}
    void aliases(Parts const&) {}

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
        if (parts.stride() != 0) all.count *= n;   // otherwise one buffer serves all ranks
        add(list, all);
    }
};

/// Moves every receive buffer by `offset` bytes.
struct RedirectedBuffers {
    std::ptrdiff_t offset;

    void sends(Buffer const&) {}
    void sends(Parts const&, int) {}
    void receives(Buffer& buffer) { buffer.address = moved(buffer.address); }
    void receives(Parts& parts, int) { parts.set_base(moved(parts.base())); }
    void aliases(Buffer& buffer) { receives(buffer); }
    void aliases(Parts& parts) { receives(parts, 0); }

private:
    void* moved(void const* address) const {   // computed as integers, because MPI_BOTTOM is a null pointer
        return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(offset));
    }
};

/// Returns the buffers of a call that is about to start, or null if it has none. Where received data is kept in a
/// shadow copy, `args` are changed to name that memory. What `args` point to must stay valid as long as the
/// result.
template <class Args>
std::unique_ptr<p2p::OperationBuffers> buffers_of(Comm const& comm, Collective collective, Args& args) {
    CollectedBuffers all;
    ArgumentBuffers(comm, collective, all).visit(args);
    if (all.sent.empty() && all.received.empty()) return nullptr;
    auto buffers = std::make_unique<p2p::OperationBuffers>(p2p::OperationBuffers::Kind::collective, comm.description(),
                                                           std::move(all.sent), std::move(all.received));
    RedirectedBuffers redirected{buffers->redirect_receives()};
    if (redirected.offset != 0) ArgumentBuffers(comm, collective, redirected).visit(args);
    return buffers;
}

}   // namespace tutti::coll
