// SPDX-License-Identifier: BSD-3-Clause
// The three ranks of the model (protocol_model.hpp): their programs and their messages. A waiting rank reads all
// messages that have arrived, counts its progress (Blocked::progress_count), and forwards a message for a third rank.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tutti::launcher::model {


constexpr int ranks = 3, nodes = 2, any = -1;
constexpr int kinds = 2, plain = 0, relayed = 1;   // of messages

struct Step {
    enum { send, receive } what;
    int peer;   ///< `any` for a receive from any rank
    int kind = plain;
};
struct Program {
    std::array<std::vector<Step>, ranks> steps;
    /// This rank forwards one message of kind `relayed` whenever it waits, as an active nonblocking collective does.
    int relay = -1, from = -1, to = -1;
    std::array<int, ranks> nodes{0, 0, 1};   ///< by rank
};
struct Protocol {
    bool counts_messages = true, queries_twice = true, compares_moves = true, compares_changes = true,
         knows_others = true;
};

using Byte = std::uint8_t;

/// The state of the ranks.
struct Ranks {
    struct Rank {
        Byte pc = 0, has_relayed = 0;
        Byte store[ranks][kinds] = {};   ///< read, and not yet received by the program; by source
        Byte sent[ranks] = {}, read[ranks] = {};
        Byte published = 0, published_others = 0, changes = 0, moves = 0;
    } rank[ranks];
    Byte under_way[ranks][ranks][kinds] = {};   ///< from, to; on one node: in memory that the receiver polls
};

/// Hashes of 64 bits of the visited states. The probability that two of a million states collide is 3 in 10⁸.
class Visited {
public:
    template <class State>
    bool add(State const& state) {
        static_assert(std::is_trivially_copyable_v<State> && alignof(State) == 1);   // no padding
        return states_.insert(std::hash<std::string_view>{}({reinterpret_cast<char const*>(&state), sizeof state}))
            .second;
    }
    std::size_t size() const { return states_.size(); }

private:
    std::unordered_set<std::size_t> states_;
};

inline bool bit(Byte bits, int rank) { return bits >> rank & 1; }

class RanksModel {
public:
    explicit RanksModel(Program const& program) : program_(program) {}

    int node_of(int r) const { return program_.nodes[static_cast<std::size_t>(r)]; }
    Step const* next_step(Ranks const& app, int r) const {
        auto const& steps = program_.steps[static_cast<std::size_t>(r)];
        return app.rank[r].pc < steps.size() ? &steps[app.rank[r].pc] : nullptr;
    }

    static void send_message(Ranks& app, int from, int to, int kind) {
        ++app.rank[from].sent[to];
        ++app.under_way[from][to][kind];
    }

    bool waits(Ranks const& app, int r) const {
        Step const* const step = next_step(app, r);
        return step && step->what == Step::receive;
    }

    /// Reads all messages of ranks on the same node, and those of ranks on other nodes that are in `arrived` (bits),
    /// because the rest may still be in the network. Returns true if there was progress.
    bool poll(Ranks& app, int r, int arrived) const {
        Ranks::Rank& rank = app.rank[r];
        bool moved = false;
        for (int from = 0; from < ranks; ++from)
            for (int kind = 0; kind < kinds; ++kind) {
                if (node_of(from) != node_of(r) && !bit(Byte(arrived), from)) continue;
                if (Byte const count = std::exchange(app.under_way[from][r][kind], Byte{0})) {
                    rank.read[from] += count;
                    rank.store[from][kind] += count;
                    moved = true;
                }
            }
        if (r == program_.relay && !rank.has_relayed && rank.store[program_.from][relayed] > 0) {
            --rank.store[program_.from][relayed];
            rank.has_relayed = 1;
            send_message(app, r, program_.to, relayed);
            moved = true;
        }
        if (moved) ++rank.moves;
        moved |= receive(app, r);
        return moved;
    }

    bool receive(Ranks& app, int r) const {
        Ranks::Rank& rank = app.rank[r];
        Step const& step = *next_step(app, r);
        for (int from = 0; from < ranks; ++from) {
            if ((step.peer != any && step.peer != from) || rank.store[from][step.kind] == 0) continue;
            --rank.store[from][step.kind];
            ++rank.pc;
            if (std::exchange(rank.published, Byte{0})) ++rank.changes;
            rank.published_others = 0;
            return true;
        }
        return false;
    }

    /// Calls `reached` with each state after one step of a rank's program or of the network.
    template <class Reached>
    void step_ranks(Ranks const& app, Reached reached) const {
        for (int r = 0; r < ranks; ++r) {
            Step const* const step = next_step(app, r);
            if (!step) continue;
            for (int arrived = 0; arrived < (waits(app, r) ? 1 << ranks : 1); ++arrived) {
                Ranks next = app;
                if (waits(app, r)) {
                    if (!poll(next, r, arrived)) continue;
                } else {
                    send_message(next, r, step->peer, step->kind);
                    ++next.rank[r].pc;
                }
                reached(next);
            }
        }
    }

    /// Returns true if one of these ranks can still continue.
    bool can_release(Ranks const& from, Byte suspects) const {
        Visited seen;
        seen.add(from);
        std::vector<Ranks> open{from};
        bool released = false;
        while (!open.empty() && !released) {
            Ranks const app = open.back();
            open.pop_back();
            for (int r = 0; r < ranks; ++r) released |= bit(suspects, r) && app.rank[r].pc != from.rank[r].pc;
            step_ranks(app, [&](Ranks const& next) {
                if (seen.add(next)) open.push_back(next);
            });
        }
        return released;
    }

protected:
    Program const& program_;
};

}   // namespace tutti::launcher::model
