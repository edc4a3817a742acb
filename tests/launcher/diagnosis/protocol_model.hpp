// SPDX-License-Identifier: BSD-3-Clause
// The questions by which a deadlock between nodes is proven (launcher/diagnosis/proof.md), as a small model: three
// ranks on two nodes (protocol_ranks.hpp), the node's watch, mpiexec's watch, and the messages between all of them.
// Every interleaving of a program is visited. The property: when a verdict is reached, no suspect can go on, whatever
// the ranks still do. Each of the protocol's precautions is switched off once, and then a verdict is wrong.
//
// What the model has of the library: a rank shows its wait at any time (Blocked::changes), and whose message it hands
// on (`others`). Bytes are messages here. Suspects are found by the real find_deadlock.
#pragma once

#include <algorithm>

#include "launcher/diagnosis/deadlock.hpp"
#include "tests/launcher/diagnosis/protocol_ranks.hpp"

namespace tutti::launcher::model {

/// What a rank shows of itself, as its node's watch reads it.
struct Seen {
    Byte state = 0, pc = 0, others = 0, changes = 0;   ///< state: RankWait::State
    bool operator==(Seen const&) const = default;
};
struct Question {
    Byte number = 0, suspects = 0;   ///< suspects: bits
    Byte changes[ranks] = {};
};
struct Answer {
    Byte number = 0, unchanged = 0, moves = 0, sent = 0, received = 0;
};
/// A message of a node's watch to mpiexec: news of one rank, or an answer.
struct News {
    Byte rank = 0, is_answer = 0;
    Seen seen;
    Answer answer;
};

struct World {
    Ranks app;
    struct RankAnswer {
        Byte asked = 0, looks = 0, answered = 0, sent = 0, received = 0;
    } answers[ranks];
    struct Node {
        Seen reported[ranks];
        Byte questions = 0, suspects = 0;   ///< SegmentHeader::questions and Segment::suspects
        Question question;
        Byte stage = 0, at = 0;   ///< 0: not asked; 1: reads moves; 2: collects answers. `at`: the next rank
        Byte asked_as = 0, moves[ranks] = {};
        Answer sum;
        Byte asks = 0, reports = 0;   ///< how many of these are under way
        Question ask[2];
        News report[2];
    } node[nodes];
    struct Watch {
        Seen seen[ranks];
        Byte news = 0, asked = 0, has_first = 0, refused = 0, answers = 0, numbers = 0, suspicions = 0, verdict = 0;
        Question question;
        Answer first, sum;
    } watch;
};

class Model : private RanksModel {
public:
    Model(Program const& program, Protocol protocol) : RanksModel(program), protocol_(protocol) {}

    /// Visits every state, or `most`; `until_wrong`: no more once a verdict was wrong.
    void explore(std::size_t most, bool until_wrong = false) {
        reach({});
        while (!open_.empty() && states_.size() < most && !(until_wrong && wrong_verdicts > 0)) {
            World const world = open_.back();
            open_.pop_back();
            if (world.watch.verdict) {
                ++verdicts;
                wrong_verdicts += can_release(world.app, world.watch.question.suspects);
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

    // --- What a rank that waits does for the diagnosis ---------------------------------------------------------------
    bool shows_others(Ranks const& app, int r) const {
        return protocol_.knows_others && r == program_.relay && !app.rank[r].has_relayed;
    }

    void step_rank(World const& world, int r) {
        if (!waits(world.app, r)) return;
        World next = world;
        Ranks::Rank& rank = next.app.rank[r];
        World::RankAnswer& answer = next.answers[r];
        Byte const questions = world.node[node_of(r)].questions;
        if (!rank.shown) {
            rank.shown = 1;
            ++rank.changes;
            rank.shown_others = shows_others(next.app, r);
        } else if (answer.answered == questions) {
            return;
        } else if (answer.asked != questions) {
            if (rank.shown_others != shows_others(next.app, r)) rank.shown_others ^= 1, rank.changes += 2;
            answer.asked = questions;
            answer.looks = 1;
        } else if (answer.looks) {
            answer.looks = 0;
            for (int arrived = 0; arrived < 1 << ranks; ++arrived) {
                World looked = next;
                poll(looked.app, r, arrived);
                reach(looked);
            }
            return;
        } else {
            answer.answered = questions;
            answer.sent = answer.received = 0;
            for (int other = 0; other < ranks; ++other) {
                if (!bit(world.node[node_of(r)].suspects, other) || node_of(other) == node_of(r)) continue;
                answer.sent += rank.sent[other];
                answer.received += rank.read[other];
            }
        }
        reach(next);
    }

    // --- A node's watch ----------------------------------------------------------------------------------------------
    /// MPI_Finalize ends when what the rank has sent has been read.
    bool ended(Ranks const& app, int r) const {
        if (program_.steps[static_cast<std::size_t>(r)].empty()) return false;   // no rank waits for it: fewer states
        bool left = false;
        for (int to = 0; to < ranks; ++to)
            for (int kind = 0; kind < kinds; ++kind) left |= app.under_way[r][to][kind] > 0;
        return !next_step(app, r) && !left;
    }

    Seen see(Ranks const& app, int r) const {
        using State = RankWait::State;
        Ranks::Rank const& rank = app.rank[r];
        if (ended(app, r)) return {.state = Byte(State::ended)};
        if (!rank.shown) return {};
        return {Byte(State::blocked), rank.pc, rank.shown_others, rank.changes};
    }

    void report(World next, int n, News const& news) {
        World::Node& node = next.node[n];
        if (node.reports == std::size(node.report)) return;
        node.report[node.reports++] = news;
        reach(next);
    }

    void step_node(World const& world, int n) {
        World::Node const& now = world.node[n];
        for (int r = 0; r < ranks; ++r) {
            Seen const seen = see(world.app, r);
            if (node_of(r) != n || seen == now.reported[r]) continue;
            World next = world;
            next.node[n].reported[r] = seen;
            report(next, n, {.rank = Byte(r), .is_answer = 0, .seen = seen, .answer = {}});
        }
        if (now.asks > 0) take_question(world, n);
        else if (now.stage == 1) read_moves(world, n);
        else if (now.stage == 2) collect(world, n);
    }

    void take_question(World next, int n) {
        World::Node& node = next.node[n];
        node.question = node.ask[0];
        node.ask[0] = node.ask[1];
        node.ask[1] = {};
        --node.asks;
        node.suspects = node.question.suspects;
        node.stage = 1;
        node.at = 0;
        node.sum = {};
        std::fill(std::begin(node.moves), std::end(node.moves), Byte{0});
        reach(next);
    }

    /// Skips the ranks that are no suspects of this node; true behind the last.
    bool all_done(World::Node& node, int n) const {
        while (node.at < ranks && (node_of(node.at) != n || !bit(node.question.suspects, node.at))) ++node.at;
        return node.at == ranks;
    }

    void read_moves(World next, int n) {
        World::Node& node = next.node[n];
        if (all_done(node, n)) {
            node.asked_as = ++node.questions;
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
            !done && ((protocol_.compares_changes && next.app.rank[r].changes != node.question.changes[r]) ||
                      (protocol_.compares_moves && next.app.rank[r].moves != node.moves[r]));
        if (done || changed) {
            node.sum.number = node.question.number;
            node.sum.unchanged = !changed;
            News const news{
                .rank = 0, .is_answer = 1, .seen = {}, .answer = changed ? Answer{node.question.number} : node.sum};
            node.stage = node.at = 0;
            node.sum = {};
            return report(next, n, news);
        }
        World::RankAnswer const& answer = next.answers[r];
        if (answer.answered < node.asked_as) {   // from the start again, later
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

    // --- mpiexec's watch ---------------------------------------------------------------------------------------------
    void step_watch(World const& world) {
        for (int n = 0; n < nodes; ++n)
            if (world.node[n].reports > 0) take_news(world, n);
        World::Watch const& watch = world.watch;
        int const asked_nodes = nodes_of(watch.question.suspects);
        if (watch.asked && !watch.refused && watch.answers < asked_nodes) return;
        World next = world;
        if (watch.asked && !watch.refused && asked_nodes > 1 && !watch.has_first && protocol_.asks_twice) {
            next.watch.has_first = 1;
            next.watch.first = std::exchange(next.watch.sum, {});
            next.watch.answers = 0;
            ask(next);
        } else if (watch.asked) {
            next.watch.verdict = proves(watch);
            if (!next.watch.verdict) next.watch.question = {};
            next.watch.asked = next.watch.has_first = next.watch.refused = next.watch.answers = 0;
            next.watch.first = next.watch.sum = {};
            next.watch.news = 1;
            reach(next);
        } else if (watch.news && watch.suspicions < most_suspicions) {
            next.watch.news = 0;
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
            return nodes_of(watch.question.suspects) == 1 || !protocol_.counts_messages ||
                   watch.sum.received == watch.sum.sent;
        return watch.first.moves == watch.sum.moves &&
               (!protocol_.counts_messages || watch.first.received == watch.sum.sent);
    }

    void take_news(World next, int n) {
        World::Node& node = next.node[n];
        News const news = node.report[0];
        std::copy(node.report + 1, node.report + std::size(node.report), node.report);
        node.report[std::size(node.report) - 1] = {};
        --node.reports;
        World::Watch& watch = next.watch;
        if (!news.is_answer) {
            watch.seen[news.rank] = news.seen;
            watch.news = 1;
        } else if (watch.asked && news.answer.number == watch.question.number) {
            watch.refused |= !news.answer.unchanged;
            ++watch.answers;
            watch.sum.moves += news.answer.moves;
            watch.sum.sent += news.answer.sent;
            watch.sum.received += news.answer.received;
        }
        reach(next);
    }

    RankWait wait_of(Seen const& seen, int r) const {
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
            watch.asked = 1;
            watch.question = {};
            auto const add = [&](int r) {
                watch.question.suspects |= Byte(1 << r);
                watch.question.changes[r] = watch.seen[r].changes;
            };
            for (auto const& core : found.cores) std::ranges::for_each(core, add);
            std::ranges::for_each(found.behind, add);
            return ask(next);
        }
        reach(next);
    }

    void ask(World next) {
        next.watch.question.number = ++next.watch.numbers;
        for (int n = 0; n < nodes; ++n) {
            if (!has_suspects(n, next.watch.question.suspects)) continue;
            if (next.node[n].asks == std::size(next.node[n].ask)) return;   // explored without such a backlog
            next.node[n].ask[next.node[n].asks++] = next.watch.question;
        }
        reach(next);
    }

    static constexpr Byte most_suspicions = 1;

    Protocol const protocol_;
    Visited states_;
    std::vector<World> open_;
};

}   // namespace tutti::launcher::model
