// SPDX-License-Identifier: BSD-3-Clause
// Broadcast over any number of levels, pull-based and pipelined: every leader shows its buffer, counts up how many
// chunks are in it, and its team copies them from there; acknowledgements come back over the same tree.
// L + s/chunk steps; (p − 1)·s copied once by single copy, 2·(p − 1)·s at most where it must be staged.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A.
#include "coll/algorithm.hpp"

namespace tutti::coll::algorithms::bcast {
namespace {

constexpr int depth = 2;         // staged chunks under way at once
constexpr int bounce = depth;    // the chunk of staging memory in which a gappy layout is unpacked from
constexpr int data_level = 0;    // counters: chunks ready, chunks read

// One rank's part in one broadcast.
template <class Env>
struct Part {
    Part(Env& e, BcastArgs const& args)
        : env(e), a(args), bytes(args.data.bytes()),
          chunk(std::min(args.parameters[0], e.staging_bytes() / (depth + 1))), chunks((bytes + chunk - 1) / chunk),
          levels(e.hierarchy().levels_of(e.rank(), args.root)) {
        dense = a.data.type->dense(a.data.count);
        base = static_cast<std::byte*>(a.data.address) + a.data.type->true_lb();
    }

    std::size_t length(std::uint64_t c) const { return std::min(chunk, bytes - c * chunk); }
    bool root() const { return env.rank() == a.root; }
    int parent() const { return env.hierarchy().team(levels - 1, env.rank(), a.root).leader; }

    // The members of the teams that this rank leads.
    std::vector<int> children() const {
        std::vector<int> all;
        for (int level = 0; level < levels; ++level) {
            topo::Team const team = env.hierarchy().team(level, env.rank(), a.root);
            if (!team.i_lead) break;
            for (int member : team.members)
                if (member != env.rank()) all.push_back(member);
        }
        return all;
    }

    Env& env;
    BcastArgs const& a;
    std::size_t bytes, chunk;
    std::uint64_t chunks;
    int levels;
    bool dense;
    std::byte* base;
};

// Lays chunk `c` out in this rank's staging memory for its children.
template <class Env>
void stage(Part<Env>& p, std::uint64_t c) {
    p.env.load(p.env.staging() + c % depth * p.chunk, p.a.data, c * p.chunk, p.length(c));
}

// Copies chunk `c` straight from the parent's buffer; false when the system refuses.
template <class Env>
bool pull(Part<Env>& p, int parent, std::uint64_t c) {
    std::uint64_t const from = p.env.exposure(parent).address + c * p.chunk;
    std::byte* to = p.dense ? p.base + c * p.chunk : p.env.staging() + bounce * p.chunk;
    if (!p.env.fetch(parent, from, to, p.length(c))) return false;
    if (!p.dense) p.env.store(p.a.data, c * p.chunk, to, p.length(c));
    return true;
}

// Receives chunk `c`. `refused`: single copy has failed in this operation; the parent serves the rest on demand.
template <class Env>
Task receive(Env& env, Part<Env>& p, int parent, std::uint64_t c, bool& refused) {
    co_await env.until_ready(parent, data_level, c + 1);
    bool const staged = env.exposure(parent).way == Way::staged;
    if (!staged && !refused && pull(p, parent, c)) co_return;
    if (!staged) {   // ask for this chunk and wait until it lies in the parent's staging memory
        refused = true;
        env.ack(data_level, c + 1);
        co_await env.until_sent(parent, c + 1);
    }
    env.store(p.a.data, c * p.chunk, env.staging(parent) + c % depth * p.chunk, p.length(c));
    if (staged) env.ack(data_level, c + 1);
}

// Waits until a child has read everything, staging what it asks for meanwhile.
template <class Env>
Task finish(Env& env, Part<Env>& p, int child, Way way) {
    std::uint64_t seen = 0;
    if (way == Way::staged) co_await env.until_ack(child, data_level, last_step);
    while (env.acked(child, data_level) != last_step) {
        co_await env.until_ack(child, data_level, seen + 1);
        seen = env.acked(child, data_level);
        if (seen == last_step) break;
        stage(p, seen - 1);
        env.sent(child, seen);
    }
}

}  // namespace

template <class Env>
Task hierarchical(Env& env, BcastArgs const& a) {
    Part<Env> p(env, a);
    std::vector<int> const children = p.children();
    int const parent = p.root() ? -1 : p.parent();
    Way const way = p.dense ? env.expose(p.base, p.bytes) : env.expose_staged();
    bool refused = false;
    for (std::uint64_t c = 0; c < p.chunks; ++c) {
        if (parent >= 0) co_await receive(env, p, parent, c, refused);
        if (children.empty()) continue;
        if (way == Way::staged) {
            for (int child : children)
                if (c >= depth) co_await env.until_ack(child, data_level, c - depth + 1);
            stage(p, c);
        }
        env.ready(data_level, c + 1);
    }
    if (parent >= 0) env.ack(data_level, last_step);
    for (int child : children) co_await finish(env, p, child, way);
}

constexpr Parameter hierarchical_parameters[] = {{"chunk", 65536, "bytes that are passed on at a time"}};
constinit const Algorithm<BcastArgs> hierarchical_algorithm = {
    "hierarchical", "every team pulls chunks from its leader's buffer, level after level", "XHC, section IV.A",
    needs_nothing, hierarchical_parameters, TUTTI_RUNS(hierarchical)};

}  // namespace tutti::coll::algorithms::bcast
