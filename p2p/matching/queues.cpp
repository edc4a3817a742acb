// SPDX-License-Identifier: BSD-3-Clause
// The hash table of matching and the two lists that use it.
#include "p2p/matching/queues.hpp"

#include "p2p/matching/operation.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p {

void KeyTable::reserve(std::size_t hooks) {
    std::size_t available = 0;
    for (Queue const* q = unused_; q && available < hooks; q = q->chain) ++available;
    for (; available < hooks; ++available) {
        Queue& q = queues_.emplace_back();
        q.chain = unused_;
        unused_ = &q;
    }
}

void KeyTable::append(Key const& key, Hook& hook) {
    Queue* q = buckets_[bucket(key)];
    while (q && !(q->key == key)) q = q->chain;
    if (!q) {
        if (!unused_) reserve(1);
        // Without memory the table keeps its size; look-ups then take longer.
        if (used_ >= buckets_.size()) unless_out_of_memory([this] { return grow(), true; });
        q = unused_;
        unused_ = q->chain;
        Queue*& head = buckets_[bucket(key)];
        *q = {key, nullptr, nullptr, head};
        head = q;
        ++used_;
    }
    hook.previous = q->last;
    hook.next = nullptr;
    hook.queue = q;
    (q->last ? q->last->next : q->first) = &hook;
    q->last = &hook;
}

void KeyTable::remove(Hook& hook) {
    Queue* q = hook.queue;
    (hook.previous ? hook.previous->next : q->first) = hook.next;
    (hook.next ? hook.next->previous : q->last) = hook.previous;
    hook.queue = nullptr;
    if (q->first) return;
    Queue** link = &buckets_[bucket(q->key)];
    while (*link != q) link = &(*link)->chain;
    *link = q->chain;
    q->chain = unused_;
    unused_ = q;
    --used_;
}

void KeyTable::for_each(std::function<void(void* owner)> const& visit) const {
    for (Queue const* q : buckets_)
        for (; q; q = q->chain)
            for (Hook const* hook = q->first; hook; hook = hook->next) visit(hook->owner);
}

void KeyTable::grow() {
    std::vector<Queue*> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (Queue* q : old) {
        while (q) {
            Queue* rest = q->chain;
            Queue*& head = buckets_[bucket(q->key)];
            q->chain = head;
            head = q;
            q = rest;
        }
    }
}

void PostedReceives::add(Receive& receive) {
    if (sole_ || count_ != 0) table_.reserve(2);
    receive.sequence = ++sequence_;
    if (count_ == 0 && !sole_) {
        sole_ = &receive;
    } else {
        if (sole_) add_to_table(*sole_);
        sole_ = nullptr;
        add_to_table(receive);
    }
    receive.posted = true;
}

void PostedReceives::add_to_table(Receive& receive) {
    receive.hook.owner = &receive;
    table_.append(receive.key, receive.hook);
    ++count_;
    ++by_wildcards_[receive.key.wildcards()];
}

void PostedReceives::remove(Receive& receive) {
    receive.posted = false;
    if (sole_ == &receive) {
        sole_ = nullptr;
        return;
    }
    table_.remove(receive.hook);
    --count_;
    --by_wildcards_[receive.key.wildcards()];
}

bool PostedReceives::is_exclusive(Receive const& receive) const {
    if (sole_) return true;
    if (by_wildcards_[1] + by_wildcards_[2] + by_wildcards_[3] != 0) return false;
    return table_.first(receive.key) == &receive.hook;   // other receives with this key are younger
}

Receive* PostedReceives::dequeue_match(Key const& message) {
    if (sole_) {
        if (!sole_->key.matches(message)) return nullptr;
        Receive* match = sole_;
        sole_ = nullptr;
        match->posted = false;
        return match;
    }
    Receive* oldest = nullptr;
    for (int w = 0; w < 4; ++w) {
        if (by_wildcards_[w] == 0) continue;
        auto* r = static_cast<Receive*>(KeyTable::owner(table_.first(message.with_wildcards(w))));
        if (r && (!oldest || r->sequence < oldest->sequence)) oldest = r;
    }
    if (oldest) remove(*oldest);
    return oldest;
}

void PostedReceives::find_if(std::function<bool(Receive const&)> const& predicate, std::vector<Receive*>& found) const {
    auto const check = [&](void* owner) {
        if (auto* r = static_cast<Receive*>(owner); predicate(*r)) found.push_back(r);
    };
    if (sole_) check(sole_);
    table_.for_each(check);
}

UnexpectedList::~UnexpectedList() {
    while (first_) {
        Unexpected* m = first_;
        first_ = m->next;
        Unexpected::destroy(m);
    }
}

void UnexpectedList::add(Unexpected& message) {
    reserve();
    message.previous = last_;
    message.next = nullptr;
    (last_ ? last_->next : first_) = &message;
    last_ = &message;
    message.hooks[0].owner = &message;
    table_.append(message.key, message.hooks[0]);
    if (wildcards_used_) add_wildcard_keys(message);
}

void UnexpectedList::add_wildcard_keys(Unexpected& message) {
    for (int w = 1; w < 4; ++w) {
        message.hooks[w].owner = &message;
        table_.append(message.key.with_wildcards(w), message.hooks[w]);
    }
}

void UnexpectedList::remove(Unexpected& message) {
    (message.previous ? message.previous->next : first_) = message.next;
    (message.next ? message.next->previous : last_) = message.previous;
    for (Hook& hook : message.hooks)
        if (hook.queue) table_.remove(hook);
}

Unexpected* UnexpectedList::find(Key const& receive) {
    if (!first_) return nullptr;
    if (receive.wildcards() != 0 && !wildcards_used_) {
        std::size_t messages = 0;
        for (Unexpected const* m = first_; m; m = m->next) ++messages;
        table_.reserve(3 * messages);
        wildcards_used_ = true;
        for (Unexpected* m = first_; m; m = m->next) add_wildcard_keys(*m);
    }
    return static_cast<Unexpected*>(KeyTable::owner(table_.first(receive)));
}

Unexpected* UnexpectedList::find(int peer, std::uint64_t number) const {
    for (Unexpected* m = first_; m; m = m->next)
        if (m->peer == peer && m->number == number) return m;
    return nullptr;
}

void UnexpectedList::visit(std::function<bool(Unexpected const&)> const& visitor) const {
    for (Unexpected const* m = first_; m; m = m->next)
        if (visitor(*m)) return;
}

}   // namespace tutti::p2p
