// SPDX-License-Identifier: BSD-3-Clause
// The reports T01 (send to the own rank), T06 (type mismatch) and T07 (messages never received).
#include "p2p/message_diagnostics.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "p2p/blocked_call.hpp"
#include "p2p/check/order.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/job/last_call.hpp"

namespace tutti::p2p {
namespace {

constexpr std::size_t most_groups = Finding::most_places / 2;   // each may add a place of the sender

/// Returns the name of the type, or an empty string if the data has several types.
std::string type_words(Engine const& engine, TypeDigest digest) {
    Datatype const* const type =
        engine.predefined_type && digest.number() != 0 ? engine.predefined_type(digest.number()) : nullptr;
    if (type) return type->name;
    char const* const name = digest.in_c();
    return name ? name : "";
}

std::string receive_words(Datatype const& type) { return type.name.empty() ? "a datatype of the program" : type.name; }

/// Returns "2 MPI_INT" or "12 bytes of several types".
std::string amount_words(Engine const& engine, TypeDigest digest, std::size_t bytes) {
    std::string const type = type_words(engine, digest);
    Datatype const* const known =
        engine.predefined_type && digest.number() != 0 ? engine.predefined_type(digest.number()) : nullptr;
    std::size_t const each = known ? static_cast<std::size_t>(known->size()) : digest.unit();
    if (type.empty() || each == 0 || bytes % each != 0)
        return join(bytes, bytes == 1 ? " byte" : " bytes", digest == TypeDigest() ? "" : " of several types");
    return join(bytes / each, " ", type);
}

bool sends(std::string const& call) {
    static constexpr char const* all[] = {"MPI_Send",      "MPI_Ssend",
                                          "MPI_Rsend",     "MPI_Bsend",
                                          "MPI_Isend",     "MPI_Issend",
                                          "MPI_Irsend",    "MPI_Ibsend",
                                          "MPI_Sendrecv",  "MPI_Sendrecv_replace",
                                          "MPI_Isendrecv", "MPI_Isendrecv_replace"};
    return std::ranges::find(all, call) != std::end(all);
}

bool are_errors_fatal(Comm const& comm) { return !comm.errhandler || comm.errhandler->kind == Errhandler::Kind::fatal; }

/// Finds the send by the note of the message. Without a note the call is unknown; it is most often the sender's last
/// call.
Mistake::Part part_of_sender(Comm const& comm, Receive const& op) {
    Process& process = comm.process;
    int const sender = comm.peers().world_rank(op.status.source);
    std::string const what = join(amount_words(engine(process), op.other_types, op.sent), " to rank ", comm.rank(),
                                  ", tag ", op.status.tag, ", ", comm.words());
    if (op.note) {
        SentNote const sent = SentNote::from_bytes(op.note);
        return {sender, join(sent.call, "(", what, ")"), {}, sent.site};
    }
    if (process.cluster.is_here(sender) && sender != process.rank()) {
        auto const place = static_cast<unsigned>(process.cluster.peer_of(sender));
        LastCall const& last = process.segment.rank_state(place).last_call;
        auto const site = reinterpret_cast<std::uintptr_t>(last.site);
        std::string const call = name_of(last, process.rank_state().last_call);
        if (sends(call)) return {sender, join(call, "(", what, ")"), "(its last call)", site};
    }
    return {sender, "send of " + what, {}, 0};
}

/// The call that sent a message, as far as it is known.
struct Sender {
    int rank;
    std::string call;
    std::uint64_t site;   ///< 0: unknown
};

/// Finds the send by the note of the message, or among the recent sends if the sender is on this node.
Sender sender_of(Comm const& comm, Unexpected const& m) {
    Process& process = comm.process;
    Sender sender{comm.peers().world_rank(m.key.source), {}, 0};
    if (m.note) {
        SentNote const sent = SentNote::from_bytes(m.note);
        sender.call = sent.call;
        sender.site = sent.site;
    } else if (process.cluster.is_here(sender.rank)) {
        RankState& state = process.segment.rank_state(static_cast<unsigned>(process.cluster.peer_of(sender.rank)));
        RecentSends::Place const place = state.recent_sends.find(process.place(), m.number);
        LastCall const& mine = process.rank_state().last_call;
        sender.call = name_of(state.last_call, place.call, mine);
        sender.site = place.site;
    } else if (m.what == Unexpected::What::here) {
        sender.site = m.send;
    }
    if (sender.call.empty()) sender.call = "send";
    sender.call += join("(", amount_words(engine(process), m.digest, m.bytes), " to rank ", comm.rank(), ", tag ",
                        m.key.tag, ", ", comm.words(), ")");
    return sender;
}

/// Describes the receive; `call` is the receive itself or the call that completed it.
Mistake::Part part_of_receiver(Comm const& comm, Receive const& op, char const* call) {
    Process& process = comm.process;
    std::string const what = words(comm, op);
    auto const site = reinterpret_cast<std::uintptr_t>(process.call_site);
    if (std::strstr(call, "ecv") && !std::strstr(call, "Irecv"))
        return {process.rank(), join(call, "(", what, ")"), {}, site};
    if (std::strstr(call, "Wait") || std::strstr(call, "Test") || std::strstr(call, "Irecv") ||
        std::strstr(call, "Start"))
        return {process.rank(), join(call, "(receive of ", what, ")"), {}, site};
    return {process.rank(), "receive of " + what, join("arrived in ", call), site};
}

}   // namespace

void refuse_send_to_oneself(Comm const& comm, Send const& op, char const* call) {
    Process& process = comm.process;
    bool const is_synchronous = op.mode == Mode::synchronous;
    if (!are_errors_fatal(comm))
        fail(ErrorClass::other, "a ", is_synchronous ? "synchronous" : "blocking", " send of ", op.data.bytes,
             " bytes with tag ", op.key.tag, " to this rank itself (", op.key.source,
             ") would never end: no receive has begun");
    auto const site = reinterpret_cast<std::uintptr_t>(process.call_site);
    Mistake::Part const parts[] = {{process.rank(), join(call, "(", words(comm, op), ")"), {}, site}};
    report(process, {"T01", join("deadlock: rank ", process.rank(), " sends to itself before it receives"),
                     is_synchronous
                         ? "a synchronous send waits for its receive: begin the receive first (MPI_Irecv), or use "
                           "MPI_Sendrecv"
                         : "works only as long as the message is small: a send may wait for its receive, so begin the "
                           "receive first (MPI_Irecv), or use MPI_Sendrecv",
                     parts});
}

void tell_types(Comm const& comm, Receive const& op, char const* call) {
    Process& process = comm.process;
    if (!are_errors_fatal(comm) || op.key.context != comm.context || process.variables.diagnosis == "no") return;
    Engine const& e = engine(process);
    std::string sent = type_words(e, op.other_types);
    if (sent.empty()) sent = "other types";
    Mistake::Part const parts[] = {part_of_receiver(comm, op, call), part_of_sender(comm, op)};
    report(process,
           {"T06",
            join("rank ", process.rank(), " receives ", receive_words(*op.data.element), " where rank ", parts[1].rank,
                 " sends ", sent),
            "both sides of a message name the same types: the one that the variables have in the program", parts});
}

void tell_messages_left(Process& process, std::span<Comm const* const> comms) {
    Engine const& e = engine(process);
    struct Group {
        std::string words;
        Sender sender;
        int messages = 0;
    };
    std::vector<Group> groups;
    e.look_through([&](Unexpected const& m) {
        auto const comm = std::ranges::find(comms, m.key.context, &Comm::context);
        if (comm == comms.end()) return false;   // a message of the library itself
        Comm const& on = **comm;
        std::string words = join(amount_words(e, m.digest, m.bytes), " from rank ", m.key.source, ", tag ", m.key.tag,
                                 ", ", on.words());
        Sender sender = sender_of(on, m);
        auto const same = std::ranges::find_if(groups, [&](Group const& one) {
            return one.words == words && (one.sender.site == sender.site || one.sender.site == 0 || sender.site == 0);
        });
        if (same != groups.end()) {
            ++same->messages;
            if (same->sender.site == 0) same->sender = std::move(sender);
        } else if (groups.size() < most_groups) groups.push_back({std::move(words), std::move(sender), 1});
        return false;
    });
    if (groups.empty()) return;
    std::vector<Mistake::Part> parts;
    for (Group const& one : groups) {
        parts.push_back(
            {process.rank(), "message of " + one.words,
             one.messages == 1 ? "arrived, never received" : join(one.messages, " of them arrived, never received"),
             0});
        if (one.sender.site != 0)
            parts.push_back({one.sender.rank, one.sender.call, one.messages == 1 ? "sent it" : "sent the last of them",
                             one.sender.site});
    }
    warn(process, {"T07", "messages were sent and never received",
                   "each message needs its receive: look for a send too many, or a receive that is missing or has "
                   "another tag or source",
                   parts});
}

}   // namespace tutti::p2p
