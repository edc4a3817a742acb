// SPDX-License-Identifier: BSD-3-Clause
// A small model of the protocol that proves deadlocks between nodes (launcher/diagnosis/proof.md): three ranks on two
// nodes (protocol_ranks.hpp), the monitor of each node, the detector of mpiexec, and the messages between them. Every
// interleaving of a program is visited. Property: when a verdict is reached, no suspect can continue, whatever the
// ranks still do. The tests also switch off each precaution of the protocol, which must lead to a wrong verdict.
//
// As in the library, a rank may publish its wait at any time (Blocked::changes), and the rank whose message it forwards
// (`others`). Bytes are counted as messages. Suspects are found by the real find_deadlock.
#pragma once

#include <algorithm>

#include "launcher/diagnosis/deadlock.hpp"
#include "tests/launcher/diagnosis/protocol_ranks.hpp"

namespace tutti::launcher::model {

/// A rank's published state, as the monitor of its node reads it.
struct RankView {
    Byte state = 0, pc = 0, others = 0, changes = 0;   ///< state: RankWait::State
    bool operator==(RankView const&) const = default;
};
struct Query {
    Byte number = 0, suspects = 0;   ///< suspects: bits
    Byte changes[ranks] = {};
};
struct Answer {
    Byte number = 0, unchanged = 0, moves = 0, sent = 0, received = 0;
};
/// A message of a node's monitor to mpiexec: an update about one rank, or an answer.
struct Update {
    Byte rank = 0, is_answer = 0;
    RankView seen;
    Answer answer;
};

struct World {
    Ranks app;
    struct RankAnswer {
        Byte queried = 0, poll_pending = 0, answered = 0, sent = 0, received = 0;
    } answers[ranks];
    struct Node {
        RankView reported[ranks];
        Byte queries = 0, suspects = 0;   ///< SegmentHeader::queries and Segment::suspects
        Query query;
        Byte stage = 0, at = 0;   ///< 0: idle; 1: reads moves; 2: collects answers. `at`: the next rank
        Byte query_number = 0, moves[ranks] = {};
        Answer sum;
        Byte pending_queries = 0, pending_updates = 0;   ///< numbers of these messages in flight
        Query ask[2];
        Update report[2];
    } node[nodes];
    struct Watch {
        RankView seen[ranks];
        Byte update = 0, queried = 0, has_first = 0, refused = 0, answers = 0, numbers = 0, suspicions = 0, verdict = 0;
        Query query;
        Answer first, sum;
    } watch;
};

class Model : private RanksModel {
public:
    Model(Program const& program, Protocol protocol) : RanksModel(program), protocol_(protocol) {}

    /// Visits every state, or at most `most`; `until_wrong`: stops after a wrong verdict.
    void explore(std::size_t most, bool until_wrong = false) {
        reach({});
        while (!open_.empty() && states_.size() < most && !(until_wrong && wrong_verdicts > 0)) {
            World const world = open_.back();
            open_.pop_back();
            if (world.watch.verdict) {
                ++verdicts;
                wrong_verdicts += can_release(world.app, world.watch.query.suspects);
                continue;
            }
            step_ranks(world.app, [&](Ranks const& app) { reach(with(world, app)); });
            for (int r = 0; r < ranks; ++r) step_rank(world, r);
            for (int n = 0; n < nodes; ++n) step_node(world, n);
            step_watch(world);
        }
    }

    std::size_t states() const { return states_.size(); }
    bool complete() const { return open_.empty(); }
    std::size_t verdicts = 0, wrong_verdicts = 0;

private:
    static World with(World world, Ranks const& app) {
        world.app = app;
        return world;
    }
    void reach(World const& world) {
        if (states_.add(world)) open_.push_back(world);
    }

    // --- Diagnosis of a waiting rank --------------------------------------------------------------------------------
    bool publishes_others(Ranks const& app, int r) const {
        return protocol_.knows_others && r == program_.relay && !app.rank[r].has_relayed;
    }

    void step_rank(World const& world, int r) {
        if (!waits(world.app, r)) return;
        World next = world;
        Ranks::Rank& rank = next.app.rank[r];
        World::RankAnswer& answer = next.answers[r];
        Byte const queries = world.node[node_of(r)].queries;
        if (!rank.published) {
            rank.published = 1;
            ++rank.changes;
            rank.published_others = publishes_others(next.app, r);
        } else if (answer.answered == queries) {
            return;
        } else if (answer.queried != queries) {
            if (rank.published_others != publishes_others(next.app, r)) rank.published_others ^= 1, rank.changes += 2;
            answer.queried = queries;
            answer.poll_pending = 1;
        } else if (answer.poll_pending) {
            answer.poll_pending = 0;
            for (int arrived = 0; arrived < 1 << ranks; ++arrived) {
                World polled = next;
                poll(polled.app, r, arrived);
                reach(polled);
            }
            return;
        } else {
            answer.answered = queries;
            answer.sent = answer.received = 0;
            for (int other = 0; other < ranks; ++other) {
                if (!bit(world.node[node_of(r)].suspects, other) || node_of(other) == node_of(r)) continue;
                answer.sent += rank.sent[other];
                answer.received += rank.read[other];
            }
        }
        reach(next);
    }

    // --- The monitor of a node --------------------------------------------------------------------------------------
    /// MPI_Finalize ends when all messages of the rank have been read.
    bool ended(Ranks const& app, int r) const {
        if (program_.steps[static_cast<std::size_t>(r)].empty()) return false;   // no rank waits for it; saves states
        bool left = false;
        for (int to = 0; to < ranks; ++to)
            for (int kind = 0; kind < kinds; ++kind) left |= app.under_way[r][to][kind] > 0;
        return !next_step(app, r) && !left;
    }

    RankView view_of(Ranks const& app, int r) const {
        using State = RankWait::State;
        Ranks::Rank const& rank = app.rank[r];
        if (ended(app, r)) return {.state = Byte(State::ended)};
        if (!rank.published) return {};
        return {Byte(State::blocked), rank.pc, rank.published_others, rank.changes};
    }

    void report(World next, int n, Update const& update) {
        World::Node& node = next.node[n];
        if (node.pending_updates == std::size(node.report)) return;
        node.report[node.pending_updates++] = update;
        reach(next);
    }

    void step_node(World const& world, int n) {
        World::Node const& now = world.node[n];
        for (int r = 0; r < ranks; ++r) {
            RankView const seen = view_of(world.app, r);
            if (node_of(r) != n || seen == now.reported[r]) continue;
            World next = world;
            next.node[n].reported[r] = seen;
            report(next, n, {.rank = Byte(r), .is_answer = 0, .seen = seen, .answer = {}});
        }
        if (now.pending_queries > 0) accept_query(world, n);
        else if (now.stage == 1) read_moves(world, n);
        else if (now.stage == 2) collect(world, n);
    }

    void accept_query(World next, int n) {
        World::Node& node = next.node[n];
        node.query = node.ask[0];
        node.ask[0] = node.ask[1];
        node.ask[1] = {};
        --node.pending_queries;
        node.suspects = node.query.suspects;
        node.stage = 1;
        node.at = 0;
        node.sum = {};
        std::fill(std::begin(node.moves), std::end(node.moves), Byte{0});
        reach(next);
    }

    /// Skips ranks that are not suspects of this node; returns true after the last one.
    bool all_done(World::Node& node, int n) const {
        while (node.at < ranks && (node_of(node.at) != n || !bit(node.query.suspects, node.at))) ++node.at;
        return node.at == ranks;
    }

    void read_moves(World next, int n) {
        World::Node& node = next.node[n];
        if (all_done(node, n)) {
            node.query_number = ++node.queries;
            node.stage = 2;
            node.at = 0;
        } else {
            node.moves[node.at] = next.app.rank[node.at].moves;
            ++node.at;
        }
        reach(next);
    }

    void collect(World next, int n) {
        World::Node& node = next.node[n];
        bool const done = all_done(node, n);
        int const r = node.at;
        bool const changed =
            !done && ((protocol_.compares_changes && next.app.rank[r].changes != node.query.changes[r]) ||
                      (protocol_.compares_moves && next.app.rank[r].moves != node.moves[r]));
        if (done || changed) {
            node.sum.number = node.query.number;
            node.sum.unchanged = !changed;
            Update const update{
                .rank = 0, .is_answer = 1, .seen = {}, .answer = changed ? Answer{node.query.number} : node.sum};
            node.stage = node.at = 0;
            node.sum = {};
            return report(next, n, update);
        }
        World::RankAnswer const& answer = next.answers[r];
        if (answer.answered < node.query_number) {   // starts again later
            if (node.at == 0 || node.sum.moves + node.sum.sent + node.sum.received == 0) return;
            node.at = 0;
            node.sum = {};
        } else {
            node.sum.moves += protocol_.compares_moves ? node.moves[r] : 0;
            node.sum.sent += answer.sent;
            node.sum.received += answer.received;
            ++node.at;
        }
        reach(next);
    }

    // --- The detector of mpiexec ------------------------------------------------------------------------------------
    void step_watch(World const& world) {
        for (int n = 0; n < nodes; ++n)
            if (world.node[n].pending_updates > 0) accept_update(world, n);
        World::Watch const& watch = world.watch;
        int const queried_nodes = nodes_of(watch.query.suspects);
        if (watch.queried && !watch.refused && watch.answers < queried_nodes) return;
        World next = world;
        if (watch.queried && !watch.refused && queried_nodes > 1 && !watch.has_first && protocol_.queries_twice) {
            next.watch.has_first = 1;
            next.watch.first = std::exchange(next.watch.sum, {});
            next.watch.answers = 0;
            ask(next);
        } else if (watch.queried) {
            next.watch.verdict = proves(watch);
            if (!next.watch.verdict) next.watch.query = {};
            next.watch.queried = next.watch.has_first = next.watch.refused = next.watch.answers = 0;
            next.watch.first = next.watch.sum = {};
            next.watch.update = 1;
            reach(next);
        } else if (watch.update && watch.suspicions < max_suspicions) {
            next.watch.update = 0;
            suspect(next);
        }
    }

    bool has_suspects(int n, Byte suspects) const {
        bool has = false;
        for (int r = 0; r < ranks; ++r) has |= node_of(r) == n && bit(suspects, r);
        return has;
    }
    int nodes_of(Byte suspects) const { return has_suspects(0, suspects) + has_suspects(1, suspects); }

    bool proves(World::Watch const& watch) const {
        if (watch.refused) return false;
        if (!watch.has_first)
            return nodes_of(watch.query.suspects) == 1 || !protocol_.counts_messages ||
                   watch.sum.received == watch.sum.sent;
        return watch.first.moves == watch.sum.moves &&
               (!protocol_.counts_messages || watch.first.received == watch.sum.sent);
    }

    void accept_update(World next, int n) {
        World::Node& node = next.node[n];
        Update const update = node.report[0];
        std::copy(node.report + 1, node.report + std::size(node.report), node.report);
        node.report[std::size(node.report) - 1] = {};
        --node.pending_updates;
        World::Watch& watch = next.watch;
        if (!update.is_answer) {
            watch.seen[update.rank] = update.seen;
            watch.update = 1;
        } else if (watch.queried && update.answer.number == watch.query.number) {
            watch.refused |= !update.answer.unchanged;
            ++watch.answers;
            watch.sum.moves += update.answer.moves;
            watch.sum.sent += update.answer.sent;
            watch.sum.received += update.answer.received;
        }
        reach(next);
    }

    RankWait wait_of(RankView const& seen, int r) const {
        RankWait wait{.state = RankWait::State(seen.state)};
        if (wait.state != RankWait::State::blocked) return wait;
        Step const& step = program_.steps[static_cast<std::size_t>(r)][seen.pc];
        wait.awaiting = step.peer == any ? Awaiting::any : Awaiting::all;
        if (step.peer == any) wait.awaited = {{0, ranks - 1, 1}};
        else wait.awaited = {{step.peer, step.peer, 1}};
        if (seen.others) wait.others = {{program_.from, program_.from, 1}};
        return wait;
    }

    void suspect(World next) {
        std::vector<RankWait> waits;
        for (int r = 0; r < ranks; ++r) waits.push_back(wait_of(next.watch.seen[r], r));
        Deadlock const found = find_deadlock(waits);
        if (!found.empty()) {
            World::Watch& watch = next.watch;
            ++watch.suspicions;
            watch.queried = 1;
            watch.query = {};
            auto const add = [&](int r) {
                watch.query.suspects |= Byte(1 << r);
                watch.query.changes[r] = watch.seen[r].changes;
            };
            for (auto const& core : found.cores) std::ranges::for_each(core, add);
            std::ranges::for_each(found.dependents, add);
            return ask(next);
        }
        reach(next);
    }

    void ask(World next) {
        next.watch.query.number = ++next.watch.numbers;
        for (int n = 0; n < nodes; ++n) {
            if (!has_suspects(n, next.watch.query.suspects)) continue;
            if (next.node[n].pending_queries == std::size(next.node[n].ask)) return;   // such a backlog is not explored
            next.node[n].ask[next.node[n].pending_queries++] = next.watch.query;
        }
        reach(next);
    }

    static constexpr Byte max_suspicions = 1;

    Protocol const protocol_;
    Visited states_;
    std::vector<World> open_;
};

}   // namespace tutti::launcher::model
