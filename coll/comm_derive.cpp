// SPDX-License-Identifier: BSD-3-Clause
// New communicators made of an existing one. In each the new rank 0 conceives it; what differs is how the others hear.
#include "coll/comm_derive.hpp"

#include <algorithm>

#include "coll/agree.hpp"
#include "coll/comm_create.hpp"
#include "p2p/p2p.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {
namespace {

/// A failure travels like a birth, so that nobody waits for one that cannot come; 0 is no communicator's context.
Birth conceive_or_tell(Process& process, int size) {
    try {
        return conceive(process, size);
    } catch (Error const&) {
        return {};
    }
}

Ref<Comm> grown(Comm& parent, Ref<Group> members, Birth const& birth) {
    if (birth.context == 0)
        fail(ErrorClass::no_mem, "no shared memory is left for a communicator of ", members->size(), " ranks");
    Ref<Comm> child = make_comm(parent.process, std::move(members), birth);
    child->errhandler = parent.errhandler;
    return child;
}

/// Members of the caller's color by key, then by rank in the parent.
std::vector<int> companions(Comm& parent, std::optional<int> color, int key) {
    struct Choice {
        int color, key, rank;
        bool takes_part;
    };
    Choice mine{color.value_or(0), key, parent.rank(), color.has_value()};
    std::vector<Choice> all(static_cast<std::size_t>(parent.size()));
    allgather_bytes(parent, &mine, sizeof mine, all.data());
    std::erase_if(all, [&](Choice const& c) { return !c.takes_part || !mine.takes_part || c.color != mine.color; });
    std::ranges::stable_sort(all, {}, &Choice::key);   // they come in rank order
    std::vector<int> world_ranks;
    for (Choice const& c : all) world_ranks.push_back(parent.world_rank(c.rank));
    return world_ranks;
}

}  // namespace

Ref<Comm> duplicate(Comm& parent) {
    Birth birth{};
    if (parent.rank() == 0) birth = conceive_or_tell(parent.process, parent.size());
    bcast_bytes(parent, &birth, sizeof birth, 0);
    Ref<Comm> child = grown(parent, parent.group, birth);
    if (parent.topology) child->topology = std::make_unique<VirtualTopology>(*parent.topology);
    if (parent.info) {
        child->info = Ref<Info>::adopt(new Info);
        child->info->entries = parent.info->entries;
        std::vector<std::string> told_before;
        take_hints(*child, told_before);
    }
    return child;
}

Ref<Comm> create(Comm& parent, Ref<Group> mine) {
    Birth birth{};
    if (mine->rank() == 0) birth = conceive_or_tell(parent.process, mine->size());
    std::vector<Birth> births(static_cast<std::size_t>(parent.size()));
    allgather_bytes(parent, &birth, sizeof birth, births.data());
    if (mine->rank() < 0) return {};
    int leader = parent.group->rank_of(mine->world_rank(0));
    return grown(parent, std::move(mine), births[static_cast<std::size_t>(leader)]);
}

Ref<Comm> split(Comm& parent, std::optional<int> color, int key) {
    std::vector<int> members = companions(parent, color, key);
    return create(parent, Ref<Group>::adopt(new Group(std::move(members), parent.process.rank())));
}

/// The news goes down a binomial tree: with r the highest bit of a rank, it hears from rank − r and tells rank + 2r, ….
Ref<Comm> create_group(Comm& parent, Ref<Group> mine, int tag) {
    constexpr char call[] = "MPI_Comm_create_group";
    auto in_parent = [&](int rank) { return parent.group->rank_of(mine->world_rank(rank)); };
    int const me = mine->rank(), size = mine->size();
    int bit = 1;
    while (bit <= me) bit *= 2;
    Birth birth{};
    if (me == 0) birth = conceive_or_tell(parent.process, size);
    else p2p::recv_bytes(parent, &birth, sizeof birth, in_parent(me - bit / 2), tag, call);
    for (; me + bit < size; bit *= 2) p2p::send_bytes(parent, &birth, sizeof birth, in_parent(me + bit), tag, call);
    return grown(parent, std::move(mine), birth);
}

}  // namespace tutti::coll
