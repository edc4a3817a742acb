// SPDX-License-Identifier: BSD-3-Clause
// Descriptions, awaited ranks and hints for blocked sends, receives and probes.
#include "p2p/blocked_call.hpp"

#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"

namespace tutti::p2p {
namespace {

constexpr std::uint64_t own_messages = 1ULL << 63;   // as in context_of

int world_rank_of(Comm const& comm, int rank) { return comm.peers().world_rank(rank); }

/// Reports use ranks of MPI_COMM_WORLD, the program uses ranks of its communicator; names both if they differ.
std::string peer_words(Comm const& comm, int rank) {
    if (rank == proc_null) return "MPI_PROC_NULL";
    int const in_world = world_rank_of(comm, rank);
    return in_world == rank ? join("rank ", rank) : join("rank ", rank, " (", in_world, " of MPI_COMM_WORLD)");
}

std::string source_words(Comm const& comm, int source) {
    return source == any_source ? "any source" : peer_words(comm, source);
}

std::string tag_words(int tag) { return tag == any_tag ? "any tag" : join("tag ", tag); }

std::string from(Comm const& comm, Key const& key) {
    return join("from ", source_words(comm, key.source), ", ", tag_words(key.tag), ", ", comm.words());
}

/// An unexpected message would match if the tags were equal.
void hint_at_tag(Comm const& comm, Key const& wanted, Unexpected const& found, Blockage& blockage) {
    blockage.hint = {"T02",
                     join("waits for ", tag_words(wanted.tag), ", rank ", world_rank_of(comm, found.key.source),
                          " has sent tag ", found.key.tag),
                     join("the tags differ; receive with tag ", found.key.tag, ", or with MPI_ANY_TAG")};
}

/// An unexpected message would match if the sources were equal. The program may be correct and the awaited message
/// late, so this hint has no code and does not change the headline of the report.
void hint_at_source(Comm const& comm, Unexpected const& found, Blockage& blockage) {
    blockage.hint = {"",
                     {},
                     join("a message with tag ", found.key.tag, " from rank ", world_rank_of(comm, found.key.source),
                          " has arrived; if it is meant, receive from ", found.key.source, " or from MPI_ANY_SOURCE")};
}

void hint_at_nearest(Comm const& comm, Key const& wanted, Blockage& blockage) {
    if (wanted.context & own_messages) return;
    engine(comm.process).look_through([&](Unexpected const& m) {
        if (m.key.context != wanted.context) return false;
        bool const source = wanted.source == any_source || wanted.source == m.key.source;
        bool const tag = wanted.tag == any_tag || wanted.tag == m.key.tag;
        if (source && !tag) hint_at_tag(comm, wanted, m, blockage);
        if (!source && tag && blockage.hint.help.empty()) hint_at_source(comm, m, blockage);
        return blockage.hint.code[0] != 0;
    });
}

void tell_source(Comm const& comm, Key const& key, Blockage& blockage) {
    if (key.source == proc_null) return;
    if (key.source != any_source) {
        blockage.await(world_rank_of(comm, key.source));
    } else {
        auto const all = comm.peers().world_ranks();
        blockage.await_any({all.begin(), all.end()});
    }
    hint_at_nearest(comm, key, blockage);
}

}   // namespace

std::string words(Comm const& comm, Send const& op) {
    if (op.key.context & own_messages) return comm.words();
    int const to = op.peer == proc_null ? proc_null : comm.peers().rank_of(comm.process.cluster.rank_of_peer(op.peer));
    return join(op.data.amount(), " to ", peer_words(comm, to), ", tag ", op.key.tag, ", ", comm.words());
}

std::string words(Comm const& comm, Receive const& op) {
    if (op.key.context & own_messages) return comm.words();
    return join(op.data.amount(), " ", from(comm, op.key));
}

std::string words(Comm const& comm, Key const& probe) { return from(comm, probe); }

void tell(Comm const& comm, Send const& op, Blockage& blockage) {
    if (op.peer != proc_null) blockage.await(comm.process.cluster.rank_of_peer(op.peer));
}

// Once the message is matched, only its sender can complete the receive.
void tell(Comm const& comm, Receive const& op, Blockage& blockage) {
    if (op.posted) tell_source(comm, op.key, blockage);
    else if (op.peer >= 0) blockage.await(comm.process.cluster.rank_of_peer(op.peer));
}

void tell(Comm const& comm, Key const& probe, Blockage& blockage) { tell_source(comm, probe, blockage); }

}   // namespace tutti::p2p
