// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators. Their two leaders tell each other who is in their groups, by messages over the peer communicator;
// the leader with the lower world rank conceives, and each tells its own group all at once. That leader's group is the
// one that comes first wherever both stand in one order.
#include "coll/comm_inter.hpp"

#include <algorithm>
#include <vector>

#include "coll/agree.hpp"
#include "coll/comm_create.hpp"
#include "p2p/p2p.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {
namespace {

constexpr char created_by[] = "MPI_Intercomm_create";

/// What a leader tells its group, before the other group's world ranks.
struct News {
    enum class Outcome { made, no_bridge, overlap } outcome;
    bool first;     ///< does the local group come first?
    int others;     ///< ranks of the other group
    Birth birth;
};

/// Both leaders send and receive the same sequence of messages.
void exchange(Bridge const& with, void const* out, std::size_t out_bytes, void* in, std::size_t in_bytes) {
    p2p::sendrecv_bytes(*with.peer, out, out_bytes, with.remote_leader, in, in_bytes, with.remote_leader, with.tag,
                        created_by);
}

/// The leader's part: learns the other group and makes the new communicator, or hears of it.
News meet(Comm& local, Bridge const& with, std::vector<int>& others) {
    int const mine = local.size(), other_leader = with.peer->peers().world_rank(with.remote_leader);
    News news{News::Outcome::made, local.process.rank() < other_leader, 0, {}};
    exchange(with, &mine, sizeof mine, &news.others, sizeof news.others);
    others.resize(static_cast<std::size_t>(news.others));
    exchange(with, local.group->world_ranks().data(), local.group->world_ranks().size_bytes(), others.data(),
             others.size() * sizeof(int));
    if (std::ranges::any_of(others, [&](int world) { return local.group->rank_of(world) >= 0; })) {
        news.outcome = News::Outcome::overlap;   // the other leader finds the same
    } else if (news.first) {
        std::vector<int> all(local.group->world_ranks().begin(), local.group->world_ranks().end());
        all.insert(all.end(), others.begin(), others.end());
        news.birth = conceive_or_tell(local.process, Group(std::move(all), local.process.rank()));
        p2p::send_bytes(*with.peer, &news.birth, sizeof news.birth, with.remote_leader, with.tag, created_by);
    } else {
        p2p::recv_bytes(*with.peer, &news.birth, sizeof news.birth, with.remote_leader, with.tag, created_by);
    }
    return news;
}

/// What each member of the united group says in a merge, in its order.
std::vector<char> everybodys(Comm& inter, bool high) {
    char const mine = high;
    std::vector<char> all(static_cast<std::size_t>(inter.united->size()));
    allgather_bytes(inter, &mine, sizeof mine, all.data());
    return all;
}

}  // namespace

Ref<Comm> connect(Comm& local, int leader, std::optional<Bridge> const& bridge) {
    News news{News::Outcome::no_bridge, false, 0, {}};
    std::vector<int> others;
    if (local.rank() == leader && bridge) news = meet(local, *bridge, others);
    bcast_bytes(local, &news, sizeof news, leader);
    if (news.outcome == News::Outcome::no_bridge)
        fail(ErrorClass::arg, "the local leader, rank ", leader, ", was called with wrong arguments");
    if (news.outcome == News::Outcome::overlap)
        fail(ErrorClass::comm, "the two groups have processes in common: an intercommunicator joins disjoint ones");
    others.resize(static_cast<std::size_t>(news.others));
    bcast_bytes(local, others.data(), others.size() * sizeof(int), leader);
    auto remote = Ref<Group>::adopt(new Group(std::move(others), local.process.rank()));
    return grown(local, Members(local.group, std::move(remote), news.first), news.birth);
}

Ref<Comm> merge(Comm& inter, bool high) {
    std::vector<char> const said = everybodys(inter, high);
    auto const border = said.begin() + inter.border();
    for (auto [from, to] : {std::pair(said.begin(), border), std::pair(border, said.end())})
        if (std::any_of(from, to, [&](char one) { return one != *from; }))
            fail(ErrorClass::arg, "high is not the same at all processes of a group");
    bool const turned = said.front() && !said.back();   // the first say high, the others do not
    Ref<Group> order = turned ? Members(inter.group, inter.remote, !inter.comes_first()).united : inter.united;
    int const root = inter.united->rank_of(order->world_rank(0));
    Birth birth{};
    if (order->rank() == 0) birth = conceive_or_tell(inter.process, *order);
    bcast_bytes(inter, &birth, sizeof birth, root);
    return grown(inter, std::move(order), birth);
}

}  // namespace tutti::coll
