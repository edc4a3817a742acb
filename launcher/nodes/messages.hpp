// SPDX-License-Identifier: BSD-3-Clause
// Structures that the launchers of a job send each other, and their serialisation by launcher/base/pack.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/base/job.hpp"
#include "launcher/base/pack.hpp"
#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/supervise/abort_messages.hpp"
#include "launcher/supervise/other_nodes.hpp"

namespace tutti {

template <class A>
void members(A& a, RankRange& r) {
    a(r.first, r.last, r.stride);
}

}   // namespace tutti

namespace tutti::launcher {

template <class A>
void members(A& a, RankWait& w) {
    a(w.state, w.awaiting, w.awaited, w.others, w.other_threads);
}
template <class A>
void members(A& a, RankUpdate& n) {
    a(n.rank, n.changes, n.wait);
}
template <class A>
void members(A& a, WaitQuery::Suspect& s) {
    a(s.rank, s.changes);
}
template <class A>
void members(A& a, WaitQuery& q) {
    a(q.number, q.suspects);
}
template <class A>
void members(A& a, WaitReply& one) {
    a(one.number, one.unchanged, one.progress_count, one.sent, one.received);
}
template <class A>
void members(A& a, StallState& s) {
    a(s.nodes, s.polling);
}
template <class A>
void members(A& a, NodeUpdate& n) {
    a(n.ranks, n.reply, n.stall);
}
template <class A>
void members(A& a, SourcePosition& p) {
    a(p.text, p.without_g);
}
template <class A>
void members(A& a, LocatedCall& c) {
    a(c.rank, c.kind, c.call, c.stack, c.position);
}
template <class A>
void members(A& a, ErrorText& e) {
    a(e.code, e.headline, e.help);
}
template <class A>
void members(A& a, BlockedRank& b) {
    a(static_cast<LocatedCall&>(b), b.changes, b.progress_count, b.wait, b.error, b.waiting_rank, b.other_threads,
      b.polling_s);
}
template <class A>
void members(A& a, UnblockedRank& u) {
    a(u.rank, u.state, u.call, u.position, u.now);
}
template <class A>
void members(A& a, RankStates& s) {
    a(s.waiting, s.unblocked, s.calls);
}
template <class A>
void members(A& a, RankQuery& i) {
    a(i.ranks, i.unblocked, i.calls);
}
template <class A>
void members(A& a, ReportLine& l) {
    a(l.ranks, l.call, l.position, l.remark, l.stack);
}
template <class A>
void members(A& a, Report& r) {
    a(r.code, r.headline, r.lines, r.help, r.notes, r.severity);
}

// The job, as a daemon receives it, and the bodies of frames.

/// The part of the frame `job` that is the same for all nodes.
struct Assignment {
    Job job;
    Allocation allocation;
    std::string folder;                     ///< working directory of mpiexec
    std::vector<std::string> environment;   ///< "NAME=VALUE", the environment of mpiexec
};

/// The part of one daemon: its node, and the nodes whose daemons it starts and represents.
struct DaemonSubtree {
    int node = -1;
    std::vector<int> descendants;
};

/// Body of the frame `start`.
struct StartOrder {
    std::vector<std::string> names;                    ///< by node
    std::vector<std::vector<std::string>> addresses;   ///< by node
    std::vector<std::vector<std::uint16_t>> ports;     ///< by node and local rank
    std::string key;                                   ///< bytes of the JobKey
    std::string tuning;                                ///< as ClusterInfo::tuning
    std::string job_name;                              ///< as ClusterInfo::job_name
    ServiceOffer offer;                                ///< as ClusterInfo::offer
};

/// Bytes of an output stream (1 or 2).
struct OutputChunk {
    int stream = 1;
    std::string bytes;
};

/// A rank's last message, sent before its line arrives by output stream 1 or 2.
struct AbortNotice {
    int stream = 2;
    RankAbortMessage message;
};

/// Number of bytes of stream 0, 1 or 2 that have been consumed.
struct WindowUpdate {
    int stream = 1;
    std::uint64_t bytes = 0;
};

template <class A>
void members(A& a, EnvironmentRules& r) {
    a(r.inherit, r.list, r.set);
}
template <class A>
void members(A& a, Host& h) {
    a(h.name, h.slots, h.max_ranks);
}
template <class A>
void members(A& a, RankFileEntry& r) {
    a(r.rank, r.host, r.slots);
}
template <class A>
void members(A& a, Program& p) {
    a(p.command, p.ranks, p.directory, p.path, p.environment, p.hosts);
}
template <class A>
void members(A& a, InputTarget& i) {
    a(i.kind, i.rank);
}
template <class A>
void members(A& a, Job& j) {
    a(j.programs, j.environment, j.hosts, j.hosts_may_be_starting, j.per_node, j.agent, j.daemon, j.interface, j.bind,
      j.map, j.rank_file_entries, j.cpus, j.cpus_in_order, j.output_from, j.gpus_per_rank, j.index_argv,
      j.do_not_launch, j.report_bindings, j.no_oversubscribe, j.debugger, j.windows, j.keep_windows, j.input, j.prefix,
      j.timestamps, j.merge_errors, j.out_pattern, j.err_pattern, j.on_terminal, j.timeout, j.quiet, j.verbose,
      j.exit_codes, j.keep_going, j.statistics, j.report_file, j.trace_file, j.traced_events, j.drop_in,
      j.preload_arena, j.show_hierarchy, j.json_messages);
}
template <class A>
void members(A& a, Assignment& all) {
    a(all.job, all.allocation, all.folder, all.environment);
}
template <class A>
void members(A& a, DaemonSubtree& p) {
    a(p.node, p.descendants);
}
template <class A>
void members(A& a, ServiceOffer& o) {
    a(o.service, o.obstacle);
}
template <class A>
void members(A& a, NodeFacts& f) {
    a(f.host, f.addresses, f.ports, f.drawing, f.mpi_library, f.offer);
}
template <class A>
void members(A& a, StartOrder& s) {
    a(s.names, s.addresses, s.ports, s.key, s.tuning, s.job_name, s.offer);
}
template <class A>
void members(A& a, OutputChunk& c) {
    a(c.stream, c.bytes);
}
template <class A>
void members(A& a, RankAbortMessage& m) {
    a(m.error, m.call);
}
template <class A>
void members(A& a, AbortNotice& s) {
    a(s.stream, s.message);
}
template <class A>
void members(A& a, WindowUpdate& t) {
    a(t.stream, t.bytes);
}
template <class A>
void members(A& a, NeverInitialized& m) {
    a(m.rank, m.pid, m.host);
}
template <class A>
void members(A& a, Contribution& c) {
    a(c.exchange, c.nodes, c.node, c.bytes);
}
template <class A>
void members(A& a, Exchanged& e) {
    a(e.exchange, e.parts);
}
template <class A>
void members(A& a, NotFreedCounts& c) {
    a(c.most, c.least);
}
template <class A>
void members(A& a, ExitedRank& e) {
    a(e.rank, e.signal, e.after_finalize, e.description, e.process, e.function, e.last_call, e.crash);
}
template <class A>
void members(A& a, RankExit& v) {
    a(v.kind, v.code, v.message, v.in_mpi);
}

}   // namespace tutti::launcher

namespace tutti::topo {

template <class A>
void members(A& a, BindTo& b) {
    a(b.kind, b.unit, b.count, b.user);
}
template <class A>
void members(A& a, MapBy& m) {
    a(m.unit, m.count, m.per_unit, m.cores, m.is_given);
}

}   // namespace tutti::topo
