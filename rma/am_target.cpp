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

constexpr std::size_t max_prefetched = 4;   // number of commands whose data is received while previous ones wait

bool is_lock(Command const& command) { return command.opcode == Opcode::lock || command.opcode == Opcode::lock_node; }

std::byte* memory(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));   // of this process
}

}   // namespace

void ActiveMessages::execute_or_queue(int origin, Command const& command, std::byte const* data) {
    Peer& from = peer(origin);
    bool const apart = command.separate_data && command.opcode != Opcode::put;
    if (from.waiting.empty() && !apart && execute(from, command, data)) return;
    from.waiting.push_back({command, {data, data + command.length}});
    waiting_locks_ += is_lock(command);
    if (apart || from.waiting.size() > 1) advance(from);
}

/// A command for which memory is missing waits until the next poll.
void ActiveMessages::advance(Peer& from) {
    if (from.advancing) return;
    ScopedFlag const advancing(from.advancing);
    try {
        for (; !from.waiting.empty(); from.waiting.pop_front()) {
            prefetch_data(from);
            WaitingCommand& first = from.waiting.front();
            if (first.receive_begun && !first.arrived) break;
            if (!execute(from, first.command, first.data.data())) break;
            waiting_locks_ -= is_lock(first.command);
        }
    } catch (std::bad_alloc const&) { short_of_memory_ = true; }
}

/// Begins an operation that deletes itself when it is complete.
template <class Operation>
void ActiveMessages::begin(std::unique_ptr<Operation> op) {
    p2p::engine(window_.process).begin(*op);
    static_cast<void>(op.release());   // it may have been deleted already
}

void ActiveMessages::prefetch_data(Peer& from) {
    for (std::size_t i = 0; i < std::min(max_prefetched, from.waiting.size()); ++i) {
        WaitingCommand& one = from.waiting[i];
        if (!one.command.separate_data || one.command.opcode == Opcode::put || one.receive_begun) continue;
        one.data.resize(one.command.bytes);
        std::unique_ptr<IncomingData> op(new (window_.process.frames) IncomingData);
        op->data = p2p::Data::of_bytes(one.data.data(), one.data.size());
        op->key = service_.key(from.world_rank, data_tag(one.command.number));
        op->peer = service_.peer(from.world_rank);
        op->owner = this;
        op->from = &from;
        op->waiting = &one;
        op->finished = [](p2p::Receive& done) {
            auto& mine = static_cast<IncomingData&>(done);
            ActiveMessages& owner = *mine.owner;
            Peer& from = *mine.from;
            if (mine.failure) from.failure = mine.failure;
            else mine.waiting->arrived = true;
            delete &mine;
            owner.advance(from);
        };
        begin(std::move(op));
        one.receive_begun = true;
    }
}

/// Returns false, without effect, if the command cannot be executed yet. Also without effect if it throws
/// std::bad_alloc: each command allocates its memory before it changes anything.
bool ActiveMessages::execute(Peer& from, Command const& command, std::byte const* data) {
    switch (command.opcode) {
    case Opcode::put: command.separate_data ? receive_put(from, command) : execute_put(from, command, data); break;
    case Opcode::get: execute_get(from, command); break;
    case Opcode::accumulate: execute_accumulate(from, command, data); break;
    case Opcode::compare_and_swap: execute_compare_and_swap(from, command, data); break;
    case Opcode::describe_type: execute_describe_type(from, command, data); break;
    default: return execute_synchronization(from, command);
    }
    return true;
}

bool ActiveMessages::execute_synchronization(Peer& from, Command const& command) {
    switch (command.opcode) {
    case Opcode::lock: return execute_lock(from, command);
    case Opcode::lock_node: return execute_lock_node(from, command);
    case Opcode::step_back: change_node_lock(from, NodeLock::waiting); break;
    case Opcode::release_node: change_node_lock(from, NodeLock::none); break;
    case Opcode::posted: ++from.posts; break;
    case Opcode::completed:
        if (from.incoming_data != 0 || from.outgoing_answers != 0) return false;
        ++from.completes;
        break;
    default:   // flush, unlock
        if (from.incoming_data != 0 || (command.opcode == Opcode::unlock && from.outgoing_answers != 0)) return false;
        std::unique_ptr<Reply> answer = make_reply(from, command);
        if (command.opcode == Opcode::unlock) execute_unlock(command);
        reply(from, command, std::move(answer), {}, {});
    }
    window_.process.waiter.wake_own_threads();
    return true;
}

TypedMemory ActiveMessages::elements(Peer const& from, Command const& command) {
    RemoteType const& type = *from.remote_types[command.type - 1];
    return type.at(memory(type.range(command.address, command.count).first), command.address, command.count);
}

void ActiveMessages::execute_put(Peer& from, Command const& command, std::byte const* data) {
    if (command.type == 0) std::memcpy(memory(command.address + command.position), data, command.bytes);
    else unpack_typed(elements(from, command), command.position, data, command.bytes);
}

/// Receives directly into the window if the elements have no gaps.
void ActiveMessages::receive_put(Peer& from, Command const& command) {
    std::unique_ptr<IncomingData> op(new (window_.process.frames) IncomingData);
    if (command.type == 0) {
        op->data = p2p::Data::of_bytes(memory(command.address + command.position), command.bytes);
    } else {
        op->buffer.resize(command.bytes);
        op->data = p2p::Data::of_bytes(op->buffer.data(), op->buffer.size());
        op->type = from.remote_types[command.type - 1];
        op->elements = elements(from, command);
        op->position = command.position;
    }
    op->key = service_.key(from.world_rank, data_tag(command.number));
    op->peer = service_.peer(from.world_rank);
    op->owner = this;
    op->from = &from;
    op->finished = [](p2p::Receive& done) {
        auto& mine = static_cast<IncomingData&>(done);
        ActiveMessages& owner = *mine.owner;
        Peer& from = *mine.from;
        if (mine.failure) from.failure = mine.failure;
        else if (mine.type) unpack_typed(mine.elements, mine.position, mine.buffer.data(), mine.buffer.size());
        delete &mine;
        --from.incoming_data;
        owner.advance(from);
    };
    ++from.incoming_data;
    try {
        begin(std::move(op));
    } catch (...) {
        --from.incoming_data;
        throw;
    }
}

/// Allocates the memory for an answer of at most command.bytes bytes, so that reply() needs none. Null: the answer is
/// gathered and sent later.
std::unique_ptr<ActiveMessages::Reply> ActiveMessages::make_reply(Peer& to, Command const& command) {
    if (command.gathered) {
        std::size_t const needed = to.answers.size() + command.bytes;
        if (to.answers.capacity() < needed) to.answers.reserve(std::max(needed, 2 * to.answers.capacity()));
        if (!command.last) return nullptr;
    }
    return std::unique_ptr<Reply>(new (window_.process.frames) Reply);
}

/// A gathered answer is sent with its last command, when all previous commands have been executed.
void ActiveMessages::reply(Peer& to, Command const& command, std::unique_ptr<Reply> op, p2p::Data const& data,
                           std::vector<std::byte> packed) {
    if (command.gathered) {
        if (packed.empty()) to.answers.insert(to.answers.end(), data.base, data.base + data.bytes);
        else to.answers.insert(to.answers.end(), packed.begin(), packed.end());
        if (!command.last) return;
        packed = std::exchange(to.answers, {});
    }
    op->buffer = std::move(packed);
    op->data = op->buffer.empty() ? data : p2p::Data::of_bytes(op->buffer.data(), op->buffer.size());
    op->mode = p2p::Mode::ready;   // the origin posts the receive before it sends the command
    op->key = service_.key(service_.me(), answer_tag(command.number));
    op->peer = service_.peer(to.world_rank);
    op->owner = this;
    if (op->buffer.empty() && data.bytes != 0) {   // otherwise the data is a copy
        op->to = &to;
        ++to.outgoing_answers;
    }
    op->finished = [](p2p::Send& done) {
        auto& mine = static_cast<Reply&>(done);
        ActiveMessages& owner = *mine.owner;
        Peer* const to = mine.to;
        delete &mine;
        --owner.replies_;
        if (!to) return;
        --to->outgoing_answers;
        owner.advance(*to);
    };
    ++replies_;
    ++service_.answers_sent;
    service_.begin(*op.release());
}

/// Retries everything for which memory was missing.
bool ActiveMessages::retry() {
    short_of_memory_ = false;
    if (!unless_out_of_memory([this] { return send_node_releases(), true; })) short_of_memory_ = true;
    for_each_peer([&](Peer& from) { advance(from); });
    return !short_of_memory_;
}

void ActiveMessages::execute_get(Peer& from, Command const& command) {
    std::unique_ptr<Reply> answer = make_reply(from, command);
    if (command.type == 0) {
        auto const data = p2p::Data::of_bytes(memory(command.address + command.position), command.bytes);
        return reply(from, command, std::move(answer), data, {});
    }
    std::vector<std::byte> packed(command.bytes);
    pack_typed(elements(from, command), command.position, packed.data(), packed.size());
    reply(from, command, std::move(answer), {}, std::move(packed));
}

void ActiveMessages::execute_describe_type(Peer& from, Command const& command, std::byte const* data) {
    if (from.remote_types.size() < command.type) from.remote_types.resize(command.type);
    std::vector<std::int64_t> numbers(command.bytes / sizeof(std::int64_t));
    std::memcpy(numbers.data(), data, command.bytes);
    from.remote_types[command.type - 1] = std::make_shared<RemoteType>(numbers.data());
}

/// Returns memory of this process as other ranks of this node describe it.
SharedMemory ActiveMessages::memory_at(std::uint64_t address, std::size_t bytes) const {
    Target const& part = window_.target(window_.rank());
    bool const uses_atomics =
        window_.flavor == Flavor::dynamic ? in_arena(window_.process.rank_state(), address, bytes) : part.uses_atomics;
    return {memory(address), address, &window_.members, part.member, nullptr, window_.process.local_rank(),
            uses_atomics};
}

void ActiveMessages::execute_accumulate(Peer& from, Command const& command, std::byte const* data) {
    Accumulation const how(command.op, command.basic, command.element_bytes);
    bool const has_operand = command.op != BuiltinOp::no_op;
    std::vector<std::byte> old(command.answered ? command.bytes : 0);
    std::unique_ptr<Reply> answer = command.answered ? make_reply(from, command) : nullptr;
    std::byte const* const in = has_operand ? data : nullptr;
    std::byte* const before = command.answered ? old.data() : nullptr;
    if (command.type == 0) {
        how.run(memory_at(command.address + command.position, command.bytes), in, before, command.bytes);
    } else {
        RemoteType const& type = *from.remote_types[command.type - 1];
        AddressRange const range = type.range(command.address, command.count);
        SharedMemory const to =
            memory_at(range.first, range.bytes).at(static_cast<std::int64_t>(command.address - range.first));
        TypedMemory const there = elements(from, command);
        how.run_layout(to, there.count, there.extent, *there.layout, command.position, in, before, command.bytes);
    }
    if (command.answered) reply(from, command, std::move(answer), {}, std::move(old));
}

void ActiveMessages::execute_compare_and_swap(Peer& from, Command const& command, std::byte const* data) {
    std::vector<std::byte> old(command.bytes);
    std::unique_ptr<Reply> answer = make_reply(from, command);
    rma::compare_and_swap(memory_at(command.address, command.bytes), command.basic, command.bytes, data,
                          data + command.bytes, old.data());
    reply(from, command, std::move(answer), {}, std::move(old));
}

bool ActiveMessages::execute_lock(Peer& from, Command const& command) {
    Waiter& waiter = window_.process.waiter;
    Word& lock = window_.target(window_.rank()).control->lock.word;
    if (!command.exclusive) return try_shared(lock);
    NodeLockState const node_locks{window_.members.controls, window_.members.controls.front()->exclusive_count.word};
    std::int64_t const now = now_ns();
    if (from.refused_since == 0) from.refused_since = now;
    bool must_wake = false;
    bool const got =
        try_exclusive(lock, from.world_rank, now - from.refused_since < step_back_ns, node_locks, must_wake);
    if (must_wake) waiter.wake_sleepers(node_locks.exclusive);
    if (got) from.refused_since = 0;
    return got;
}

bool ActiveMessages::execute_lock_node(Peer& from, Command const& command) {
    Waiter& waiter = window_.process.waiter;
    Control& first = *window_.members.controls.front();
    std::unique_ptr<Reply> answer = make_reply(from, command);
    std::vector<std::byte> granted(command.bytes);
    if (from.locked_node == NodeLock::none) {
        start_waiting_for_all(first.remote_lock_all.word);
        from.locked_node = NodeLock::waiting;
    }
    bool must_wake = false;
    if (from.locked_node == NodeLock::waiting &&
        try_all(first.remote_lock_all.word, first.exclusive_count.word, must_wake))
        from.locked_node = NodeLock::held;
    if (must_wake) waiter.wake_sleepers();
    bool const got = from.locked_node == NodeLock::held;
    if (!got && command.waits) return false;
    granted.front() = std::byte{got};
    reply(from, command, std::move(answer), {}, std::move(granted));
    return true;
}

void ActiveMessages::change_node_lock(Peer& from, NodeLock then) {
    Word& all = window_.members.controls.front()->remote_lock_all.word;
    bool const held = from.locked_node == NodeLock::held;
    if (then == NodeLock::none && from.locked_node != NodeLock::none) rma::release_all(all, held);
    else if (then == NodeLock::waiting && held) rma::step_back(all);
    from.locked_node = then;
    window_.process.waiter.wake_sleepers();
    if (waiting_locks_ != 0) retry_locks();
}

void ActiveMessages::execute_unlock(Command const& command) {
    Waiter& waiter = window_.process.waiter;
    Word& lock = window_.target(window_.rank()).control->lock.word;
    if (command.exclusive) {
        release_exclusive(lock, window_.members.controls.front()->exclusive_count.word);
        waiter.wake_sleepers();
    } else {
        release_shared(lock);
        waiter.wake_sleepers(lock);
    }
    if (waiting_locks_ != 0) retry_locks();
}

/// Returns true if a lock was granted.
bool ActiveMessages::retry_locks() {
    unsigned const before = waiting_locks_;
    for_each_peer([&](Peer& from) {
        if (!from.waiting.empty() && is_lock(from.waiting.front().command)) advance(from);
    });
    return waiting_locks_ < before;
}

// A command that cannot be executed waits for a lock, or for its data, which its origin sends.
void ActiveMessages::describe(BlockedCall& blocked) const {
    if (short_of_memory_) return blocked.await_unknown();
    for (Peer const* from : existing_peers_) {
        if (from->waiting.empty()) continue;
        Command const& first = from->waiting.front().command;
        int acting_rank = from->world_rank;
        if (is_lock(first))
            acting_rank = first.opcode == Opcode::lock ? exclusive_holder(window_.members.own_control->lock.word) : -1;
        // Shared holders and holders of all parts are not known by rank.
        if (acting_rank < 0) return blocked.await_unknown();
        blocked.others.push_back({acting_rank, acting_rank, 1});
    }
}

}   // namespace tutti::rma
