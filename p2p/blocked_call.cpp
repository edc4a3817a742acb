// SPDX-License-Identifier: BSD-3-Clause
// Descriptions, awaited ranks and hints for blocked sends, receives and probes.
#include "p2p/blocked_call.hpp"

#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"

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

}   // namespace tutti::p2p
