// SPDX-License-Identifier: BSD-3-Clause
// Descriptions, awaited ranks and hints for blocked sends, receives and probes, and reports of errors in messages.
#include "p2p/message_diagnostics.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "p2p/check/order.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"

namespace tutti::p2p {
namespace {

constexpr std::uint64_t internal_bit = 1ULL << 63;   // as in context_of

int world_rank_of(Comm const& comm, int rank) { return comm.peers().world_rank(rank); }

/// Reports use ranks of MPI_COMM_WORLD, the program uses ranks of its communicator; names both if they differ.
std::string describe_peer(Comm const& comm, int rank) {
    if (rank == proc_null) return "MPI_PROC_NULL";
    int const in_world = world_rank_of(comm, rank);
    return in_world == rank ? join("rank ", rank) : join("rank ", rank, " (", in_world, " of MPI_COMM_WORLD)");
}

std::string describe_source(Comm const& comm, int source) {
    return source == any_source ? "any source" : describe_peer(comm, source);
}

std::string describe_tag(int tag) { return tag == any_tag ? "any tag" : join("tag ", tag); }

std::string describe_source_and_tag(Comm const& comm, Key const& key) {
    return join("from ", describe_source(comm, key.source), ", ", describe_tag(key.tag), ", ", comm.description());
}

/// An unexpected message would match if the tags were equal.
void hint_tag_mismatch(Comm const& comm, Key const& wanted, Unexpected const& found, BlockedCall& blocked) {
    blocked.hint = {"T02",
                    join("waits for ", describe_tag(wanted.tag), ", rank ", world_rank_of(comm, found.key.source),
                         " has sent tag ", found.key.tag),
                    join("the tags differ; receive with tag ", found.key.tag, ", or with MPI_ANY_TAG")};
}

/// An unexpected message would match if the sources were equal. The program may be correct and the awaited message
/// late, so this hint has no code and does not change the headline of the report.
void hint_source_mismatch(Comm const& comm, Unexpected const& found, BlockedCall& blocked) {
    blocked.hint = {"",
                    {},
                    join("a message with tag ", found.key.tag, " from rank ", world_rank_of(comm, found.key.source),
                         " has arrived; if it is meant, receive from ", found.key.source, " or from MPI_ANY_SOURCE")};
}

void hint_near_match(Comm const& comm, Key const& wanted, BlockedCall& blocked) {
    if (wanted.context & internal_bit) return;
    engine(comm.process).visit_unexpected([&](Unexpected const& m) {
        if (m.key.context != wanted.context) return false;
        bool const source = wanted.source == any_source || wanted.source == m.key.source;
        bool const tag = wanted.tag == any_tag || wanted.tag == m.key.tag;
        if (source && !tag) hint_tag_mismatch(comm, wanted, m, blocked);
        if (!source && tag && blocked.hint.help.empty()) hint_source_mismatch(comm, m, blocked);
        return blocked.hint.code[0] != 0;
    });
}

void add_awaited_sources(Comm const& comm, Key const& key, BlockedCall& blocked) {
    if (key.source == proc_null) return;
    if (key.source != any_source) {
        blocked.await(world_rank_of(comm, key.source));
    } else {
        auto const all = comm.peers().world_ranks();
        blocked.await_any({all.begin(), all.end()});
    }
    hint_near_match(comm, key, blocked);
}

}   // namespace

std::string describe_operation(Comm const& comm, Send const& op) {
    if (op.key.context & internal_bit) return comm.description();
    int const to =
        op.peer == proc_null ? proc_null : comm.peers().rank_of(comm.process.cluster.world_rank_of_peer(op.peer));
    return join(op.data.amount(), " to ", describe_peer(comm, to), ", tag ", op.key.tag, ", ", comm.description());
}

std::string describe_operation(Comm const& comm, Receive const& op) {
    if (op.key.context & internal_bit) return comm.description();
    return join(op.data.amount(), " ", describe_source_and_tag(comm, op.key));
}

std::string describe_operation(Comm const& comm, Key const& probe) { return describe_source_and_tag(comm, probe); }

// Messages of the library itself belong to collective calls.
static CallKind kind_of(Key const& key, CallKind of_program) {
    return key.context & internal_bit ? CallKind::collective : of_program;
}

CallKind kind_of(Send const& op) {
    bool const is_standard = op.mode == Mode::standard || op.made_synchronous;
    return kind_of(op.key, is_standard ? CallKind::standard_send : CallKind::send);
}

CallKind kind_of(Receive const& op) { return kind_of(op.key, CallKind::receive); }

CallKind kind_of(Key const& probe) { return kind_of(probe, CallKind::probe); }

void add_awaited_ranks(Comm const& comm, Send const& op, BlockedCall& blocked) {
    if (op.peer != proc_null) blocked.await(comm.process.cluster.world_rank_of_peer(op.peer));
}

// Once the message is matched, only its sender can complete the receive.
void add_awaited_ranks(Comm const& comm, Receive const& op, BlockedCall& blocked) {
    if (op.posted) add_awaited_sources(comm, op.key, blocked);
    else if (op.peer >= 0) blocked.await(comm.process.cluster.world_rank_of_peer(op.peer));
}

void add_awaited_ranks(Comm const& comm, Key const& probe, BlockedCall& blocked) {
    add_awaited_sources(comm, probe, blocked);
}

// The reports T01 (send to the own rank), T06 (type mismatch) and T07 (messages never received).

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
