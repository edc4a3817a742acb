// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives that programs repeat, as in a loop: a call on one communicator whose arguments, except the
// buffers, equal those of an earlier call reuses that call's checked arguments, its decision and its record. Buffers
// are checked in every call; unusual or invalid buffers take the full path, which checks every argument and reports
// the error.
//
// Why reuse is correct: an entry is found by the function and by the arguments as the program passed them, and each
// communicator has entries of its own, which are destroyed with it. The other handles among the arguments refer to the
// same objects as before if these are predefined or if no handle has been freed since (Entry::freed). The properties of
// the objects that were checked never change: the layout of a datatype and that it is committed, an operator and the
// types on which it is defined. Properties that can change are read in every call: the error handler and the name when
// an error is raised, and the decision's epoch (DecisionCache). An entry that a running call uses is neither found nor
// replaced, so a call that is made inside another one (by an operator of the program, or by another thread while this
// one waits) never shares it.
//
// Thread rules: all functions need the rank's lock where several threads may call. A running call keeps its entry while
// it releases the lock in a wait.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <variant>

#include "coll/call/collectives.hpp"
#include "mpi_h/collectives/call_forms.hpp"

namespace tutti {

/// What distinguishes the blocking calls on one communicator: the collective, and its arguments except the buffers as
/// the program passed them (counts, handles, root; 0 if there are fewer).
class CallKey {
public:
    CallKey() = default;
    CallKey(coll::Collective collective, int a = 0, int b = 0, int c = 0, int d = 0, int e = 0)
        : words_{pair(static_cast<int>(collective) + 1, a), pair(b, c), pair(d, e)} {}

    bool operator==(CallKey const& other) const {
        return ((words_[0] ^ other.words_[0]) | (words_[1] ^ other.words_[1]) | (words_[2] ^ other.words_[2])) == 0;
    }
    /// Fibonacci hashing of all arguments; the upper bits are the best ones.
    std::uint64_t hash() const {
        return (words_[0] ^ std::rotl(words_[1], 13) ^ std::rotl(words_[2], 29)) * 0x9E37'79B9'7F4A'7C15;
    }

private:
    /// Not by a shift: for that, GCC stores four bytes of an argument and loads eight, on which the processor stalls.
    static std::uint64_t pair(int high, int low) {
        return std::rotl(std::uint64_t{static_cast<std::uint32_t>(high)}, 32) | static_cast<std::uint32_t>(low);
    }

    std::array<std::uint64_t, 3> words_{};   ///< all 0: the key of no call
};

/// The calls of one communicator that have been made lately, in sets of four by their keys. An entry of about 400 bytes
/// is allocated when it is first used. The first entry of a set is the one that was used last, so that a loop finds its
/// calls by one comparison each unless two of them share a set.
class BoundCalls {
public:
    class Entry {
    public:
        /// Returns the call. The entry must have been found, or added, with this type.
        template <class Bound>
        Bound& call() {
            auto* const call = std::get_if<Bound>(&call_);
            if (!call) __builtin_unreachable();   // the key contains the collective, which determines the type
            return *call;
        }

    private:
        friend BoundCalls;

        CallKey key_;
        std::uint64_t freed_ = 0;   ///< the number of freed handles when the call was bound; or one of the constants
        std::variant<std::monostate, BoundCall<coll::BarrierArgs>, BoundCall<coll::BcastArgs>,
                     BoundCall<coll::ReduceArgs>, BoundCall<coll::RootedArgs>, BoundCall<coll::AllgatherArgs>,
                     BoundCall<coll::AlltoallArgs>>
            call_;
    };

    /// Marks an entry as used by a running call during its lifetime.
    class Running {
    public:
        explicit Running(Entry& entry) : entry_(entry), freed_(std::exchange(entry.freed_, running)) {}
        ~Running() { entry_.freed_ = freed_; }
        Running(Running const&) = delete;
        Running& operator=(Running const&) = delete;

    private:
        Entry& entry_;
        std::uint64_t const freed_;
    };

    /// Value of `freed` for calls with predefined objects only, which stay valid when handles are freed.
    static constexpr std::uint64_t predefined_only = ~std::uint64_t{0};

    /// `rebinds`: the caller must bind each call anew and compare it with the entry (TUTTI_DIAGNOSIS=full).
    explicit BoundCalls(bool rebinds) : rebinds_(rebinds) {}
    bool rebinds() const { return rebinds_; }

    /// Returns the entry of an equal call that is still valid and that no running call uses; else null. `freed`:
    /// function that returns the present number of freed handles.
    template <class Freed>
    [[gnu::always_inline]] Entry* find(CallKey const& key, Freed const& freed) {
        Set& set = sets_[index_of(key)];
        Entry* entry = set[0].get();
        if (!entry || entry->key_ != key) [[unlikely]]
            if (!(entry = find_behind_first(set, key))) return nullptr;
        return entry->freed_ == predefined_only || entry->freed_ == freed() ? entry : nullptr;
    }

    /// Stores a call that has just been bound, in place of the call with an equal key or of the one that was used
    /// longest ago in its set. Returns null if running calls use the entries, or if there is no memory.
    template <class Bound>
    Entry* add(CallKey const& key, std::uint64_t freed, Bound const& call) {
        Set& set = sets_[index_of(key)];
        if (!(set[0] && set[0]->key_ == key) && !find_behind_first(set, key)) {
            if (!set.back()) set.back().reset(new (std::nothrow) Entry);
            move_to_front(set, ways - 1);
        }
        Entry* const entry = set[0].get();
        if (!entry || entry->freed_ == running) return nullptr;
        entry->key_ = key;
        entry->freed_ = freed;
        entry->call_.template emplace<Bound>(call);
        return entry;
    }

private:
    static constexpr std::uint64_t running = predefined_only - 1;   ///< value of Entry::freed_
    static constexpr unsigned ways = 4, set_bits = 3;
    using Set = std::array<std::unique_ptr<Entry>, ways>;

    static std::size_t index_of(CallKey const& key) { return key.hash() >> (64 - set_bits); }

    /// Returns the entry with this key and makes it the first of its set; null if there is none.
    [[gnu::noinline]] static Entry* find_behind_first(Set& set, CallKey key) {
        for (unsigned way = 1; way < ways; ++way)
            if (set[way] && set[way]->key_ == key) return move_to_front(set, way);
        return nullptr;
    }
    static Entry* move_to_front(Set& set, unsigned way) {
        std::rotate(set.begin(), set.begin() + way, set.begin() + way + 1);
        return set[0].get();
    }

    std::array<Set, std::size_t{1} << set_bits> sets_;
    bool const rebinds_;
};

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

/// Executes a call that is bound anew, and stores it for later calls with the same key. The arguments are copies, so
/// that those of a reused call can stay in registers.
template <auto bind, class... Arguments>
[[gnu::noinline]] void execute_new(Call& call, CallKey key, Arguments... arguments) {
    auto bound = bind(call, arguments...);
    using Bound = decltype(bound);
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
            return coll::execute(entry->template call<Bound>());
        }
    }
    coll::execute(bound);
}

/// Executes a blocking call: with the objects of an equal call if there is one and `set_buffers`, one of the functions
/// below, can set the buffers in them; otherwise with those that `bind(call, arguments...)` creates. `key`: without the
/// communicator.
template <auto bind, class SetBuffers, class... Arguments>
[[gnu::always_inline]] inline void call_collective(Call& call, MPI_Comm comm, CallKey const& key,
                                                   SetBuffers const& set_buffers, Arguments... arguments) {
    using Bound = decltype(bind(call, arguments...));
    abi::Tables const& tables = call.library_state().tables;
    Comm* const c = tables.comms.find(comm);
    if (BoundCalls* const calls = c ? c->bound_calls.get() : nullptr) [[likely]] {
        BoundCalls::Entry* const entry = calls->find(key, [&] { return tables.freed(); });
        if (entry && set_buffers(entry->template call<Bound>())) [[likely]] {
            if (calls->rebinds()) [[unlikely]]
                compare_with_new(entry->template call<Bound>(), bind(call, arguments...));
            call.error_object = c;
            BoundCalls::Running const running(*entry);
            return coll::execute(entry->template call<Bound>());
        }
    }
    execute_new<bind>(call, key, arguments...);
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
