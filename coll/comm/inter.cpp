// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators. The two leaders exchange the members of their groups by messages over the peer communicator, and
// then the contributions of the members; each time, they broadcast what they received to their own group. In the union
// group, the group whose leader has the lower world rank comes first.
#include "coll/comm/create.hpp"

#include <algorithm>
#include <vector>

#include "coll/call/internal.hpp"
#include "coll/comm/derive.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll {
namespace {

constexpr char created_by[] = "MPI_Intercomm_create";

/// What a leader broadcasts to its group before the other group's world ranks.
struct LeaderMessage {
    enum class Outcome { success, invalid_leader, overlap } outcome;
    bool first;   ///< the local group is the first one of the union group
    int others;   ///< number of ranks in the other group
};

/// Exchanges data with the other leader. Both leaders call this in the same sequence.
void exchange(Bridge const& with, void const* out, std::size_t out_bytes, void* in, std::size_t in_bytes) {
    p2p::sendrecv_bytes(*with.peer, out, out_bytes, with.remote_leader, in, in_bytes, with.remote_leader, with.tag,
                        created_by);
}

/// Called by the leader: exchanges the groups with the other leader. `others` becomes the other group's world ranks.
LeaderMessage exchange_groups(Comm& local, Bridge const& with, std::vector<int>& others) {
    int const mine = local.size(), other_leader = with.peer->peers().world_rank(with.remote_leader);
    LeaderMessage message{LeaderMessage::Outcome::success, local.process.rank() < other_leader, 0};
    exchange(with, &mine, sizeof mine, &message.others, sizeof message.others);
    others.resize(static_cast<std::size_t>(message.others));
    exchange(with, local.group->world_ranks().data(), local.group->world_ranks().size_bytes(), others.data(),
             others.size() * sizeof(int));
    if (std::ranges::any_of(others, [&](int world) { return local.group->rank_of(world) >= 0; }))
        message.outcome = LeaderMessage::Outcome::overlap;   // the other leader finds the same
    return message;
}

/// Returns the contributions of the members of both groups, in the order of the union group.
std::vector<ContextAllocation> gather_parts(Comm& local, int leader, std::optional<Bridge> const& bridge,
                                            Members const& members) {
    std::vector<ContextAllocation> parts(static_cast<std::size_t>(members.union_group->size()));
    ContextAllocation const mine = allocate_context(local.process, *members.union_group);
    std::span<ContextAllocation> const all = parts;
    auto const first_group_size = static_cast<std::size_t>(members.first_group_size());
    auto local_parts = all.first(first_group_size), remote_parts = all.subspan(first_group_size);
    if (!members.local_group_first()) std::swap(local_parts, remote_parts);
    allgather_bytes(local, &mine, sizeof mine, local_parts.data());
    if (local.rank() == leader)
        exchange(*bridge, local_parts.data(), local_parts.size_bytes(), remote_parts.data(), remote_parts.size_bytes());
    bcast_bytes(local, remote_parts.data(), remote_parts.size_bytes(), leader);
    return parts;
}

/// Returns the value of `high` of each member of the union group, in its order.
std::vector<char> all_values(Comm& inter, bool high) {
    char const mine = high;
    std::vector<char> all(static_cast<std::size_t>(inter.union_group->size()));
    allgather_bytes(inter, &mine, sizeof mine, all.data());
    return all;
}

}   // namespace

Ref<Comm> create_intercomm(Comm& local, int leader, std::optional<Bridge> const& bridge) {
    LeaderMessage message{LeaderMessage::Outcome::invalid_leader, false, 0};
    std::vector<int> others;
    if (local.rank() == leader && bridge) message = exchange_groups(local, *bridge, others);
    bcast_bytes(local, &message, sizeof message, leader);
    if (message.outcome == LeaderMessage::Outcome::invalid_leader)
        fail(ErrorClass::arg, "the local leader, rank ", leader, ", passed invalid arguments");
    if (message.outcome == LeaderMessage::Outcome::overlap)
        fail(ErrorClass::comm,
             "the two groups have processes in common; the groups of an intercommunicator must be disjoint");
    others.resize(static_cast<std::size_t>(message.others));
    bcast_bytes(local, others.data(), others.size() * sizeof(int), leader);
    auto remote = Ref<Group>::adopt(new Group(std::move(others), local.process.rank()));
    Members members(local.group, std::move(remote), message.first);
    std::vector<ContextAllocation> const parts = gather_parts(local, leader, bridge, members);
    return make_child(local, std::move(members), parts);
}

Ref<Comm> merge_intercomm(Comm& inter, bool high) {
    std::vector<char> const values = all_values(inter, high);
    auto const first_group_size = values.begin() + inter.first_group_size();
    for (auto [from, to] : {std::pair(values.begin(), first_group_size), std::pair(first_group_size, values.end())})
        if (std::any_of(from, to, [&](char one) { return one != *from; }))
            fail(ErrorClass::arg, "the processes of a group passed different values of high");
    bool const is_reversed = values.front() && !values.back();   // the first group passes high, the second does not
    Ref<Group> order =
        is_reversed ? Members(inter.group, inter.remote, !inter.local_group_first()).union_group : inter.union_group;
    return create_with_all_members(inter, std::move(order));
}

}   // namespace tutti::coll
