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

constexpr std::size_t most_types = 16;
constexpr unsigned most_pieces = 32;   // in flight to one target, before another one begins

Ref<Datatype> keep(p2p::Data const& data) { return Ref<Datatype>::share(const_cast<Datatype*>(data.type)); }

/// Sets `part` to bytes [position, position + bytes) if they are contiguous, or if they are all of the data. Otherwise
/// returns false.
bool in_place(p2p::Data const& data, std::size_t position, std::size_t bytes, p2p::Data& part) {
    if (data.dense()) part = p2p::Data::of_bytes(data.base + position, bytes);
    else if (bytes == data.bytes) part = data;
    else return false;
    return true;
}

bool changes_window(Act act) { return act == Act::put || act == Act::accumulate || act == Act::compare_and_swap; }

/// Sets whether the command's data follows it or is sent in a separate message.
void with_data(Command& command, bool behind) {
    command.with_data = behind;
    command.elsewhere = !behind;
    command.length = behind ? static_cast<std::uint32_t>(command.bytes) : 0;
}

}   // namespace

Messages::Peer& Messages::peer(int rank) {
    auto& slot = peers_[static_cast<std::size_t>(rank)];
    if (!slot) {
        used_.reserve(peers_.size());
        auto made = std::make_unique<Peer>();
        made->rank = rank;
        made->world = window_.comm->world_rank(rank);
        made->here = window_.process.cluster.is_here(made->world);
        used_.push_back(made.get());
        slot = std::move(made);
    }
    return *slot;
}

void Messages::check(Peer const& to) const {
    if (to.failure) [[unlikely]]
        throw Error(ErrorClass::other, *to.failure);
}

/// After this, adding a command with `length` bytes behind it needs no memory. Throws std::bad_alloc without visible
/// effect.
void Messages::make_room(Peer& to, std::size_t length) {
    if (to.lock == Lock::wanted) ask_for_lock(to);
    if (to.open && to.open->used + sizeof(Command) + filled_up(length) > message_bytes) dispatch(to);
    if (to.open) return;
    to.open = &service_.make();
    to.open->since = now_ns();
    MessageHead const head{window_.comm->context, 0, window_.rank()};
    std::memcpy(to.open->content, &head, sizeof head);
    ++open_;
}

/// Appends a command to a message with room for it. Returns the memory for the command's data, which the caller must
/// write immediately. A command that changes the window makes the peer unconfirmed here, not at the beginning of its
/// call: while a call with many pieces waits, another thread may flush.
std::byte* Messages::write(Peer& to, Command const& command) {
    to.unconfirmed |= changes_window(command.act);
    std::byte* const at = to.open->content + to.open->used;
    std::memcpy(at, &command, sizeof command);
    if (command.gathered) to.last_answered = to.open->used;
    to.open->used += sizeof command + filled_up(command.length);
    return at + sizeof command;
}

/// Adds a command with its data and answer. Allocates all memory first: if it throws std::bad_alloc, the command has
/// not begun and previous commands are unchanged. Returns the same as `write`.
std::byte* Messages::add(Peer& to, Command& command, Beside const& beside) {
    make_room(to, command.length);
    std::unique_ptr<DataOut> data = beside.out ? make_data(to, command, *beside.out) : nullptr;
    std::unique_ptr<Answer> answer;
    command.answered = beside.into != nullptr;
    command.gathered = command.answered && !command.elsewhere && command.bytes <= most_gathered;
    if (command.answered) {
        if (command.gathered && to.gathering && to.gathering->bytes + command.bytes > message_bytes) end_gathering(to);
        if (!command.gathered || !to.gathering) answer = make_answer(to);
        Answer& whole = answer ? *answer : *to.gathering;
        whole.expect({*beside.into, command.position, command.bytes, keep(*beside.into),
                      Ref<OperationRequest>::share(beside.request)});
        if (beside.request) beside.request->begun();
        command.number = whole.number;
    } else if (data) {
        command.number = service_.next_number();
    }
    if (answer) ++to.under_way;
    if (command.gathered && answer) to.gathering = answer.release();
    else if (answer) begin(*answer.release());
    std::byte* const at = write(to, command);
    if (data) {
        dispatch(to);
        send_data(to, command, std::move(data), beside.request);
    }
    return at;
}

void Messages::dispatch(Peer& to) {
    if (!to.open) return;
    if (to.gathering) end_gathering(to);
    --open_;
    Outgoing& message = *std::exchange(to.open, nullptr);
    if (message.used == sizeof(MessageHead)) service_.give_back(message);
    else service_.send(message, to.world);
}

/// Prepares the data of a command for a separate message.
std::unique_ptr<Messages::DataOut> Messages::make_data(Peer& to, Command const& command, p2p::Data const& from) {
    std::unique_ptr<DataOut> op(new (window_.process.frames) DataOut);
    bool const copied = command.act == Act::describe;   // the numbers exist only during the call
    if (copied || !in_place(from, command.position, command.bytes, op->data)) {
        op->own.resize(command.bytes);
        from.gather(command.position, op->own.data(), command.bytes);
        op->data = p2p::Data::of_bytes(op->own.data(), command.bytes);
    }
    op->type = keep(op->data);
    op->peer = service_.peer(to.world);
    op->to = &to;
    return op;
}

/// Must be called after the command was sent. For a put, the target has posted the receive unless the command waits
/// there.
void Messages::send_data(Peer& to, Command const& command, std::unique_ptr<DataOut> op, OperationRequest* request) {
    if (command.act == Act::put) op->mode = p2p::Mode::ready;
    op->key = service_.key(service_.me(), tag_of_data(command.number));
    op->request = Ref<OperationRequest>::share(request);
    if (request) request->begun();
    op->finished = [](p2p::Send& done) {
        auto& mine = static_cast<DataOut&>(done);
        --mine.to->under_way;
        if (mine.failure) mine.to->failure = mine.failure;
        if (mine.request) mine.request->ended(mine.failure);
        delete &mine;
    };
    ++to.under_way;
    ++service_.data_sent;
    service_.begin(*op.release());
}

std::unique_ptr<Messages::Answer> Messages::make_answer(Peer& from) {
    std::unique_ptr<Answer> made(new (window_.process.frames) Answer);
    made->owner = this;
    made->from = &from;
    made->number = service_.next_number();
    return made;
}

/// Marks the command that was added last as the last one of the gathered answer.
void Messages::end_gathering(Peer& from) {
    std::byte* const at = from.open->content + from.last_answered;
    Command command;
    std::memcpy(&command, at, sizeof command);
    command.last = true;
    std::memcpy(at, &command, sizeof command);
    begin(*std::exchange(from.gathering, nullptr));
}

/// An answer with one part may be received directly into its destination.
void Messages::Answer::expect(Part part) {
    p2p::Data alone;
    if (!parts.empty() || !in_place(part.into, part.position, part.bytes, alone)) own.resize(bytes + part.bytes);
    bytes += part.bytes;
    parts.push_back(std::move(part));
}

/// Allocates no memory: no message that the receive could match has been sent yet.
void Messages::begin(Answer& answer) {
    Answer::Part const& first = answer.parts.front();
    answer.direct = answer.parts.size() == 1 && in_place(first.into, first.position, first.bytes, answer.data);
    if (!answer.direct) answer.data = p2p::Data::of_bytes(answer.own.data(), answer.bytes);
    answer.key = service_.key(answer.from->world, tag_of_answer(answer.number));
    answer.peer = service_.peer(answer.from->world);
    answer.finished = [](p2p::Receive& done) {
        auto& mine = static_cast<Answer&>(done);
        --mine.from->under_way;
        if (mine.failure) mine.from->failure = mine.failure;
        // Nothing was in flight when the lock was requested, so the answered command is behind the lock.
        else if (mine.from->lock == Lock::asked) mine.owner->set_lock(*mine.from, Lock::held);
        std::byte const* at = mine.own.data();
        for (Answer::Part& part : mine.parts) {
            if (!mine.direct && !mine.failure) part.into.scatter(part.position, at, part.bytes), at += part.bytes;
            if (part.request) part.request->ended(mine.failure);
        }
        delete &mine;
    };
    p2p::engine(window_.process).begin(answer);
}

/// Sets the location of the elements in the command; must be followed by adding the command.
void Messages::locate(Peer& to, Remote const& elements, std::int64_t origin_of, Command& command) {
    bool const dense = elements.type.dense(elements.count);
    command.address = window_.target(to.rank).address + static_cast<std::uint64_t>(origin_of);
    if (dense) command.address += static_cast<std::uint64_t>(elements.type.true_lb());
    command.count = dense ? 1 : elements.count;
    command.type = dense ? 0 : number_of(to, elements.type);
}

/// Returns the target's number for a datatype, and first describes the datatype if the target does not know it. Valid
/// until the caller waits: datatypes of other threads may then replace it.
std::uint32_t Messages::number_of(Peer& to, Datatype const& type) {
    auto const same = std::ranges::find_if(to.types, [&](auto const& one) { return one.get() == &type; });
    if (same != to.types.end()) return static_cast<std::uint32_t>(same - to.types.begin()) + 1;
    to.types.reserve(most_types);
    std::vector<std::int64_t> numbers(128);
    std::size_t n = 0;
    while ((n = flatten(type, numbers)) == 0) numbers.resize(4 * numbers.size());
    auto const data = p2p::Data::of_bytes(numbers.data(), n * sizeof(std::int64_t));
    bool const room = to.types.size() < most_types, small = data.bytes <= most_with_command;
    std::size_t const slot = room ? to.types.size() : to.oldest_type;
    Command command{.act = Act::describe, .type = static_cast<std::uint32_t>(slot + 1), .bytes = data.bytes};
    with_data(command, small);
    std::byte* const at = add(to, command, {.out = small ? nullptr : &data});
    if (small) data.gather(0, at, data.bytes);
    // Not earlier: the target does not know the number before the command is added.
    if (room) to.types.emplace_back();
    else to.oldest_type = (to.oldest_type + 1) % most_types;
    to.types[slot] = Ref<Datatype>::share(const_cast<Datatype*>(&type));
    return command.type;
}

/// All parts of the operation have begun.
void Messages::settle(Peer& to, OperationRequest* request) {
    if (!request) return;
    request->ended(nullptr);
    dispatch(to);
}

/// Limits the pieces in flight, which are copies or cost the target copies.
void Messages::not_too_much(Peer& to, char const* call) {
    if (to.under_way < most_pieces) return;
    dispatch(to);
    window_.process.waiter.until([&] { return to.under_way < most_pieces / 2; }, window_.reason(call));
}

void Messages::put(Local const& from, Remote const& to, std::int64_t origin_of, Ref<Request>* request) {
    Peer& t = peer(to.rank);
    check(t);
    auto const made = request ? Ref<OperationRequest>::adopt(new OperationRequest(window_)) : Ref<OperationRequest>();
    p2p::Data const data = data_of(from);
    Command command{.act = Act::put};
    bool const small = data.bytes <= most_with_command;
    std::size_t const most = small || to.type.dense(to.count) ? data.bytes : piece_bytes;
    for (std::size_t at = 0; at < data.bytes; at += most) {
        if (at != 0) not_too_much(t, "MPI_Put");
        locate(t, to, origin_of, command);
        command.position = at;
        command.bytes = std::min(most, data.bytes - at);
        with_data(command, small);
        std::byte* const room = add(t, command, {.out = small ? nullptr : &data, .request = made.get()});
        if (small) data.gather(at, room, command.bytes);
    }
    settle(t, made.get());
    if (request) *request = Ref<Request>::share(made.get());
}

void Messages::get(Local const& to, Remote const& from, std::int64_t origin_of, Ref<Request>* request) {
    Peer& t = peer(from.rank);
    check(t);
    auto const made = request ? Ref<OperationRequest>::adopt(new OperationRequest(window_)) : Ref<OperationRequest>();
    p2p::Data const data = data_of(to);
    Command command{.act = Act::get};
    std::size_t const total = std::min(data.bytes, static_cast<std::size_t>(from.count * from.type.size())),
                      most = from.type.dense(from.count) ? total : piece_bytes;
    for (std::size_t at = 0; at < total; at += most) {
        if (at != 0) not_too_much(t, "MPI_Get");
        locate(t, from, origin_of, command);
        command.position = at;
        command.bytes = std::min(most, total - at);
        add(t, command, {.into = &data, .request = made.get()});
    }
    settle(t, made.get());
    if (request) *request = Ref<Request>::share(made.get());
}

void Messages::accumulate(Local const& from, Local const* result, Remote const& to, std::int64_t origin_of,
                          Accumulation const& how, Ref<Request>* request, std::size_t done) {
    Peer& t = peer(to.rank);
    check(t);
    auto const made = request ? Ref<OperationRequest>::adopt(new OperationRequest(window_)) : Ref<OperationRequest>();
    auto const there_bytes = static_cast<std::size_t>(to.count * to.type.size());
    bool const given = how.op() != BuiltinOp::no_op;
    p2p::Data const data = given ? data_of(from) : p2p::Data{}, old = result ? data_of(*result) : p2p::Data{};
    std::size_t const total = given ? std::min(data.bytes, there_bytes) : there_bytes;
    Command command{.act = Act::accumulate,
                    .op = how.op(),
                    .basic = how.basic(),
                    .element = static_cast<std::uint32_t>(how.element())};
    bool const small = total <= most_with_command;
    std::size_t const most = small ? total : piece_bytes / how.element() * how.element();
    for (std::size_t at = done; at < total; at += most) {
        if (at != done) not_too_much(t, "MPI_Accumulate");
        locate(t, to, origin_of, command);
        command.position = at;
        command.bytes = std::min(most, total - at);
        if (given) with_data(command, small);
        std::byte* const room =
            add(t, command,
                {.out = command.elsewhere ? &data : nullptr, .into = result ? &old : nullptr, .request = made.get()});
        if (command.with_data) data.gather(at, room, command.bytes);
    }
    settle(t, made.get());
    if (request) *request = Ref<Request>::share(made.get());
}

void Messages::compare_and_swap(void const* origin, void const* compare, void* result, Datatype const& type, int rank,
                                std::int64_t origin_of) {
    Peer& t = peer(rank);
    check(t);
    auto const bytes = static_cast<std::size_t>(type.size());
    Command command{.act = Act::compare_and_swap,
                    .basic = type.basic(),
                    .with_data = true,
                    .address = window_.target(rank).address + static_cast<std::uint64_t>(origin_of),
                    .count = 1,
                    .bytes = bytes,
                    .length = static_cast<std::uint32_t>(2 * bytes),
                    .element = static_cast<std::uint32_t>(bytes)};
    p2p::Data const before = p2p::Data::of_bytes(result, bytes);
    std::byte* const at = add(t, command, {.into = &before});
    std::memcpy(at, compare, bytes);
    std::memcpy(at + bytes, origin, bytes);
}

}   // namespace tutti::rma
