// SPDX-License-Identifier: BSD-3-Clause
// Repeated blocking calls on one communicator: a call whose arguments, except the buffers, equal those of an earlier
// call, as in a loop, reuses that call's checked arguments, its decision and its record.
//
// Why reuse is correct: an entry is found by the function and by the arguments as the program passed them, and each
// communicator has entries of its own, which are destroyed with it. The other handles among the arguments refer to the
// same objects as before if these are predefined or if no handle has been freed since (Entry::freed). The properties of
// the objects that were checked never change: the layout of a datatype and that it is committed, an operator and the
// types on which it is defined. Properties that can change are read in every call: the error handler and the name when
// an error is raised, and the decision's epoch (DecisionCache). The caller of find() sets the buffers, which it checks
// in every call. An entry that a running call uses is neither found nor replaced, so a call that is made inside another
// one (by an operator of the program, or by another thread while this one waits) never shares it.
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

namespace tutti::coll {

/// What distinguishes the blocking calls on one communicator: the collective, and its arguments except the buffers as
/// the program passed them (counts, handles, root; 0 if there are fewer).
class CallKey {
public:
    CallKey() = default;
    CallKey(Collective collective, int a = 0, int b = 0, int c = 0, int d = 0, int e = 0)
        : words_{pair(static_cast<int>(collective) + 1, a), pair(b, c), pair(d, e)} {}

    bool operator==(CallKey const& other) const {
        return ((words_[0] ^ other.words_[0]) | (words_[1] ^ other.words_[1]) | (words_[2] ^ other.words_[2])) == 0;
    }
    /// Fibonacci hashing of all arguments; the upper bits are the best ones.
    std::uint64_t hash() const {
        return (words_[0] ^ std::rotl(words_[1], 13) ^ std::rotl(words_[2], 29)) * 0x9E37'79B9'7F4A'7C15;
    }

private:
    static std::uint64_t pair(int high, int low) {
        return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
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
        /// Returns the call. The entry must have been found, or set, with this type.
        template <class Args>
        BoundCall<Args>& call() {
            auto* const call = std::get_if<BoundCall<Args>>(&call_);
            if (!call) __builtin_unreachable();   // the key contains the collective, which determines the type
            return *call;
        }

    private:
        friend BoundCalls;

        CallKey key_;
        std::uint64_t freed_ = 0;   ///< the number of freed handles when the call was bound; or one of the constants
        std::variant<std::monostate, BoundCall<BarrierArgs>, BoundCall<BcastArgs>, BoundCall<ReduceArgs>,
                     BoundCall<RootedArgs>, BoundCall<AllgatherArgs>, BoundCall<AlltoallArgs>>
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
    template <class Args>
    Entry* add(CallKey const& key, std::uint64_t freed, BoundCall<Args> const& call) {
        Set& set = sets_[index_of(key)];
        if (!(set[0] && set[0]->key_ == key) && !find_behind_first(set, key)) {
            if (!set.back()) set.back().reset(new (std::nothrow) Entry);
            move_to_front(set, ways - 1);
        }
        Entry* const entry = set[0].get();
        if (!entry || entry->freed_ == running) return nullptr;
        entry->key_ = key;
        entry->freed_ = freed;
        entry->call_.template emplace<BoundCall<Args>>(call);
        return entry;
    }

private:
    static constexpr std::uint64_t running = predefined_only - 1;   ///< value of Entry::freed_
    static constexpr unsigned ways = 4, set_bits = 3;
    using Set = std::array<std::unique_ptr<Entry>, ways>;

    static std::size_t index_of(CallKey const& key) { return key.hash() >> (64 - set_bits); }

    /// Returns the entry with this key and makes it the first of its set; null if there is none.
    [[gnu::noinline]] static Entry* find_behind_first(Set& set, CallKey const& key) {
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

}   // namespace tutti::coll
