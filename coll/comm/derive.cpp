// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators from an existing one. Few members contribute something (create.hpp); the functions differ
// in how all members receive it.
#include "coll/comm/derive.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages.hpp"
#include "coll/call/internal.hpp"
#include "coll/call/request.hpp"
#include "coll/comm/create.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/objects/group.hpp"

namespace tutti::coll {
namespace {

/// What a process contributes to a split.
struct ColorAndKey {
    int color, key, rank;   ///< rank: in the union group
    bool participates;
};

/// Returns the world ranks of the members with the caller's color on both sides, by key, then by rank in the parent.
std::vector<int> members_of_color(Comm& parent, std::optional<int> color, int key) {
    ColorAndKey mine{color.value_or(0), key, parent.union_group->rank(), color.has_value()};
    std::vector<ColorAndKey> all(static_cast<std::size_t>(parent.union_group->size()));
    allgather_bytes(parent, &mine, sizeof mine, all.data());
    std::erase_if(all,
                  [&](ColorAndKey const& c) { return !c.participates || !mine.participates || c.color != mine.color; });
    std::ranges::stable_sort(all, {}, &ColorAndKey::key);   // they are in rank order before
    std::vector<int> world_ranks;
    for (ColorAndKey const& c : all) world_ranks.push_back(parent.union_group->world_rank(c.rank));
    return world_ranks;
}

/// Returns the group of those `world_ranks` that are in `side`, in their order.
Ref<Group> members_of_side(Comm const& parent, Group const& side, std::vector<int> world_ranks) {
    std::erase_if(world_ranks, [&](int world) { return side.rank_of(world) < 0; });
    return Ref<Group>::adopt(new Group(std::move(world_ranks), parent.process.rank()));
}

/// Collective over `parent`: exchanges the contributions of all processes and whether they failed. Without `members`,
/// this process is not in the new communicator, but it learns of failures all the same.
Ref<Comm> create_from_allocations(Comm& parent, std::optional<Members> members) {
    ContextAllocation const mine =
        members ? allocate_context(parent.process, *members->union_group) : ContextAllocation{};
    std::vector<ContextAllocation> all_allocations(static_cast<std::size_t>(parent.union_group->size())), parts;
    allgather_bytes(parent, &mine, sizeof mine, all_allocations.data());
    check_allocations(parent.process, all_allocations);
    if (!members) return {};
    for (int world : members->union_group->world_ranks())
        parts.push_back(all_allocations[static_cast<std::size_t>(parent.union_group->rank_of(world))]);
    return make_child(parent, std::move(*members), parts);
}

Ref<Comm> split_inter(Comm& parent, std::optional<int> color, int key) {
    std::vector<int> const chosen = members_of_color(parent, color, key);
    Ref<Group> mine = members_of_side(parent, *parent.group, chosen),
               remote = members_of_side(parent, *parent.remote, chosen);
    std::optional<Members> members;
    if (mine->size() > 0 && remote->size() > 0)
        members = Members(std::move(mine), std::move(remote), parent.local_group_first());
    return create_from_allocations(parent, std::move(members));
}

/// Each side determines the other side's group by a split in which only the members of the groups take part.
Ref<Comm> create_inter(Comm& parent, Group const& mine) {
    std::optional<int> const part = mine.rank() < 0 ? std::nullopt : std::optional(0);
    Ref<Comm> child = split_inter(parent, part, mine.rank());
    if (child && compare(*child->group, mine) != GroupComparison::identical)
        fail(ErrorClass::group, "the processes of the local group passed different groups");
    return child;
}

}   // namespace

Ref<Comm> create_with_all_members(Comm& parent, Members members) {
    if (!on_one_node(parent.process, *members.union_group)) return create_from_allocations(parent, std::move(members));
    ContextAllocation first = allocate_context(parent.process, *members.union_group);
    bcast_bytes(parent, &first, sizeof first, parent.union_group->rank_of(members.union_group->world_rank(0)));
    return make_child(parent, std::move(members), {&first, 1});
}

Ref<Comm> duplicate_bare(Comm& parent) { return create_with_all_members(parent, parent); }

Ref<Comm> duplicate(Comm& parent) {
    Ref<Comm> child = duplicate_bare(parent);
    if (parent.topology) child->topology = std::make_unique<VirtualTopology>(*parent.topology);
    return child;
}

Ref<Comm> create(Comm& parent, Ref<Group> mine) {
    if (parent.is_inter()) return create_inter(parent, *mine);
    return create_from_allocations(parent, mine->rank() < 0 ? std::nullopt : std::optional<Members>(std::move(mine)));
}

Ref<Comm> split(Comm& parent, std::optional<int> color, int key) {
    if (parent.is_inter()) return split_inter(parent, color, key);
    return create(parent, members_of_side(parent, *parent.group, members_of_color(parent, color, key)));
}

/// Uses a binomial tree: with r the highest bit of a rank, its parent is rank − r and its children are rank + 2r,
/// rank + 4r, …. The contributions are gathered up the tree only on several nodes, because on one node the first
/// member's contribution suffices; the result is broadcast down the tree.
Ref<Comm> create_group(Comm& parent, Ref<Group> mine, int tag) {
    constexpr char call[] = "MPI_Comm_create_group";
    auto in_parent = [&](int rank) { return parent.group->rank_of(mine->world_rank(rank)); };
    int const me = mine->rank(), size = mine->size();
    bool const one_node = on_one_node(parent.process, *mine);
    int child_distance = 1;   // the smallest distance to a child in the tree, twice that to the parent
    while (child_distance <= me) child_distance *= 2;
    std::vector<ContextAllocation> parts(one_node ? 1 : static_cast<std::size_t>(size)), others(parts.size());
    std::size_t const bytes = parts.size() * sizeof(ContextAllocation);
    parts[one_node ? 0 : static_cast<std::size_t>(me)] = allocate_context(parent.process, *mine);
    for (int bit = child_distance; !one_node && me + bit < size; bit *= 2) {
        p2p::recv_bytes(parent, others.data(), bytes, in_parent(me + bit), tag, call);
        for (std::size_t r = 0; r < parts.size(); ++r)
            if (others[r].area != 0 || others[r].failed > 0) parts[r] = others[r];
    }
    if (me > 0 && !one_node)
        p2p::send_bytes(parent, parts.data(), bytes, in_parent(me - child_distance / 2), tag, call);
    if (me > 0) p2p::recv_bytes(parent, parts.data(), bytes, in_parent(me - child_distance / 2), tag, call);
    for (int bit = child_distance; me + bit < size; bit *= 2)
        p2p::send_bytes(parent, parts.data(), bytes, in_parent(me + bit), tag, call);
    return make_child(parent, std::move(mine), parts);
}

// Distributed graphs: one allgather if all ranks specify a similar number of edges, otherwise one broadcast per
// specifying rank.

namespace {

using Counts = std::vector<std::uint64_t>;

std::vector<Edge> gather_even(Comm& comm, std::vector<Edge> mine, Counts const& counts, std::uint64_t most) {
    mine.resize(most);
    std::vector<Edge> padded(most * counts.size()), all;
    allgather_bytes(comm, mine.data(), most * sizeof(Edge), padded.data());
    for (std::size_t r = 0; r < counts.size(); ++r) {
        auto from = padded.begin() + static_cast<std::ptrdiff_t>(r * most);
        all.insert(all.end(), from, from + static_cast<std::ptrdiff_t>(counts[r]));
    }
    return all;
}

std::vector<Edge> gather_uneven(Comm& comm, std::vector<Edge> const& mine, Counts const& counts) {
    std::vector<Edge> all;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        if (counts[r] == 0) continue;
        std::vector<Edge> piece = mine;
        piece.resize(counts[r]);
        bcast_bytes(comm, piece.data(), piece.size() * sizeof(Edge), static_cast<int>(r));
        all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
}

/// Returns the edges of all ranks, in the order of the specifying ranks.
std::vector<Edge> gather(Comm& comm, std::vector<Edge> const& mine) {
    std::uint64_t count = mine.size();
    Counts counts(static_cast<std::size_t>(comm.size()));
    allgather_bytes(comm, &count, sizeof count, counts.data());
    std::uint64_t most = *std::ranges::max_element(counts), total = 0;
    for (std::uint64_t c : counts) total += c;
    bool even = most * counts.size() <= 2 * total;
    return even ? gather_even(comm, mine, counts, most) : gather_uneven(comm, mine, counts);
}

}   // namespace

DistGraphTopology exchange_edges(Comm& comm, std::vector<Edge> const& mine, bool weighted) {
    DistGraphTopology graph;
    graph.weighted = weighted;
    for (Edge const& e : gather(comm, mine)) {
        if (e.destination == comm.rank()) {
            graph.sources.push_back(e.source);
            if (weighted) graph.source_weights.push_back(e.weight);
        }
        if (e.source == comm.rank()) {
            graph.destinations.push_back(e.destination);
            if (weighted) graph.destination_weights.push_back(e.weight);
        }
    }
    return graph;
}

void match_edges(Comm& comm, DistGraphTopology& graph) {
    std::vector<Edge> mine;
    for (int destination : graph.destinations) mine.push_back({comm.rank(), destination, 0});
    std::vector<int> degrees(static_cast<std::size_t>(comm.size()));
    std::map<int, std::deque<int>> indices;   // positions of this rank among the destinations of each source
    for (Edge const& e : gather(comm, mine)) {
        int const index = degrees[static_cast<std::size_t>(e.source)]++;
        if (e.destination == comm.rank()) indices[e.source].push_back(index);
    }
    for (int source : graph.sources) {
        std::deque<int>& open = indices[source];
        if (open.empty()) graph.mismatched_rank = source;
        graph.source_edges.push_back({open.empty() ? 0 : open.front(), degrees[static_cast<std::size_t>(source)]});
        if (!open.empty()) open.pop_front();
    }
    for (auto const& [source, open] : indices)
        if (!open.empty()) graph.mismatched_rank = source;
}

// MPI_Comm_idup: each member computes its contribution when it calls; a nonblocking operation distributes the
// contributions, and its completion makes the communicator usable.

namespace algorithms::allgather {
extern const Algorithm<AllgatherArgs> bruck_algorithm;
}

namespace {

/// Distributes the contributions. On one node, the first member's contribution suffices.
Task distribute_parts(ShmEnv& env, std::vector<ContextAllocation>& parts) {
    ContextAllocation& first = parts.front();
    if (env.rank() == 0) {
        std::memcpy(env.slot(sizeof first), &first, sizeof first);
        env.publish();
    } else {
        co_await env.until(0);
        std::memcpy(&first, env.slot(0, sizeof first), sizeof first);
    }
}

Task distribute_parts(NetEnv& env, std::vector<ContextAllocation>& parts) {
    ContextAllocation mine = parts[static_cast<std::size_t>(env.rank())];
    AllgatherArgs const all = allgather_bytes_args(&mine, sizeof mine, parts.data());
    co_await algorithms::allgather::bruck_algorithm.net(env, all);
}

class Duplication final : public CollectiveRequest {
public:
    Duplication(Comm& parent, Ref<Comm> child)
        : CollectiveRequest(parent, 1, 1), child_(std::move(child)),
          parts_(state_of(parent).multi_node ? static_cast<std::size_t>(parent.union_group->size()) : 1) {
        std::size_t const me = state_of(parent).multi_node ? static_cast<std::size_t>(parent.union_group->rank()) : 0;
        parts_[me] = allocate_context(parent.process, *parent.union_group);
    }

private:
    RunningOperation& begin(unsigned, unsigned) override {
        operation_.emplace(*comm, sequence(), state_of(*comm).trees, "MPI_Comm_idup", OperationNumbers{first(), 0, 0});
        operation_->begin([this](auto& env) { return distribute_parts(env, parts_); });
        return *operation_;
    }
    void on_fragment_ended(unsigned) override { operation_.reset(); }
    void on_finished() override {
        if (status.error != ErrorClass::success) return release_allocation();
        try {
            check_allocations(child_->process, parts_);
        } catch (Error const& error) {
            status.error = error.error_class;
            error_text = error.what();
            return;
        }
        attach(*child_, parts_);
        std::vector<std::string> ignored;
        if (child_->info) apply_hints(*child_, ignored);
    }

    /// After a failure: releases what this rank allocated.
    void release_allocation() {
        for (ContextAllocation const& part : parts_)
            if (part.area != 0 && part.owner == child_->process.rank()) child_->process.heap.release(part.area);
    }

    Ref<Comm> child_;
    std::vector<ContextAllocation> parts_;   ///< the first member's; on several nodes, all members'
    std::optional<RunningOperation> operation_;
};

}   // namespace

std::pair<Ref<Comm>, Ref<Request>> duplicate_nonblocking(Comm& parent, Ref<Info> hints) {
    auto child = Ref<Comm>::adopt(new Comm(parent.process, parent, 0));
    child->errhandler = parent.errhandler;
    if (parent.topology) child->topology = std::make_unique<VirtualTopology>(*parent.topology);
    child->info = std::move(hints);
    auto request = Ref<Request>::adopt(new (parent.process) Duplication(parent, child));
    request->start();
    return {std::move(child), std::move(request)};
}

// The operation sequence of a persistent request. Its memory is allocated like a communicator's; the function is
// defined here because it calls collectives.

void CollectiveRequest::use_own_sequence() {
    if (state_of(*comm).multi_node) {
        own_comm_ = duplicate_bare(*comm);
        own_comm_->reported_as = &*comm;
        sequence_ = &state_of(*own_comm_);
        return;
    }
    Process& process = comm->process;
    int const members = comm->union_group->size();
    std::size_t& held = state_of(process).sequence_bytes;
    std::size_t const heap = process.segment.layout().heap_bytes;
    ContextAllocation mine{};
    // Leaves half of the heap for communicators and staging memory.
    if (comm->union_group->rank() == 0 && held + Area::bytes(members) <= heap / 2)
        mine = allocate_context(process, *comm->union_group);
    bcast_bytes(*comm, &mine, sizeof mine, 0);
    if (mine.context == 0) return;
    own_sequence_ = std::make_unique<OperationSequence>(
        process, Area(process.segment.at(mine.area), *comm->union_group, process), comm->union_group->rank());
    sequence_ = own_sequence_.get();
    if (mine.owner != process.rank()) return;
    own_sequence_->owned_offset = mine.area;
    held += Area::bytes(members);
}

}   // namespace tutti::coll
