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

namespace tutti::p2p {
namespace {

constexpr std::size_t max_groups = Diagnostic::max_locations / 2;   // each may add a location in the sender

/// Returns the name of the type, or an empty string if the data has several types.
std::string type_name(Engine const& engine, TypeDigest digest) {
    Datatype const* const type =
        engine.predefined_type && digest.number() != 0 ? engine.predefined_type(digest.number()) : nullptr;
    if (type) return type->name;
    char const* const name = digest.c_name();
    return name ? name : "";
}

std::string receive_type_name(Datatype const& type) {
    return type.name.empty() ? "a datatype of the program" : type.name;
}

/// Returns "2 MPI_INT" or "12 bytes of several types".
std::string describe_amount(Engine const& engine, TypeDigest digest, std::size_t bytes) {
    std::string const type = type_name(engine, digest);
    Datatype const* const known =
        engine.predefined_type && digest.number() != 0 ? engine.predefined_type(digest.number()) : nullptr;
    std::size_t const each = known ? static_cast<std::size_t>(known->size()) : digest.unit();
    if (type.empty() || each == 0 || bytes % each != 0)
        return join(bytes, bytes == 1 ? " byte" : " bytes", digest == TypeDigest() ? "" : " of several types");
    return join(bytes / each, " ", type);
}

bool is_send(Function function) {
    static constexpr Function all[] = {"MPI_Send",      "MPI_Ssend",
                                       "MPI_Rsend",     "MPI_Bsend",
                                       "MPI_Isend",     "MPI_Issend",
                                       "MPI_Irsend",    "MPI_Ibsend",
                                       "MPI_Sendrecv",  "MPI_Sendrecv_replace",
                                       "MPI_Isendrecv", "MPI_Isendrecv_replace"};
    return std::ranges::find(all, function) != std::end(all);
}

bool are_errors_fatal(Comm const& comm) { return !comm.errhandler || comm.errhandler->kind == Errhandler::Kind::fatal; }

/// Finds the send by the piggyback of the message. Without a piggyback the call is unknown; it is most often the
/// sender's last call.
UsageError::Call sender_call(Comm const& comm, Receive const& op) {
    Process& process = comm.process;
    int const sender = comm.peers().world_rank(op.status.source);
    std::string const what = join(describe_amount(engine(process), op.mismatched_types, op.message_bytes), " to rank ",
                                  comm.rank(), ", tag ", op.status.tag, ", ", comm.description());
    if (op.piggyback) {
        SendPiggyback const sent = SendPiggyback::from_bytes(op.piggyback);
        return {sender, join(sent.function.name(), "(", what, ")"), {}, sent.site};
    }
    if (process.cluster.is_local(sender) && sender != process.rank()) {
        auto const local_rank = static_cast<unsigned>(process.cluster.peer_id(sender));
        LastCall const& last = process.segment.rank_state(local_rank).last_call;
        auto const site = reinterpret_cast<std::uintptr_t>(last.site);
        if (Function const function = last.function; is_send(function))
            return {sender, join(function.name(), "(", what, ")"), "(its last call)", site};
    }
    return {sender, "send of " + what, {}, 0};
}

/// The call that sent a message, as far as it is known.
struct Sender {
    int rank;
    std::string call;
    std::uint64_t site;   ///< 0: unknown
};

/// Finds the send by the piggyback of the message, or among the recent sends if the sender is on this node.
Sender sender_of(Comm const& comm, Unexpected const& m) {
    Process& process = comm.process;
    Sender sender{comm.peers().world_rank(m.key.source), {}, 0};
    if (m.piggyback) {
        SendPiggyback const sent = SendPiggyback::from_bytes(m.piggyback);
        sender.call = sent.function.name();
        sender.site = sent.site;
    } else if (process.cluster.is_local(sender.rank)) {
        RankState& state = process.segment.rank_state(static_cast<unsigned>(process.cluster.peer_id(sender.rank)));
        RecentSends::CallSite const place = state.recent_sends.find(process.local_rank(), m.number);
        sender.call = place.function.name();
        sender.site = place.site;
    } else if (m.kind == Unexpected::Kind::eager) {
        sender.site = m.send;
    }
    if (sender.call.empty()) sender.call = "send";
    sender.call += join("(", describe_amount(engine(process), m.digest, m.bytes), " to rank ", comm.rank(), ", tag ",
                        m.key.tag, ", ", comm.description(), ")");
    return sender;
}

/// Describes the receive; `call` is the receive itself or the call that completed it.
UsageError::Call receiver_call(Comm const& comm, Receive const& op, char const* call) {
    Process& process = comm.process;
    std::string const what = describe_operation(comm, op);
    auto const site = reinterpret_cast<std::uintptr_t>(process.call_site);
    if (std::strstr(call, "ecv") && !std::strstr(call, "Irecv"))
        return {process.rank(), join(call, "(", what, ")"), {}, site};
    if (std::strstr(call, "Wait") || std::strstr(call, "Test") || std::strstr(call, "Irecv") ||
        std::strstr(call, "Start"))
        return {process.rank(), join(call, "(receive of ", what, ")"), {}, site};
    return {process.rank(), "receive of " + what, join("arrived in ", call), site};
}

}   // namespace

void report_self_send(Comm const& comm, Send const& op, char const* call) {
    Process& process = comm.process;
    bool const is_synchronous = op.mode == Mode::synchronous;
    if (!are_errors_fatal(comm))
        fail(ErrorClass::other, "a ", is_synchronous ? "synchronous" : "blocking", " send of ", op.data.bytes,
             " bytes with tag ", op.key.tag, " to this rank itself (", op.key.source,
             ") would never complete: no matching receive has begun");
    auto const site = reinterpret_cast<std::uintptr_t>(process.call_site);
    UsageError::Call const parts[] = {{process.rank(), join(call, "(", describe_operation(comm, op), ")"), {}, site}};
    report(process, {"T01", join("deadlock: rank ", process.rank(), " sends to itself before it receives"),
                     is_synchronous
                         ? "a synchronous send waits for its receive: begin the receive first (MPI_Irecv), or use "
                           "MPI_Sendrecv"
                         : "works only as long as the message is small: a send may wait for its receive, so begin the "
                           "receive first (MPI_Irecv), or use MPI_Sendrecv",
                     parts});
}

void report_type_mismatch(Comm const& comm, Receive const& op, char const* call) {
    Process& process = comm.process;
    if (!are_errors_fatal(comm) || op.key.context != comm.context || process.variables.diagnosis == "no") return;
    Engine const& e = engine(process);
    std::string sent = type_name(e, op.mismatched_types);
    if (sent.empty()) sent = "other types";
    UsageError::Call const parts[] = {receiver_call(comm, op, call), sender_call(comm, op)};
    report(process,
           {"T06",
            join("rank ", process.rank(), " receives ", receive_type_name(*op.data.element), " where rank ",
                 parts[1].rank, " sends ", sent),
            "pass the same datatype on both sides of a message: the type of the variables in the program", parts});
}

void report_unreceived_messages(Process& process, std::span<Comm const* const> comms) {
    Engine const& e = engine(process);
    struct Group {
        std::string description;
        Sender sender;
        int messages = 0;
    };
    std::vector<Group> groups;
    e.visit_unexpected([&](Unexpected const& m) {
        auto const comm = std::ranges::find(comms, m.key.context, &Comm::context);
        if (comm == comms.end()) return false;   // a message of the library itself
        Comm const& on = **comm;
        std::string description = join(describe_amount(e, m.digest, m.bytes), " from rank ", m.key.source, ", tag ",
                                       m.key.tag, ", ", on.description());
        Sender sender = sender_of(on, m);
        auto const same = std::ranges::find_if(groups, [&](Group const& one) {
            return one.description == description &&
                   (one.sender.site == sender.site || one.sender.site == 0 || sender.site == 0);
        });
        if (same != groups.end()) {
            ++same->messages;
            if (same->sender.site == 0) same->sender = std::move(sender);
        } else if (groups.size() < max_groups) groups.push_back({std::move(description), std::move(sender), 1});
        return false;
    });
    if (groups.empty()) return;
    std::vector<UsageError::Call> parts;
    for (Group const& one : groups) {
        parts.push_back(
            {process.rank(), "message of " + one.description,
             one.messages == 1 ? "arrived, never received" : join(one.messages, " of them arrived, never received"),
             0});
        if (one.sender.site != 0)
            parts.push_back({one.sender.rank, one.sender.call, one.messages == 1 ? "sent it" : "sent the last of them",
                             one.sender.site});
    }
    warn(process,
         {"T07", "messages were sent and never received",
          "each message needs a receive: one send is superfluous, or a receive is missing or has another tag or "
          "source",
          parts});
}

}   // namespace tutti::p2p
