// SPDX-License-Identifier: BSD-3-Clause
// Repeated blocking collectives: a call whose arguments, except the buffers, equal those of a recent call, as in a
// loop, reuses that call's checked arguments and objects.
//
// Why reuse is correct: the objects of a call are stored with its arguments as the program passed them, and with the
// number of handles freed by then (abi::Tables::freed). While no handle is freed, each handle refers to the same
// object, and the checked properties of objects never change: the members of a communicator, the layout of a datatype
// and that it is committed, an operator and the types it is defined on. Properties that can change are read in every
// call: the error handler and the name when an error is raised, the choice of the algorithm by coll::run. Buffers are
// checked in every call; unusual or invalid buffers take the full path, which checks every argument and reports the
// error. An entry belongs to the call that runs with it; if several threads may call, nothing is reused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "mpi_h/collectives/call_forms.hpp"

namespace tutti {

/// Recent calls of one collective, on a few communicators and with a few roots. `n`: number of arguments that are not
/// buffers.
template <class Bound, std::size_t n>
class RecentCalls {
public:
    using Arguments = std::array<int, n>;   ///< these arguments; the communicator is the first, a root the last one
    class Running;

    /// The objects of one call.
    class Entry {
    public:
        /// Returns true if the entry is valid for these arguments. `freed`: the present number of freed handles.
        bool matches(Arguments const& arguments, std::uint64_t freed) const {
            return freed == freed_ && same(arguments, std::make_index_sequence<n>());
        }
        /// Returns true while a call runs with the entry.
        bool in_use() const { return freed_ == in_use_mark; }
        Bound& bound() { return *bound_; }
        Bound& make(Arguments const& arguments, Bound const& what) {
            arguments_ = arguments;
            return bound_.emplace(what);
        }

    private:
        friend Running;
        static constexpr std::uint64_t unusable = ~std::uint64_t{0}, in_use_mark = unusable - 1;   ///< values of freed_

        template <std::size_t... i>
        bool same(Arguments const& arguments, std::index_sequence<i...>) const {
            return ((arguments[i] == arguments_[i]) && ...);
        }

        std::uint64_t freed_ = unusable;
        Arguments arguments_{};
        std::optional<Bound> bound_;
    };
    /// Marks an entry as used by a running call, so that a nested call (by an operator of the program) does not use it.
    class Running {
    public:
        Running(Entry& entry, std::uint64_t freed) : entry_(entry), freed_(freed) {
            entry_.freed_ = Entry::in_use_mark;
        }
        Running(Running const&) = delete;
        Running& operator=(Running const&) = delete;
        ~Running() { entry_.freed_ = freed_; }

    private:
        Entry& entry_;
        std::uint64_t const freed_;
    };

    /// Returns the entry for these arguments: by the communicator (predefined ones differ from others in the upper
    /// bits) and by the last argument, which is the root if there is one.
    Entry& entry_for(Arguments const& arguments) {
        auto const comm = static_cast<unsigned>(arguments.front()), last = static_cast<unsigned>(arguments.back());
        return entries_[((comm ^ comm >> 30) + 3 * last) % entry_count];
    }

private:
    static constexpr unsigned entry_count = 8;
    std::array<Entry, entry_count> entries_;
};

/// Recent calls of all collectives that reuse them.
struct RecentCollectives {
    RecentCalls<BoundCall<coll::BarrierArgs>, 1> barrier;
    RecentCalls<BoundCall<coll::BcastArgs>, 4> bcast;
    RecentCalls<BoundCall<coll::ReduceArgs>, 5> reduce;
    RecentCalls<BoundCall<coll::ReduceArgs>, 4> allreduce, scan;
    RecentCalls<BoundCall<coll::RootedArgs>, 6> gather, scatter;
    RecentCalls<BoundCall<coll::AllgatherArgs>, 5> allgather;
    RecentCalls<BoundCall<coll::AlltoallArgs>, 5> alltoall;
};

/// Runs a blocking call: with a recent call's objects if `set_buffers`, one of the functions below, can set the buffers
/// in them, otherwise with those that bind() creates. Calls on intercommunicators are never reused, because their
/// buffers have other meanings.
template <class Args, std::size_t n, class SetBuffers, class Bind>
[[gnu::always_inline]] inline void run(Call& call, RecentCalls<BoundCall<Args>, n> RecentCollectives::*which,
                                       std::type_identity_t<std::array<int, n>> const& arguments,
                                       SetBuffers const& set_buffers, Bind const& bind) {
    using Recent = RecentCalls<BoundCall<Args>, n>;
    LibraryState& f = call.library_state();
    if (!f.recent_collectives) [[unlikely]] {
        if (f.process->lock.is_enabled()) return run(call, bind());   // several threads may call
        f.recent_collectives = std::make_shared<RecentCollectives>();
    }
    typename Recent::Entry& recent = ((*f.recent_collectives).*which).entry_for(arguments);
    std::uint64_t const freed = f.tables.freed();
    if (recent.matches(arguments, freed) && recent.bound().args.first_group_size == 0 && set_buffers(recent.bound()))
        [[likely]] {
        call.error_object = &recent.bound().comm;
        typename Recent::Running const running(recent, freed);
        return coll::run(recent.bound());
    }
    BoundCall<Args> made = bind();
    made.function = call.function;
    if (recent.in_use()) return coll::run(made);
    BoundCall<Args>& kept = recent.make(arguments, made);
    typename Recent::Running const running(recent, freed);
    coll::run(kept);
}

// --- Setting the buffers of a recent call; false: they are unusual or invalid ---------------------------------------

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
