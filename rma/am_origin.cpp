// SPDX-License-Identifier: BSD-3-Clause
// The origin's side of operations: commands are held back until a message is full or a thread waits for it; large data
// is sent and received in separate messages.
#include <algorithm>
#include <cstring>

#include "rma/am_messages.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {
namespace {

constexpr std::size_t max_types = 16;
constexpr unsigned max_pieces_in_flight = 32;   // in flight to one target, before another one begins

Ref<Datatype> keep(p2p::Data const& data) { return Ref<Datatype>::share(const_cast<Datatype*>(data.type)); }

/// Sets `part` to bytes [position, position + bytes) if they are contiguous, or if they are all of the data. Otherwise
/// returns false.
bool in_place(p2p::Data const& data, std::size_t position, std::size_t bytes, p2p::Data& part) {
    if (data.dense()) part = p2p::Data::of_bytes(data.base + position, bytes);
    else if (bytes == data.bytes) part = data;
    else return false;
    return true;
}

bool changes_window(Opcode opcode) {
    return opcode == Opcode::put || opcode == Opcode::accumulate || opcode == Opcode::compare_and_swap;
}

/// Sets whether the command's data follows it or is sent in a separate message.
void set_data_placement(Command& command, bool is_inline) {
    command.inline_data = is_inline;
    command.separate_data = !is_inline;
    command.length = is_inline ? static_cast<std::uint32_t>(command.bytes) : 0;
}

}   // namespace

ActiveMessages::Peer& ActiveMessages::peer(int rank) {
    auto& slot = peers_[static_cast<std::size_t>(rank)];
    if (!slot) {
        existing_peers_.reserve(peers_.size());
        auto made = std::make_unique<Peer>();
        made->rank = rank;
        made->world_rank = window_.comm->world_rank(rank);
        made->on_this_node = window_.process.cluster.is_local(made->world_rank);
        existing_peers_.push_back(made.get());
        slot = std::move(made);
    }
    return *slot;
}

void ActiveMessages::check(Peer const& to) const {
    if (to.failure) [[unlikely]]
        throw Error(ErrorClass::other, *to.failure);
}

/// After this, adding a command with `length` bytes behind it needs no memory. Throws std::bad_alloc without visible
/// effect.
void ActiveMessages::reserve_command(Peer& to, std::size_t length) {
    if (to.lock == Lock::deferred) request_lock(to);
    if (to.open_message && to.open_message->used + sizeof(Command) + padded(length) > am_message_bytes) dispatch(to);
    if (to.open_message) return;
    to.open_message = &service_.acquire_message();
    to.open_message->since = now_ns();
    MessageHead const head{window_.comm->context, 0, window_.rank()};
    std::memcpy(to.open_message->content, &head, sizeof head);
    ++open_messages_;
}

/// Appends a command to a message with room for it. Returns the memory for the command's data, which the caller must
/// write immediately. A command that changes the window makes the peer unconfirmed here, not at the beginning of its
/// call: while a call with many pieces waits, another thread may flush.
std::byte* ActiveMessages::write(Peer& to, Command const& command) {
    to.unconfirmed |= changes_window(command.opcode);
    std::byte* const at = to.open_message->content + to.open_message->used;
    std::memcpy(at, &command, sizeof command);
    if (command.gathered) to.last_gathered = to.open_message->used;
    to.open_message->used += sizeof command + padded(command.length);
    return at + sizeof command;
}

/// Adds a command with its data and answer. Allocates all memory first: if it throws std::bad_alloc, the command has
/// not begun and previous commands are unchanged. Returns the same as `write`.
std::byte* ActiveMessages::add(Peer& to, Command& command, Attachments const& attachments) {
    reserve_command(to, command.length);
    std::unique_ptr<OutgoingData> data = attachments.out ? make_data(to, command, *attachments.out) : nullptr;
    std::unique_ptr<Answer> answer;
    command.answered = attachments.into != nullptr;
    command.gathered = command.answered && !command.separate_data && command.bytes <= max_gathered;
    if (command.answered) {
        if (command.gathered && to.gathered_answer && to.gathered_answer->bytes + command.bytes > am_message_bytes)
            close_gathered_answer(to);
        if (!command.gathered || !to.gathered_answer) answer = make_answer(to);
        Answer& whole = answer ? *answer : *to.gathered_answer;
        whole.add_part({*attachments.into, command.position, command.bytes, keep(*attachments.into),
                        Ref<OperationRequest>::share(attachments.request)});
        if (attachments.request) attachments.request->part_begun();
        command.number = whole.number;
    } else if (data) {
        command.number = service_.next_number();
    }
    if (answer) ++to.in_flight;
    if (command.gathered && answer) to.gathered_answer = answer.release();
    else if (answer) begin(*answer.release());
    std::byte* const at = write(to, command);
    if (data) {
        dispatch(to);
        send_data(to, command, std::move(data), attachments.request);
    }
    return at;
}

void ActiveMessages::dispatch(Peer& to) {
    if (!to.open_message) return;
    if (to.gathered_answer) close_gathered_answer(to);
    --open_messages_;
    OutgoingMessage& message = *std::exchange(to.open_message, nullptr);
    if (message.used == sizeof(MessageHead)) service_.release_message(message);
    else service_.send(message, to.world_rank);
}

/// Prepares the data of a command for a separate message.
std::unique_ptr<ActiveMessages::OutgoingData> ActiveMessages::make_data(Peer& to, Command const& command,
                                                                        p2p::Data const& from) {
    std::unique_ptr<OutgoingData> op(new (window_.process.frames) OutgoingData);
    bool const copied = command.opcode == Opcode::describe_type;   // the numbers exist only during the call
    if (copied || !in_place(from, command.position, command.bytes, op->data)) {
        op->buffer.resize(command.bytes);
        from.pack(command.position, op->buffer.data(), command.bytes);
        op->data = p2p::Data::of_bytes(op->buffer.data(), command.bytes);
    }
    op->type = keep(op->data);
    op->peer = service_.peer(to.world_rank);
    op->to = &to;
    return op;
}

/// Must be called after the command was sent. For a put, the target has posted the receive unless the command waits
/// there.
void ActiveMessages::send_data(Peer& to, Command const& command, std::unique_ptr<OutgoingData> op,
                               OperationRequest* request) {
    if (command.opcode == Opcode::put) op->mode = p2p::Mode::ready;
    op->key = service_.key(service_.me(), data_tag(command.number));
    op->request = Ref<OperationRequest>::share(request);
    if (request) request->part_begun();
    op->finished = [](p2p::Send& done) {
        auto& mine = static_cast<OutgoingData&>(done);
        --mine.to->in_flight;
        if (mine.failure) mine.to->failure = mine.failure;
        if (mine.request) mine.request->part_ended(mine.failure);
        delete &mine;
    };
    ++to.in_flight;
    ++service_.data_sent;
    service_.begin(*op.release());
}

std::unique_ptr<ActiveMessages::Answer> ActiveMessages::make_answer(Peer& from) {
    std::unique_ptr<Answer> made(new (window_.process.frames) Answer);
    made->owner = this;
    made->from = &from;
    made->number = service_.next_number();
    return made;
}

/// Marks the command that was added last as the last one of the gathered answer.
void ActiveMessages::close_gathered_answer(Peer& from) {
    std::byte* const at = from.open_message->content + from.last_gathered;
    Command command;
    std::memcpy(&command, at, sizeof command);
    command.last = true;
    std::memcpy(at, &command, sizeof command);
    begin(*std::exchange(from.gathered_answer, nullptr));
}

/// An answer with one part may be received directly into its destination.
void ActiveMessages::Answer::add_part(Part part) {
    p2p::Data alone;
    if (!parts.empty() || !in_place(part.into, part.position, part.bytes, alone)) buffer.resize(bytes + part.bytes);
    bytes += part.bytes;
    parts.push_back(std::move(part));
}

/// Allocates no memory: no message that the receive could match has been sent yet.
void ActiveMessages::begin(Answer& answer) {
    Answer::Part const& first = answer.parts.front();
    answer.direct = answer.parts.size() == 1 && in_place(first.into, first.position, first.bytes, answer.data);
    if (!answer.direct) answer.data = p2p::Data::of_bytes(answer.buffer.data(), answer.bytes);
    answer.key = service_.key(answer.from->world_rank, answer_tag(answer.number));
    answer.peer = service_.peer(answer.from->world_rank);
    answer.finished = [](p2p::Receive& done) {
        auto& mine = static_cast<Answer&>(done);
        --mine.from->in_flight;
        if (mine.failure) mine.from->failure = mine.failure;
        // Nothing was in flight when the lock was requested, so the answered command is behind the lock.
        else if (mine.from->lock == Lock::requested) mine.owner->set_lock(*mine.from, Lock::held);
        std::byte const* at = mine.buffer.data();
        for (Answer::Part& part : mine.parts) {
            if (!mine.direct && !mine.failure) part.into.unpack(part.position, at, part.bytes), at += part.bytes;
            if (part.request) part.request->part_ended(mine.failure);
        }
        delete &mine;
    };
    p2p::engine(window_.process).begin(answer);
}

/// Sets the location of the elements in the command; must be followed by adding the command.
void ActiveMessages::locate(Peer& to, Remote const& elements, std::int64_t offset, Command& command) {
    bool const dense = elements.type.dense(elements.count);
    command.address = window_.target(to.rank).address + static_cast<std::uint64_t>(offset);
    if (dense) command.address += static_cast<std::uint64_t>(elements.type.true_lb());
    command.count = dense ? 1 : elements.count;
    command.type = dense ? 0 : number_of(to, elements.type);
}

/// Returns the target's number for a datatype, and first describes the datatype if the target does not know it. Valid
/// until the caller waits: datatypes of other threads may then replace it.
std::uint32_t ActiveMessages::number_of(Peer& to, Datatype const& type) {
    auto const same = std::ranges::find_if(to.described_types, [&](auto const& one) { return one.get() == &type; });
    if (same != to.described_types.end()) return static_cast<std::uint32_t>(same - to.described_types.begin()) + 1;
    to.described_types.reserve(max_types);
    std::vector<std::int64_t> numbers(128);
    std::size_t n = 0;
    while ((n = flatten(type, numbers)) == 0) numbers.resize(4 * numbers.size());
    auto const data = p2p::Data::of_bytes(numbers.data(), n * sizeof(std::int64_t));
    bool const room = to.described_types.size() < max_types, small = data.bytes <= max_inline_data;
    std::size_t const slot = room ? to.described_types.size() : to.oldest_type;
    Command command{.opcode = Opcode::describe_type, .type = static_cast<std::uint32_t>(slot + 1), .bytes = data.bytes};
    set_data_placement(command, small);
    std::byte* const at = add(to, command, {.out = small ? nullptr : &data});
    if (small) data.pack(0, at, data.bytes);
    // Not earlier: the target does not know the number before the command is added.
    if (room) to.described_types.emplace_back();
    else to.oldest_type = (to.oldest_type + 1) % max_types;
    to.described_types[slot] = Ref<Datatype>::share(const_cast<Datatype*>(&type));
    return command.type;
}

/// All parts of the operation have begun.
void ActiveMessages::finish_request(Peer& to, OperationRequest* request) {
    if (!request) return;
    request->part_ended(nullptr);
    dispatch(to);
}

/// Limits the pieces in flight, which are copies or cost the target copies.
void ActiveMessages::limit_in_flight(Peer& to, char const* call) {
    if (to.in_flight < max_pieces_in_flight) return;
    dispatch(to);
    window_.process.waiter.wait_until([&] { return to.in_flight < max_pieces_in_flight / 2; }, window_.reason(call));
}

void ActiveMessages::put(Local const& from, Remote const& to, std::int64_t offset, Ref<Request>* request) {
    Peer& t = peer(to.rank);
    check(t);
    auto const made = request ? Ref<OperationRequest>::adopt(new OperationRequest(window_)) : Ref<OperationRequest>();
    p2p::Data const data = data_of(from);
    Command command{.opcode = Opcode::put};
    bool const small = data.bytes <= max_inline_data;
    std::size_t const most = small || to.type.dense(to.count) ? data.bytes : piece_bytes;
    for (std::size_t at = 0; at < data.bytes; at += most) {
        if (at != 0) limit_in_flight(t, "MPI_Put");
        locate(t, to, offset, command);
        command.position = at;
        command.bytes = std::min(most, data.bytes - at);
        set_data_placement(command, small);
        std::byte* const room = add(t, command, {.out = small ? nullptr : &data, .request = made.get()});
        if (small) data.pack(at, room, command.bytes);
    }
    finish_request(t, made.get());
    if (request) *request = Ref<Request>::share(made.get());
}

void ActiveMessages::get(Local const& to, Remote const& from, std::int64_t offset, Ref<Request>* request) {
    Peer& t = peer(from.rank);
    check(t);
    auto const made = request ? Ref<OperationRequest>::adopt(new OperationRequest(window_)) : Ref<OperationRequest>();
    p2p::Data const data = data_of(to);
    Command command{.opcode = Opcode::get};
    std::size_t const total = std::min(data.bytes, static_cast<std::size_t>(from.count * from.type.size())),
                      most = from.type.dense(from.count) ? total : piece_bytes;
    for (std::size_t at = 0; at < total; at += most) {
        if (at != 0) limit_in_flight(t, "MPI_Get");
        locate(t, from, offset, command);
        command.position = at;
        command.bytes = std::min(most, total - at);
        add(t, command, {.into = &data, .request = made.get()});
    }
    finish_request(t, made.get());
    if (request) *request = Ref<Request>::share(made.get());
}

void ActiveMessages::accumulate(Local const& from, Local const* result, Remote const& to, std::int64_t offset,
                                Accumulation const& how, Ref<Request>* request, std::size_t done) {
    Peer& t = peer(to.rank);
    check(t);
    auto const made = request ? Ref<OperationRequest>::adopt(new OperationRequest(window_)) : Ref<OperationRequest>();
    auto const there_bytes = static_cast<std::size_t>(to.count * to.type.size());
    bool const has_operand = how.op() != BuiltinOp::no_op;
    p2p::Data const data = has_operand ? data_of(from) : p2p::Data{}, old = result ? data_of(*result) : p2p::Data{};
    std::size_t const total = has_operand ? std::min(data.bytes, there_bytes) : there_bytes;
    Command command{.opcode = Opcode::accumulate,
                    .op = how.op(),
                    .basic = how.basic(),
                    .element_bytes = static_cast<std::uint32_t>(how.element_bytes())};
    bool const small = total <= max_inline_data;
    std::size_t const most = small ? total : piece_bytes / how.element_bytes() * how.element_bytes();
    for (std::size_t at = done; at < total; at += most) {
        if (at != done) limit_in_flight(t, "MPI_Accumulate");
        locate(t, to, offset, command);
        command.position = at;
        command.bytes = std::min(most, total - at);
        if (has_operand) set_data_placement(command, small);
        std::byte* const room = add(
            t, command,
            {.out = command.separate_data ? &data : nullptr, .into = result ? &old : nullptr, .request = made.get()});
        if (command.inline_data) data.pack(at, room, command.bytes);
    }
    finish_request(t, made.get());
    if (request) *request = Ref<Request>::share(made.get());
}

void ActiveMessages::compare_and_swap(void const* origin, void const* compare, void* result, Datatype const& type,
                                      int rank, std::int64_t offset) {
    Peer& t = peer(rank);
    check(t);
    auto const bytes = static_cast<std::size_t>(type.size());
    Command command{.opcode = Opcode::compare_and_swap,
                    .basic = type.basic(),
                    .inline_data = true,
                    .address = window_.target(rank).address + static_cast<std::uint64_t>(offset),
                    .count = 1,
                    .bytes = bytes,
                    .length = static_cast<std::uint32_t>(2 * bytes),
                    .element_bytes = static_cast<std::uint32_t>(bytes)};
    p2p::Data const before = p2p::Data::of_bytes(result, bytes);
    std::byte* const at = add(t, command, {.into = &before});
    std::memcpy(at, compare, bytes);
    std::memcpy(at + bytes, origin, bytes);
}

}   // namespace tutti::rma
