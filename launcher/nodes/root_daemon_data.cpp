// SPDX-License-Identifier: BSD-3-Clause
// What mpiexec collects from its daemons while the job runs and when it has ended.
#include <algorithm>
#include <iterator>

#include "launcher/nodes/messages.hpp"
#include "launcher/nodes/root_daemon.hpp"
#include "launcher/start/mpi_library.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

using LostNode = ChildDaemons::LostDaemon;

constexpr auto answer_timeout = 2000ms;   // to a RankQuery: debug information of large programs takes time

}   // namespace

NodeFacts const& RootDaemon::facts_of(int node, NodeFacts const& own) const {
    return node == allocation_.local_node ? own : *nodes_[static_cast<std::size_t>(node)].facts;
}

/// The programs of one node have been checked there.
void RootDaemon::check_mpi_libraries(NodeFacts const& own) const {
    std::string first, first_node;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
        std::string const& library = facts_of(node, own).mpi_library;
        std::string const& name = allocation_.nodes[static_cast<std::size_t>(node)];
        if (library.empty()) continue;
        if (first.empty()) first = library, first_node = name;
        if (library != first)
            throw LaunchError(join("the program on node ", first_node, " is linked with ", first, ", and that on node ",
                                   name, " with ", library, ": all ranks of a job must use one MPI library"),
                              126);
    }
}

/// Ranks that use an interface wait for those of all nodes, so it is offered on all nodes or on none.
ServiceOffer RootDaemon::common_offer(NodeFacts const& own) const {
    check_mpi_libraries(own);
    int least = 0;
    bool needs_pmix = false;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
        NodeFacts const& facts = facts_of(node, own);
        if (facts.offer.service < facts_of(least, own).offer.service) least = node;
        needs_pmix |= uses_pmix(facts.mpi_library);
    }
    ServiceOffer common = facts_of(least, own).offer;
    std::string const& name = allocation_.nodes[static_cast<std::size_t>(least)];
    if (needs_pmix && job_.ranks() > 1 && common.service != Service::pmix)
        throw LaunchError(join("the program needs PMIx to join the job, but node ", name, " cannot offer it",
                               common.obstacle.empty() ? "" : ": ", common.obstacle),
                          126);
    if (!common.obstacle.empty()) common.obstacle += join(" (node ", name, ")");
    return common;
}

/// Adds one node's part. When it was the last one, sends the result to the nodes that take part, and returns it if this
/// one does.
std::optional<Exchanged> RootDaemon::exchange(Contribution const& part) {
    std::optional<Exchanged> result = exchanges_.add(part);
    if (!result) return {};
    std::string const body = packed(*result);
    bool const is_here = std::ranges::find(part.nodes, allocation_.local_node) != part.nodes.end();
    if (part.nodes.size() == nodes_.size()) children_.send(FrameType::exchanged, -1, body);
    else
        for (int node : part.nodes)
            if (node != allocation_.local_node) children_.send(FrameType::exchanged, node, body);
    return is_here ? std::move(result) : std::nullopt;
}

bool RootDaemon::query_waits(int node, WaitQuery const& query) {
    if (node == allocation_.local_node) return false;
    children_.send(FrameType::wait_query, node, packed(query));
    return true;
}

void RootDaemon::add_rank_states(Frame const& frame) {
    at(frame.node).answered = true;
    auto states = unpacked<RankStates>(frame.body);
    std::ranges::move(states.waiting, std::back_inserter(rank_states_.waiting));
    std::ranges::move(states.unblocked, std::back_inserter(rank_states_.unblocked));
    std::ranges::move(states.calls, std::back_inserter(rank_states_.calls));
}

/// Waits for the answers of all nodes. Handles output and answers meanwhile; other frames are handled afterwards.
RankStates RootDaemon::query_ranks(RankQuery const& query) {
    rank_states_ = {};
    for (RemoteNode& node : nodes_) node.answered = node.lost;
    children_.send(FrameType::rank_query, -1, packed(query));
    Clock::time_point const until = Clock::now() + answer_timeout;
    auto const is_unanswered = [&](int node) {
        return node != allocation_.local_node && !nodes_[static_cast<std::size_t>(node)].answered;
    };
    auto const waiting = [&] { return std::ranges::any_of(node_of(), is_unanswered); };
    while (waiting() && Clock::now() < until) {
        std::vector<pollfd> set;
        children_.watch(set);
        poll(set.data(), set.size(), 20);
        children_.serve(
            [&](Frame&& frame) {
                if (frame.type == FrameType::output || frame.type == FrameType::abort_notice) return add_output(frame);
                if (frame.type == FrameType::rank_states) return add_rank_states(frame);
                deferred_frames_.push_back(std::move(frame));
            },
            [&](LostNode const& lost) {
                for (int node : lost.nodes) at(node).answered = true;
                deferred_losses_.push_back(lost);
            });
    }
    for (int rank = 0; query.unblocked && rank < static_cast<int>(node_of().size()); ++rank)
        if (is_unanswered(node_of()[static_cast<std::size_t>(rank)]))
            rank_states_.unblocked.push_back({.rank = rank, .state = UnblockedRank::State::no_answer});
    return std::move(rank_states_);
}

void RootDaemon::finish(Supervisor&, Segment const*) { children_.shut_down(); }

AllRankCounts RootDaemon::with_others(AllRankCounts own) {
    for (auto const& copy : counts_) own.push_back(copy->counts());
    std::ranges::sort(own, {}, &RankCounts::rank);
    return own;
}

NotFreedCounts RootDaemon::with_others(NotFreedCounts own) {
    own.add(not_freed_);
    return own;
}

Recording RootDaemon::with_others(Recording own) {
    for (RankRecording& one : recording_.ranks) {
        clocks_.adjust(one);
        own.ranks.push_back(std::move(one));
    }
    for (RecordedNode& one : recording_.nodes) own.nodes.push_back(std::move(one));
    return own;
}

}   // namespace tutti::launcher
