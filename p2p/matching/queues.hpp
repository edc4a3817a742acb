// SPDX-License-Identifier: BSD-3-Clause
// Hashed queues for matching: PostedReceives holds receives without a message, UnexpectedList messages without a
// receive. A key is (context, source, tag); the key of a receive may contain wildcards. There is one queue per key,
// found by hashing, so a search takes as long with one entry as with thousands. Each queue is first in, first out. A
// message may match receives in four queues, one for each combination of wildcards; the receive with the lowest
// sequence number wins. A message is itself in four queues once wildcards are used, so a receive finds its oldest
// message in one queue.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "runtime/objects/request.hpp"

namespace tutti::p2p {

/// Bit in a context: messages for which a receive from any source is always posted (rma/am_service.hpp).
inline constexpr std::uint64_t service_context = 1ULL << 61;

struct Key {
    std::uint64_t context = 0;
    std::int32_t source = 0;
    std::int32_t tag = 0;

    /// Returns true unless the message belongs to a service or to the library itself (p2p/p2p.hpp: Flavour).
    bool is_user_message() const { return !is_service_message() && context >> 63 == 0; }
    bool is_service_message() const { return (context & service_context) != 0; }

    bool operator==(Key const&) const = default;
    /// Returns true if a receive with this key matches a message with the given key.
    bool matches(Key const& message) const {
        return context == message.context && (source == message.source || source == any_source) &&
               (tag == message.tag || tag == any_tag);
    }
    /// Returns 0: no wildcard, 1: any source, 2: any tag, 3: both.
    int wildcards() const { return (source == any_source ? 1 : 0) | (tag == any_tag ? 2 : 0); }
    /// Returns the key of the receives with these wildcards (as from wildcards()) that match a message with this key.
    Key with_wildcards(int which) const {
        return {context, which & 1 ? any_source : source, which & 2 ? any_tag : tag};
    }
};

/// The link of an entry in one queue.
struct Hook {
    Hook* previous = nullptr;
    Hook* next = nullptr;
    struct Queue* queue = nullptr;   ///< null: in no queue
    void* owner = nullptr;           ///< the entry
};

struct Queue {
    Key key;
    Hook* first = nullptr;
    Hook* last = nullptr;
    Queue* chain = nullptr;   ///< next queue in the same bucket, or next unused queue
};

/// Map from keys to queues of hooks. A queue exists only while it has entries; queues are pooled.
class KeyTable {
public:
    KeyTable() : buckets_(64) {}

    /// Allocates the memory for this many calls of append.
    void reserve(std::size_t hooks);
    /// Allocates no memory if it was reserved.
    void append(Key const& key, Hook& hook);
    static void* owner(Hook const* hook) { return hook ? hook->owner : nullptr; }
    /// Returns the oldest entry with exactly this key, or null.
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

    std::vector<Queue*> buckets_;   ///< their number is a power of two
    std::deque<Queue> queues_;
    Queue* unused_ = nullptr;
    std::size_t used_ = 0;
};

struct Receive;
struct Unexpected;

/// The posted receives. Calls that throw std::bad_alloc, here and in UnexpectedList, have no effect.
class PostedReceives {
public:
    void add(Receive& receive);
    void remove(Receive& receive);
    /// Removes and returns the oldest receive that matches a message with this key, or null.
    Receive* dequeue_match(Key const& message);
    /// Appends all receives for which `predicate` returns true to `found`, in no particular order.
    void find_if(std::function<bool(Receive const&)> const& predicate, std::vector<Receive*>& found) const;
    bool empty() const { return !sole_ && count_ == 0; }
    /// Returns false if a message that matches this posted receive may go to another posted receive.
    bool is_exclusive(Receive const& receive) const;

private:
    void add_to_table(Receive& receive);

    Receive* sole_ = nullptr;   ///< the only posted receive; not hashed, because this is the common case
    KeyTable table_;
    std::size_t count_ = 0;              ///< number of receives in the table
    std::size_t by_wildcards_[4] = {};   ///< the same, by Key::wildcards()
    std::uint64_t sequence_ = 0;
};

/// Messages that arrived before their receive was posted.
class UnexpectedList {
public:
    UnexpectedList() = default;
    UnexpectedList(UnexpectedList const&) = delete;
    UnexpectedList& operator=(UnexpectedList const&) = delete;
    ~UnexpectedList();   ///< discards the messages that were never received

    /// Allocates the memory for the next call of add.
    void reserve() { table_.reserve(wildcards_used_ ? 4 : 1); }
    void add(Unexpected& message);
    void remove(Unexpected& message);
    /// Returns the oldest message that matches a receive with this key, or null. The message stays in the list.
    Unexpected* find(Key const& receive);
    /// Returns the message of this peer with this number (Unexpected::number), or null if it is not in the list.
    Unexpected* find(int peer, std::uint64_t number) const;
    bool empty() const { return !first_; }
    /// Calls `visitor` with each message, in order of arrival, until it returns true.
    void visit(std::function<bool(Unexpected const&)> const& visitor) const;

private:
    void add_wildcard_keys(Unexpected& message);

    Unexpected* first_ = nullptr;   ///< all messages, in order of arrival
    Unexpected* last_ = nullptr;
    KeyTable table_;
    /// Set when a key with wildcards is first sought in a list with messages; from then on messages are also hashed by
    /// wildcard keys.
    bool wildcards_used_ = false;
};

}   // namespace tutti::p2p
