// SPDX-License-Identifier: BSD-3-Clause
// The target's side: commands are executed immediately where possible. A command that cannot be executed yet (a lock
// that another rank holds, an accumulate whose data is still in flight, a confirmation of completion) waits, and so do
// all commands of its origin behind it.
#include <algorithm>
#include <cstring>
#include <new>

#include "rma/am_messages.hpp"
#include "rma/node_control.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/mark.hpp"
#include "runtime/memory/peer_arenas.hpp"

namespace tutti::rma {
namespace {

constexpr std::size_t fetched_ahead = 4;   // number of commands whose data is received while previous ones wait

bool is_lock(Command const& command) { return command.act == Act::lock || command.act == Act::lock_node; }

std::byte* memory(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));   // of this process
}

}   // namespace

void Messages::asked(int origin, Command const& command, std::byte const* data) {
    Peer& from = peer(origin);
    bool const apart = command.elsewhere && command.act != Act::put;
    if (from.waiting.empty() && !apart && carry_out(from, command, data)) return;
    from.waiting.push_back({command, {data, data + command.length}});
    locks_wanted_ += is_lock(command);
    if (apart || from.waiting.size() > 1) advance(from);
}

/// A command for which memory is missing waits until the next poll.
void Messages::advance(Peer& from) {
    if (from.advancing) return;
    Mark const advancing(from.advancing);
    try {
        for (; !from.waiting.empty(); from.waiting.pop_front()) {
            fetch_ahead(from);
            Waiting& first = from.waiting.front();
            if (first.coming && !first.here) break;
            if (!carry_out(from, first.command, first.data.data())) break;
            locks_wanted_ -= is_lock(first.command);
        }
    } catch (std::bad_alloc const&) { short_of_memory_ = true; }
}

/// Begins an operation that deletes itself when it is complete.
template <class Operation>
void Messages::begin(std::unique_ptr<Operation> op) {
    p2p::engine(window_.process).begin(*op);
    static_cast<void>(op.release());   // it may have been deleted already
}

void Messages::fetch_ahead(Peer& from) {
    for (std::size_t i = 0; i < std::min(fetched_ahead, from.waiting.size()); ++i) {
        Waiting& one = from.waiting[i];
        if (!one.command.elsewhere || one.command.act == Act::put || one.coming) continue;
        one.data.resize(one.command.bytes);
        std::unique_ptr<DataIn> op(new (window_.process.frames) DataIn);
        op->data = p2p::Data::of_bytes(one.data.data(), one.data.size());
        op->key = service_.key(from.world, tag_of_data(one.command.number));
        op->peer = service_.peer(from.world);
        op->owner = this;
        op->from = &from;
        op->waiting = &one;
        op->finished = [](p2p::Receive& done) {
            auto& mine = static_cast<DataIn&>(done);
            Messages& owner = *mine.owner;
            Peer& from = *mine.from;
            if (mine.failure) from.failure = mine.failure;
            else mine.waiting->here = true;
            delete &mine;
            owner.advance(from);
        };
        begin(std::move(op));
        one.coming = true;
    }
}

/// Returns false, without effect, if the command cannot be executed yet. Also without effect if it throws
/// std::bad_alloc: each command allocates its memory before it changes anything.
bool Messages::carry_out(Peer& from, Command const& command, std::byte const* data) {
    switch (command.act) {
    case Act::put: command.elsewhere ? put_from_message(from, command) : put_here(from, command, data); break;
    case Act::get: answer_get(from, command); break;
    case Act::accumulate: accumulate_here(from, command, data); break;
    case Act::compare_and_swap: compare_and_swap_here(from, command, data); break;
    case Act::describe: describe_here(from, command, data); break;
    default: return carry_out_epoch(from, command);
    }
    return true;
}

bool Messages::carry_out_epoch(Peer& from, Command const& command) {
    switch (command.act) {
    case Act::lock: return lock_here(from, command);
    case Act::lock_node: return lock_node_here(from, command);
    case Act::step_back: leave_node_here(from, NodeLock::waiting); break;
    case Act::leave_node: leave_node_here(from, NodeLock::none); break;
    case Act::posted: ++from.posts; break;
    case Act::completed:
        if (from.arriving != 0 || from.leaving != 0) return false;
        ++from.completes;
        break;
    default:   // flush, unlock
        if (from.arriving != 0 || (command.act == Act::unlock && from.leaving != 0)) return false;
        std::unique_ptr<Reply> answer = make_reply(from, command);
        if (command.act == Act::unlock) unlock_here(command);
        reply(from, command, std::move(answer), {}, {});
    }
    window_.process.waiter.wake_own_threads();
    return true;
}

TypedMemory Messages::elements(Peer const& from, Command const& command) {
    RemoteType const& type = *from.described[command.type - 1];
    return type.at(memory(type.range(command.address, command.count).first), command.address, command.count);
}

void Messages::put_here(Peer& from, Command const& command, std::byte const* data) {
    if (command.type == 0) std::memcpy(memory(command.address + command.position), data, command.bytes);
    else unpack_typed(elements(from, command), command.position, data, command.bytes);
}

/// Receives directly into the window if the elements have no gaps.
void Messages::put_from_message(Peer& from, Command const& command) {
    std::unique_ptr<DataIn> op(new (window_.process.frames) DataIn);
    if (command.type == 0) {
        op->data = p2p::Data::of_bytes(memory(command.address + command.position), command.bytes);
    } else {
        op->own.resize(command.bytes);
        op->data = p2p::Data::of_bytes(op->own.data(), op->own.size());
        op->type = from.described[command.type - 1];
        op->elements = elements(from, command);
        op->position = command.position;
    }
    op->key = service_.key(from.world, tag_of_data(command.number));
    op->peer = service_.peer(from.world);
    op->owner = this;
    op->from = &from;
    op->finished = [](p2p::Receive& done) {
        auto& mine = static_cast<DataIn&>(done);
        Messages& owner = *mine.owner;
        Peer& from = *mine.from;
        if (mine.failure) from.failure = mine.failure;
        else if (mine.type) unpack_typed(mine.elements, mine.position, mine.own.data(), mine.own.size());
        delete &mine;
        --from.arriving;
        owner.advance(from);
    };
    ++from.arriving;
    try {
        begin(std::move(op));
    } catch (...) {
        --from.arriving;
        throw;
    }
}

/// Allocates the memory for an answer of at most command.bytes bytes, so that reply() needs none. Null: the answer is
/// gathered and sent later.
std::unique_ptr<Messages::Reply> Messages::make_reply(Peer& to, Command const& command) {
    if (command.gathered) {
        std::size_t const needed = to.answers.size() + command.bytes;
        if (to.answers.capacity() < needed) to.answers.reserve(std::max(needed, 2 * to.answers.capacity()));
        if (!command.last) return nullptr;
    }
    return std::unique_ptr<Reply>(new (window_.process.frames) Reply);
}

/// A gathered answer is sent with its last command, when all previous commands have been executed.
void Messages::reply(Peer& to, Command const& command, std::unique_ptr<Reply> op, p2p::Data const& data,
                     std::vector<std::byte> own) {
    if (command.gathered) {
        if (own.empty()) to.answers.insert(to.answers.end(), data.base, data.base + data.bytes);
        else to.answers.insert(to.answers.end(), own.begin(), own.end());
        if (!command.last) return;
        own = std::exchange(to.answers, {});
    }
    op->own = std::move(own);
    op->data = op->own.empty() ? data : p2p::Data::of_bytes(op->own.data(), op->own.size());
    op->mode = p2p::Mode::ready;   // the origin posts the receive before it sends the command
    op->key = service_.key(service_.me(), tag_of_answer(command.number));
    op->peer = service_.peer(to.world);
    op->owner = this;
    if (op->own.empty() && data.bytes != 0) {   // otherwise the data is a copy
        op->to = &to;
        ++to.leaving;
    }
    op->finished = [](p2p::Send& done) {
        auto& mine = static_cast<Reply&>(done);
        Messages& owner = *mine.owner;
        Peer* const to = mine.to;
        delete &mine;
        --owner.replies_;
        if (!to) return;
        --to->leaving;
        owner.advance(*to);
    };
    ++replies_;
    ++service_.answers_sent;
    service_.begin(*op.release());
}

/// Retries everything for which memory was missing.
bool Messages::try_again() {
    short_of_memory_ = false;
    if (!unless_out_of_memory([this] { return send_leaves(), true; })) short_of_memory_ = true;
    for_each_peer([&](Peer& from) { advance(from); });
    return !short_of_memory_;
}

void Messages::answer_get(Peer& from, Command const& command) {
    std::unique_ptr<Reply> answer = make_reply(from, command);
    if (command.type == 0) {
        auto const data = p2p::Data::of_bytes(memory(command.address + command.position), command.bytes);
        return reply(from, command, std::move(answer), data, {});
    }
    std::vector<std::byte> packed(command.bytes);
    pack_typed(elements(from, command), command.position, packed.data(), packed.size());
    reply(from, command, std::move(answer), {}, std::move(packed));
}

void Messages::describe_here(Peer& from, Command const& command, std::byte const* data) {
    if (from.described.size() < command.type) from.described.resize(command.type);
    std::vector<std::int64_t> numbers(command.bytes / sizeof(std::int64_t));
    std::memcpy(numbers.data(), data, command.bytes);
    from.described[command.type - 1] = std::make_shared<RemoteType>(numbers.data());
}

/// Returns memory of this process as other ranks of this node describe it.
SharedMemory Messages::memory_at(std::uint64_t address, std::size_t bytes) const {
    Target const& own = window_.target(window_.rank());
    bool const by_processor =
        window_.flavor == Flavor::dynamic ? in_arena(window_.process.rank_state(), address, bytes) : own.by_processor;
    return {memory(address), address, &window_.members, own.member, nullptr, window_.process.place(), by_processor};
}

void Messages::accumulate_here(Peer& from, Command const& command, std::byte const* data) {
    Accumulation const how(command.op, command.basic, command.element);
    bool const given = command.op != BuiltinOp::no_op;
    std::vector<std::byte> old(command.answered ? command.bytes : 0);
    std::unique_ptr<Reply> answer = command.answered ? make_reply(from, command) : nullptr;
    std::byte const* const in = given ? data : nullptr;
    std::byte* const before = command.answered ? old.data() : nullptr;
    if (command.type == 0) {
        how.run(memory_at(command.address + command.position, command.bytes), in, before, command.bytes);
    } else {
        RemoteType const& type = *from.described[command.type - 1];
        AddressRange const range = type.range(command.address, command.count);
        SharedMemory const to =
            memory_at(range.first, range.bytes).at(static_cast<std::int64_t>(command.address - range.first));
        TypedMemory const there = elements(from, command);
        how.laid_out(to, there.count, there.extent, *there.layout, command.position, in, before, command.bytes);
    }
    if (command.answered) reply(from, command, std::move(answer), {}, std::move(old));
}

void Messages::compare_and_swap_here(Peer& from, Command const& command, std::byte const* data) {
    std::vector<std::byte> old(command.bytes);
    std::unique_ptr<Reply> answer = make_reply(from, command);
    rma::compare_and_swap(memory_at(command.address, command.bytes), command.basic, command.bytes, data,
                          data + command.bytes, old.data());
    reply(from, command, std::move(answer), {}, std::move(old));
}

bool Messages::lock_here(Peer& from, Command const& command) {
    Waiter& waiter = window_.process.waiter;
    Word& lock = window_.target(window_.rank()).control->lock.word;
    if (!command.exclusive) return try_shared(lock);
    Others const others{window_.members.controls, window_.members.controls.front()->exclusive.word};
    std::int64_t const now = now_ns();
    if (from.refused_since == 0) from.refused_since = now;
    bool disturbed = false;
    bool const got = try_exclusive(lock, from.world, now - from.refused_since < patience_ns, others, disturbed);
    if (disturbed) waiter.wake_sleepers(others.exclusive);
    if (got) from.refused_since = 0;
    return got;
}

bool Messages::lock_node_here(Peer& from, Command const& command) {
    Waiter& waiter = window_.process.waiter;
    Control& first = *window_.members.controls.front();
    std::unique_ptr<Reply> answer = make_reply(from, command);
    std::vector<std::byte> granted(command.bytes);
    if (from.locked_node == NodeLock::none) {
        begin_all(first.remote_all.word);
        from.locked_node = NodeLock::waiting;
    }
    bool disturbed = false;
    if (from.locked_node == NodeLock::waiting && try_all(first.remote_all.word, first.exclusive.word, disturbed))
        from.locked_node = NodeLock::held;
    if (disturbed) waiter.wake_sleepers();
    bool const got = from.locked_node == NodeLock::held;
    if (!got && command.waits) return false;
    granted.front() = std::byte{got};
    reply(from, command, std::move(answer), {}, std::move(granted));
    return true;
}

void Messages::leave_node_here(Peer& from, NodeLock then) {
    Word& all = window_.members.controls.front()->remote_all.word;
    bool const held = from.locked_node == NodeLock::held;
    if (then == NodeLock::none && from.locked_node != NodeLock::none) rma::leave_all(all, held);
    else if (then == NodeLock::waiting && held) rma::step_back(all);
    from.locked_node = then;
    window_.process.waiter.wake_sleepers();
    if (locks_wanted_ != 0) retry_locks();
}

void Messages::unlock_here(Command const& command) {
    Waiter& waiter = window_.process.waiter;
    Word& lock = window_.target(window_.rank()).control->lock.word;
    if (command.exclusive) {
        leave_exclusive(lock, window_.members.controls.front()->exclusive.word);
        waiter.wake_sleepers();
    } else {
        leave_shared(lock);
        waiter.wake_sleepers(lock);
    }
    if (locks_wanted_ != 0) retry_locks();
}

/// Returns true if a lock was granted.
bool Messages::retry_locks() {
    unsigned const before = locks_wanted_;
    for_each_peer([&](Peer& from) {
        if (!from.waiting.empty() && is_lock(from.waiting.front().command)) advance(from);
    });
    return locks_wanted_ < before;
}

// A command that cannot be executed waits for a lock, or for its data, which its origin sends.
void Messages::tell(Blockage& blockage) const {
    if (short_of_memory_) return blockage.await_unknown();
    for (Peer const* from : used_) {
        if (from->waiting.empty()) continue;
        Command const& first = from->waiting.front().command;
        int act_of = from->world;
        if (is_lock(first)) act_of = first.act == Act::lock ? exclusive_holder(window_.members.mine->lock.word) : -1;
        // Shared holders and holders of all parts are not known by rank.
        if (act_of < 0) return blockage.await_unknown();
        blockage.others.push_back({act_of, act_of, 1});
    }
}

}   // namespace tutti::rma
