// SPDX-License-Identifier: BSD-3-Clause
// What of a call must be the same at all members, as far as its rank knows it. What MPI lets differ, and arguments that
// are not significant at a rank, are left out; so is what only two ranks have to agree on (the v and w forms of rooted
// and pairwise collectives, edges of a topology).
#pragma once

#include <algorithm>

#include "coll/env/arguments.hpp"
#include "coll/match/call_record.hpp"
#include "coll/match/functions.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/datatype/signature.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// As RecordedCall has it.
inline std::uint8_t recorded_op(Op const& o) {
    return o.builtin != BuiltinOp::none ? static_cast<std::uint8_t>(o.builtin)
           : o.commutative              ? RecordedCall::users_op
                                        : RecordedCall::users_op_not_commutative;
}

/// The note of one call, filled in by what is known.
class Noted {
public:
    Noted(Comm const& comm, Collective collective, std::uint8_t function) : comm_(comm), collective_(collective) {
        call_.function = function;
        if (function_waits(function)) call_.flags |= RecordedCall::blocking;
    }
    RecordedCall const& call() const { return call_; }

    void add(BarrierArgs const&) {}
    void add(BcastArgs const& args) {
        if (args.root < 0) return;   // beside the root, between groups: knows nothing
        root(args.root);
        amount(args.data.count, args.data.type);
    }
    void add(ReduceArgs const& args) {
        if (args.root < 0) return;   // likewise
        if (collective_ == Collective::reduce) root(args.root);
        op(*args.op);
        amount(args.count, args.type);
    }
    /// The sum of all parts is the same in both groups of an intercommunicator, the parts are not.
    void add(ReduceScatterArgs const& args) {
        op(*args.op);
        amount(args.count, args.type);
        call_.flags |= RecordedCall::in_all;
        if (comm_.inter() || args.count == 0) return;
        for (int n : args.counts) call_.signature = call_.signature * 31 + static_cast<unsigned>(n);
    }
    void add(RootedArgs const& args) {
        if (args.root < 0) return;
        root(args.root);
        if (!args.equal) return;
        Buffer const each = args.parts.empty() ? args.mine : args.parts[0];
        amount(each.count, each.type);
    }
    void add(AllgatherArgs const& args) {
        if (comm_.inter()) return;
        if (args.parts.are_equal()) return amount(args.parts[0].count, args.parts[0].type);
        call_.flags |= RecordedCall::in_all;
        for (int i = 0; i < comm_.size(); ++i) {
            Buffer const part = args.parts[i];
            std::uint64_t const before = call_.bytes, parts = call_.signature;
            amount(part.count, part.type);
            call_.signature = parts * 31 + call_.signature;
            call_.bytes += before;
        }
        if (call_.bytes == 0) call_.signature = 0;
    }
    void add(AlltoallArgs const& args) {
        if (!args.equal || comm_.inter()) return;
        Buffer const each = args.receive[0];
        amount(each.count, each.type);
    }
    void add(NeighborArgs const&) {}

private:
    void root(int rank) {
        call_.flags |= RecordedCall::rooted;
        call_.root = static_cast<std::uint16_t>(std::min(rank, int{UINT16_MAX}));
    }
    void op(Op const& o) { call_.op = recorded_op(o); }
    void amount(std::int64_t count, Datatype const* type) {
        TypeSignature const* const signature = type->signature();
        call_.flags |= RecordedCall::amount_known;
        call_.bytes = static_cast<std::uint64_t>(count * type->size());
        call_.signature = signature ? signature->hash.repeated(count).value : 0;
        if (signature && signature->untyped) call_.flags |= RecordedCall::untyped;
        // Only built-in handles are numbered so that the number fits, and are the same in all ranks.
        auto const handle = static_cast<std::uint32_t>(type->handle);
        call_.type = type->predefined && handle >> 30 == 1 ? static_cast<std::uint8_t>(handle) : 0;
    }

    Comm const& comm_;
    Collective const collective_;
    RecordedCall call_;
};

}   // namespace tutti::coll
