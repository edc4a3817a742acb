// SPDX-License-Identifier: BSD-3-Clause
// What a daemon is told about the job, and the other structures that launchers send each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/allocation/allocation.hpp"
#include "launcher/base/job.hpp"
#include "launcher/nodes/diagnosis_messages.hpp"
#include "launcher/nodes/pack.hpp"
#include "launcher/streams/last_words.hpp"
#include "launcher/supervise/elsewhere.hpp"

namespace tutti::launcher {

/// The same for all nodes.
struct Assignment {
    Job job;
    Allocation allocation;
    std::string folder;                     ///< where mpiexec was started
    std::vector<std::string> environment;   ///< "NAME=VALUE", of mpiexec
};

/// This daemon's part: its number, and the numbers of the nodes whose daemons it starts and speaks for.
struct Part {
    int node = -1;
    std::vector<int> below;
};

/// The frame `start`.
struct StartOrder {
    std::vector<std::string> names;                    ///< by node
    std::vector<std::vector<std::string>> addresses;   ///< likewise
    std::vector<std::vector<std::uint16_t>> ports;     ///< by node and place
    std::string key;
    std::string tuning;
};

/// Bytes of an output stream (1 or 2).
struct Chunk {
    int stream = 1;
    std::string bytes;
};

/// Last words of a rank, before their line comes by output stream 1 or 2.
struct Said {
    int stream = 2;
    LastWords words;
};

/// So many bytes of stream 0, 1 or 2 have been taken.
struct Taken {
    int stream = 1;
    std::uint64_t bytes = 0;
};

template <class A>
void members(A& a, EnvironmentRules& r) {
    a(r.inherit, r.list, r.set);
}
template <class A>
void members(A& a, Host& h) {
    a(h.name, h.slots, h.most);
}
template <class A>
void members(A& a, RankPlace& r) {
    a(r.rank, r.host, r.slots);
}
template <class A>
void members(A& a, Program& p) {
    a(p.command, p.ranks, p.directory, p.path, p.environment, p.hosts);
}
template <class A>
void members(A& a, InputTo& i) {
    a(i.kind, i.rank);
}
template <class A>
void members(A& a, Job& j) {
    a(j.programs, j.environment, j.hosts, j.per_node, j.agent, j.daemon, j.interface, j.bind, j.map, j.rank_places,
      j.cpus, j.cpus_in_order, j.output_from, j.gpus_per_rank, j.index_argv, j.do_not_launch, j.report_bindings,
      j.no_oversubscribe, j.debugger, j.windows, j.keep_windows, j.input, j.prefix, j.timestamps, j.merge_errors,
      j.out_pattern, j.err_pattern, j.on_terminal, j.timeout, j.quiet, j.verbose, j.exit_codes, j.keep_going,
      j.statistics, j.report_file, j.trace_file, j.traced_events, j.drop_in, j.preload_arena, j.show_hierarchy,
      j.json_messages);
}
template <class A>
void members(A& a, Assignment& all) {
    a(all.job, all.allocation, all.folder, all.environment);
}
template <class A>
void members(A& a, Part& p) {
    a(p.node, p.below);
}
template <class A>
void members(A& a, NodeFacts& f) {
    a(f.host, f.addresses, f.ports, f.drawing);
}
template <class A>
void members(A& a, StartOrder& s) {
    a(s.names, s.addresses, s.ports, s.key, s.tuning);
}
template <class A>
void members(A& a, Chunk& c) {
    a(c.stream, c.bytes);
}
template <class A>
void members(A& a, LastWords& w) {
    a(w.rank, w.sentence, w.code, w.call, w.help, w.place);
}
template <class A>
void members(A& a, Said& s) {
    a(s.stream, s.words);
}
template <class A>
void members(A& a, Taken& t) {
    a(t.stream, t.bytes);
}
template <class A>
void members(A& a, Missing& m) {
    a(m.rank, m.pid, m.host);
}
template <class A>
void members(A& a, NotFreedCounts& c) {
    a(c.most, c.least);
}
template <class A>
void members(A& a, Verdict& v) {
    a(v.kind, v.code, v.sentence, v.report);
}

}   // namespace tutti::launcher

namespace tutti::topo {

template <class A>
void members(A& a, BindTo& b) {
    a(b.kind, b.unit, b.count, b.user);
}
template <class A>
void members(A& a, MapBy& m) {
    a(m.unit, m.count, m.per_unit, m.cores, m.said);
}

}   // namespace tutti::topo
