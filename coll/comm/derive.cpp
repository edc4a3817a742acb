// SPDX-License-Identifier: BSD-3-Clause
// New communicators made of an existing one. Few members have something to bring (create.hpp); what differs is how
// all hear of it.
#include "coll/comm/derive.hpp"

#include <algorithm>

#include "coll/call/bytes.hpp"
#include "coll/comm/create.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/objects/group_calculus.hpp"

namespace tutti::coll {
namespace {

/// Whom a process chooses to be with in a split.
struct ColorAndKey {
    int color, key, rank;   ///< of those in the union group
    bool takes_part;
};

/// World ranks of the members of the caller's color on both sides, by key, then by rank in the parent.
std::vector<int> companions(Comm& parent, std::optional<int> color, int key) {
    ColorAndKey mine{color.value_or(0), key, parent.union_group->rank(), color.has_value()};
    std::vector<ColorAndKey> all(static_cast<std::size_t>(parent.union_group->size()));
    allgather_bytes(parent, &mine, sizeof mine, all.data());
    std::erase_if(all,
                  [&](ColorAndKey const& c) { return !c.takes_part || !mine.takes_part || c.color != mine.color; });
    std::ranges::stable_sort(all, {}, &ColorAndKey::key);   // they come in rank order
    std::vector<int> world_ranks;
    for (ColorAndKey const& c : all) world_ranks.push_back(parent.union_group->world_rank(c.rank));
    return world_ranks;
}

/// Those of them who are on one side of the parent.
Ref<Group> on_side(Comm const& parent, Group const& side, std::vector<int> world_ranks) {
    std::erase_if(world_ranks, [&](int world) { return side.rank_of(world) < 0; });
    return Ref<Group>::adopt(new Group(std::move(world_ranks), parent.process.rank()));
}

/// Collective: everybody in `parent` says what it brings, and whether it failed. Without members: in no new
/// communicator, which is told of failures all the same.
Ref<Comm> create_with(Comm& parent, std::optional<Members> members) {
    ContextAllocation const mine =
        members ? allocate_context(parent.process, *members->union_group) : ContextAllocation{};
    std::vector<ContextAllocation> everybodys(static_cast<std::size_t>(parent.union_group->size())), parts;
    allgather_bytes(parent, &mine, sizeof mine, everybodys.data());
    agree(parent.process, everybodys);
    if (!members) return {};
    for (int world : members->union_group->world_ranks())
        parts.push_back(everybodys[static_cast<std::size_t>(parent.union_group->rank_of(world))]);
    return make_child(parent, std::move(*members), parts);
}

Ref<Comm> split_inter(Comm& parent, std::optional<int> color, int key) {
    std::vector<int> const chosen = companions(parent, color, key);
    Ref<Group> mine = on_side(parent, *parent.group, chosen), theirs = on_side(parent, *parent.remote, chosen);
    std::optional<Members> members;
    if (mine->size() > 0 && theirs->size() > 0)
        members = Members(std::move(mine), std::move(theirs), parent.comes_first());
    return create_with(parent, std::move(members));
}

/// The other side's group is learned by splitting off those who are in theirs.
Ref<Comm> create_inter(Comm& parent, Group const& mine) {
    std::optional<int> const part = mine.rank() < 0 ? std::nullopt : std::optional(0);
    Ref<Comm> child = split_inter(parent, part, mine.rank());
    if (child && compare(*child->group, mine) != Likeness::identical)
        fail(ErrorClass::group, "group is not the same at all processes of the local group");
    return child;
}

}   // namespace

Ref<Comm> create_of_all(Comm& parent, Members members) {
    if (!on_one_node(parent.process, *members.union_group)) return create_with(parent, std::move(members));
    ContextAllocation first = allocate_context(parent.process, *members.union_group);
    bcast_bytes(parent, &first, sizeof first, parent.union_group->rank_of(members.union_group->world_rank(0)));
    return make_child(parent, std::move(members), {&first, 1});
}

Ref<Comm> duplicate_bare(Comm& parent) { return create_of_all(parent, parent); }

Ref<Comm> duplicate(Comm& parent) {
    Ref<Comm> child = duplicate_bare(parent);
    if (parent.topology) child->topology = std::make_unique<VirtualTopology>(*parent.topology);
    return child;
}

Ref<Comm> create(Comm& parent, Ref<Group> mine) {
    if (parent.inter()) return create_inter(parent, *mine);
    return create_with(parent, mine->rank() < 0 ? std::nullopt : std::optional<Members>(std::move(mine)));
}

Ref<Comm> split(Comm& parent, std::optional<int> color, int key) {
    if (parent.inter()) return split_inter(parent, color, key);
    return create(parent, on_side(parent, *parent.group, companions(parent, color, key)));
}

/// Up and down a binomial tree: with r the highest bit of a rank, it is below rank − r and above rank + 2r, …. Up goes
/// only what there is to bring beside the first member, on several nodes.
Ref<Comm> create_group(Comm& parent, Ref<Group> mine, int tag) {
    constexpr char call[] = "MPI_Comm_create_group";
    auto in_parent = [&](int rank) { return parent.group->rank_of(mine->world_rank(rank)); };
    int const me = mine->rank(), size = mine->size();
    bool const one_node = on_one_node(parent.process, *mine);
    int above = 1;   // the lowest distance to a rank below this one
    while (above <= me) above *= 2;
    std::vector<ContextAllocation> parts(one_node ? 1 : static_cast<std::size_t>(size)), others(parts.size());
    std::size_t const bytes = parts.size() * sizeof(ContextAllocation);
    parts[one_node ? 0 : static_cast<std::size_t>(me)] = allocate_context(parent.process, *mine);
    for (int bit = above; !one_node && me + bit < size; bit *= 2) {
        p2p::recv_bytes(parent, others.data(), bytes, in_parent(me + bit), tag, call);
        for (std::size_t r = 0; r < parts.size(); ++r)
            if (others[r].area != 0 || others[r].failed > 0) parts[r] = others[r];
    }
    if (me > 0 && !one_node) p2p::send_bytes(parent, parts.data(), bytes, in_parent(me - above / 2), tag, call);
    if (me > 0) p2p::recv_bytes(parent, parts.data(), bytes, in_parent(me - above / 2), tag, call);
    for (int bit = above; me + bit < size; bit *= 2)
        p2p::send_bytes(parent, parts.data(), bytes, in_parent(me + bit), tag, call);
    return make_child(parent, std::move(mine), parts);
}

}   // namespace tutti::coll
