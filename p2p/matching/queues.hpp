// SPDX-License-Identifier: BSD-3-Clause
// Finding the receive for a message and the message for a receive. A key is (context, source, tag); a receive's key
// may hold wildcards. Entries wait in queues, one per key, found by hashing: a look-up costs the same with one entry
// or thousands. Order: each queue is first in, first out; between queues the sequence number of the entry decides.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "runtime/objects/request.hpp"

namespace tutti::p2p {

/// In a context: of messages for which a receive of any source always waits (rma/messages/).
inline constexpr std::uint64_t service_context = 1ULL << 61;

struct Key {
    std::uint64_t context = 0;
    std::int32_t source = 0;
    std::int32_t tag = 0;

    /// Neither of a service nor of the library itself (p2p/p2p.hpp: Flavour).
    bool of_program() const { return !of_service() && context >> 63 == 0; }
    bool of_service() const { return (context & service_context) != 0; }

    bool operator==(Key const&) const = default;
    /// True when a receive with this key takes a message with that one.
    bool takes(Key const& message) const {
        return context == message.context && (source == message.source || source == any_source) &&
               (tag == message.tag || tag == any_tag);
    }
    /// 0: no wildcard, 1: any source, 2: any tag, 3: both.
    int wildcards() const { return (source == any_source ? 1 : 0) | (tag == any_tag ? 2 : 0); }
    /// The key of the receives with these wildcards that take a message with this key.
    Key with_wildcards(int which) const {
        return {context, which & 1 ? any_source : source, which & 2 ? any_tag : tag};
    }
};

/// An entry's place in one queue.
struct Hook {
    Hook* previous = nullptr;
    Hook* next = nullptr;
    struct Queue* queue = nullptr;   ///< null: in none
    void* owner = nullptr;           ///< the entry
};

struct Queue {
    Key key;
    Hook* first = nullptr;
    Hook* last = nullptr;
    Queue* chain = nullptr;   ///< next queue of the same bucket, or of the unused ones
};

/// Key → queue of hooks. Queues come and go with their entries and are pooled.
class KeyTable {
public:
    KeyTable() : buckets_(64) {}

    /// Takes the memory of so many calls of append.
    void reserve(std::size_t hooks);
    /// Needs no memory within what was reserved.
    void append(Key const& key, Hook& hook);
    static void* owner(Hook const* hook) { return hook ? hook->owner : nullptr; }
    /// The oldest entry under exactly this key, null when there is none.
    Hook* first(Key const& key) const {
        for (Queue* q = buckets_[bucket(key)]; q; q = q->chain)
            if (q->key == key) return q->first;
        return nullptr;
    }
    void remove(Hook& hook);
    void for_each(std::function<void(void* owner)> const& visit) const;

private:
    std::size_t bucket(Key const& key) const {
        std::uint64_t h = (key.context + (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32 |
                                          static_cast<std::uint32_t>(key.tag))) *
                          0x9e3779b97f4a7c15ULL;
        h ^= key.context * 0xc2b2ae3d27d4eb4fULL;
        return (h ^ h >> 29) & (buckets_.size() - 1);
    }
    void grow();

    std::vector<Queue*> buckets_;   ///< a power of two
    std::deque<Queue> queues_;
    Queue* unused_ = nullptr;
    std::size_t used_ = 0;
};

struct Receive;
struct Unexpected;

/// Receives that wait for their message. What throws std::bad_alloc, here and below, has changed nothing.
class Posted {
public:
    void add(Receive& receive);
    void remove(Receive& receive);
    /// Removes and returns the oldest receive that takes a message with this key, null when there is none.
    Receive* take(Key const& message);
    /// Adds all those that `which` is true for to `found`, in no order.
    void find_if(std::function<bool(Receive const&)> const& which, std::vector<Receive*>& found) const;
    bool empty() const { return !sole_ && count_ == 0; }
    /// False when a message that this waiting receive takes may go to another one that waits, too.
    bool alone(Receive const& receive) const;

private:
    void hash(Receive& receive);

    Receive* sole_ = nullptr;   ///< while only one waits it is not hashed: the common case
    KeyTable table_;
    std::size_t count_ = 0;   ///< in the table
    std::size_t by_wildcards_[4] = {};
    std::uint64_t sequence_ = 0;
};

/// Messages that wait for their receive.
class UnexpectedList {
public:
    UnexpectedList() = default;
    UnexpectedList(UnexpectedList const&) = delete;
    UnexpectedList& operator=(UnexpectedList const&) = delete;
    ~UnexpectedList();   ///< discards what nobody received

    /// Takes the memory of the next call of add.
    void reserve() { table_.reserve(wildcards_used_ ? 4 : 1); }
    void add(Unexpected& message);
    void remove(Unexpected& message);
    /// The oldest message that a receive with this key takes, left in the list; null when there is none.
    Unexpected* find(Key const& receive);
    /// The message that this peer sent in that cell, null when it is not (any more) here.
    Unexpected* find(int peer, std::uint64_t number) const;
    bool empty() const { return !first_; }
    /// Each, in order of arrival, until `look` is true.
    void look_through(std::function<bool(Unexpected const&)> const& look) const;

private:
    void hash_wildcards(Unexpected& message);

    Unexpected* first_ = nullptr;   ///< all of them, in order of arrival
    Unexpected* last_ = nullptr;
    KeyTable table_;
    bool wildcards_used_ = false;   ///< from the first wildcard on, every message is also filed under the wildcard keys
};

}   // namespace tutti::p2p
