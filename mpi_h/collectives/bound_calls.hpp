// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives that programs repeat: a call with the arguments of an earlier one reuses that call's checked
// arguments and objects (coll/call/bound_calls.hpp, with the argument why that is correct). Buffers are checked in
// every call; unusual or invalid buffers take the full path, which checks every argument and reports the error.
#pragma once

#include "coll/call/bound_calls.hpp"
#include "mpi_h/collectives/call_forms.hpp"

namespace tutti {

using coll::BoundCalls;
using coll::CallKey;

/// Returns true if the call refers only to predefined datatypes and operators, which are never freed.
inline bool uses_predefined_only(coll::BarrierArgs const&) { return true; }
inline bool uses_predefined_only(coll::BcastArgs const& args) { return args.data.type->predefined; }
inline bool uses_predefined_only(coll::ReduceArgs const& args) {
    return args.type->predefined && args.op->builtin != BuiltinOp::none;
}
inline bool uses_predefined_only(coll::Parts const& parts) { return parts.empty() || parts.type()->predefined; }
inline bool uses_predefined_only(coll::RootedArgs const& args) {
    return (!args.mine.type || args.mine.type->predefined) && uses_predefined_only(args.parts);
}
inline bool uses_predefined_only(coll::AllgatherArgs const& args) {
    return (!args.mine.type || args.mine.type->predefined) && uses_predefined_only(args.parts);
}
inline bool uses_predefined_only(coll::AlltoallArgs const& args) {
    return uses_predefined_only(args.send) && uses_predefined_only(args.receive);
}

/// TUTTI_DIAGNOSIS=full: ends the job if a call that is about to be reused differs from the one bound anew.
template <class Args>
void compare_with_new(BoundCall<Args> const& reused, BoundCall<Args> bound) {
    bound.args.parameters = reused.args.parameters;   // set when the call was executed
    if constexpr (requires { bound.args.kernels; }) bound.args.kernels = reused.args.kernels;
    if (&bound.comm != &reused.comm || bound.collective != reused.collective || !(bound.args == reused.args))
        fail(ErrorClass::intern, "a repeated call differs from the call that it reuses; please report this error");
}

/// Executes a call with newly bound arguments, and stores them for later calls with the same key.
template <class Args, class Bind>
[[gnu::noinline]] void execute_new(Call& call, CallKey key, Bind const& bind) {
    BoundCall<Args> bound = bind();
    bound.function = call.function;
    std::shared_ptr<BoundCalls>& calls = bound.comm.bound_calls;
    bound.comm.process.rank_state().traffic.bound_calls.add(1);
    // The buffers of calls on intercommunicators have other meanings.
    if (bound.args.first_group_size == 0) {
        if (!calls) calls = std::make_shared<BoundCalls>(coll::state_of(bound.comm).records.compares_each_call());
        std::uint64_t const freed =
            uses_predefined_only(bound.args) ? BoundCalls::predefined_only : call.library_state().tables.freed();
        if (BoundCalls::Entry* const entry = calls->add(key, freed, bound)) {
            BoundCalls::Running const running(*entry);
            return coll::execute(entry->call<Args>());
        }
    }
    coll::execute(bound);
}

/// Executes a blocking call: with the objects of an equal call if there is one and `set_buffers`, one of the functions
/// below, can set the buffers in them; otherwise with those that bind() creates. `key`: without the communicator.
template <class Args, class SetBuffers, class Bind>
[[gnu::always_inline]] inline void call_collective(Call& call, MPI_Comm comm, CallKey const& key,
                                                   SetBuffers const& set_buffers, Bind const& bind) {
    abi::Tables const& tables = call.library_state().tables;
    Comm* const c = tables.comms.find(comm);
    if (BoundCalls* const calls = c ? c->bound_calls.get() : nullptr) [[likely]] {
        BoundCalls::Entry* const entry = calls->find(key, [&] { return tables.freed(); });
        if (entry && set_buffers(entry->call<Args>())) [[likely]] {
            if (calls->rebinds()) [[unlikely]]
                compare_with_new(entry->call<Args>(), bind());
            call.error_object = c;
            BoundCalls::Running const running(*entry);
            return coll::execute(entry->call<Args>());
        }
    }
    execute_new<Args>(call, key, bind);
}

// --- Setting the buffers of a reused call; false: they are unusual or invalid ---------------------------------------

inline constexpr auto no_buffers = [](auto&) { return true; };

inline bool set_operand(coll::ReduceArgs& args, void const* send, void const* receive) {
    bool const in_place = is_in_place(send);
    if (send == receive || (Call::no_address(send) && !in_place)) return false;
    args.in = in_place ? coll::in_place : send;
    return true;
}
inline auto reduction_buffers(void const* send, void* receive) {
    return [=](BoundCall<coll::ReduceArgs>& bound) {
        if (Call::no_address(receive) || !set_operand(bound.args, send, receive)) return false;
        bound.args.out = receive;
        return true;
    };
}
/// The result buffer is not checked on ranks without a result.
inline auto reduce_buffers(void const* send, void* receive) {
    return [=](BoundCall<coll::ReduceArgs>& bound) {
        if (bound.args.out) return reduction_buffers(send, receive)(bound);
        bound.args.in = send;
        return !Call::no_address(send);
    };
}

inline bool set_buffer(coll::Buffer& buffer, void const* address) {
    buffer.address = const_cast<void*>(address);
    return !Call::no_address(address);
}
inline auto bcast_buffer(void* address) {
    return [=](BoundCall<coll::BcastArgs>& bound) { return set_buffer(bound.args.data, address); };
}
/// Sets all parts, and the own part: separate, or in place among them.
inline bool set_parts(coll::Parts& parts, void const* all, coll::Buffer& mine, void const* own, int rank,
                      bool in_place) {
    if (Call::no_address(all) || in_place != is_in_place(own)) return false;
    parts.set_base(all);
    void* const in_place_address = parts[rank].address;
    if (!in_place) return own != in_place_address && set_buffer(mine, own);
    mine.address = in_place_address;
    return true;
}
/// `own`: the own part of a gather or scatter; `all`: all parts, at the root.
inline auto rooted_buffers(void const* own, void const* all) {
    return [=](BoundCall<coll::RootedArgs>& bound) {
        coll::RootedArgs& args = bound.args;
        if (args.parts.empty()) return set_buffer(args.mine, own);   // not at the root
        return set_parts(args.parts, all, args.mine, own, args.root, args.in_place_at_root);
    };
}
inline auto allgather_buffers(void const* send, void const* receive) {
    return [=](BoundCall<coll::AllgatherArgs>& bound) {
        coll::AllgatherArgs& args = bound.args;
        return set_parts(args.parts, receive, args.mine, send, bound.comm.rank(), args.is_in_place);
    };
}
inline auto alltoall_buffers(void const* send, void const* receive) {
    return [=](BoundCall<coll::AlltoallArgs>& bound) {
        coll::AlltoallArgs& args = bound.args;
        if (Call::no_address(receive) || args.is_in_place != is_in_place(send)) return false;
        args.receive.set_base(receive);
        args.send.set_base(args.is_in_place ? receive : send);
        if (args.is_in_place) return true;
        int const rank = bound.comm.rank();
        return !Call::no_address(send) && args.send[rank].address != args.receive[rank].address;
    };
}

}   // namespace tutti
