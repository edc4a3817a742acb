// SPDX-License-Identifier: BSD-3-Clause
// No verdict of the model (protocol_model.hpp) is wrong, deadlocks are found, and each precaution is needed.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/launcher/diagnosis/protocol_model.hpp"

namespace tutti::launcher::model {
namespace {

std::string words(Program const& program) {
    std::string text;
    for (int r = 0; r < ranks; ++r) {
        text += "rank " + std::to_string(r) + ":";
        for (Step const& step : program.steps[static_cast<std::size_t>(r)])
            text += std::string(step.what == Step::send ? " send " : " receive ") + std::to_string(step.peer) +
                    (step.kind == relayed ? " relayed" : "");
        text += "; ";
    }
    if (program.relay < 0) return text;
    return text + "relay " + std::to_string(program.relay) + " from " + std::to_string(program.from) + " to " +
           std::to_string(program.to);
}

/// Up to three steps for each rank; in every second program, one rank forwards a message.
Program random_program(std::mt19937& random) {
    auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Program program;
    if (below(2)) {
        program.relay = below(ranks);
        program.from = (program.relay + 1 + below(2)) % ranks;
        program.to = ranks - program.relay - program.from;
    }
    for (int r = 0; r < ranks; ++r) {
        auto& steps = program.steps[static_cast<std::size_t>(r)];
        int const others[] = {(r + 1) % ranks, (r + 2) % ranks};
        for (int i = below(4); i > 0; --i) {
            bool const sends = below(2);
            steps.push_back({sends ? Step::send : Step::receive, !sends && below(4) == 0 ? any : others[below(2)]});
        }
        auto const at = steps.begin() + below(static_cast<int>(steps.size()) + 1);
        if (r == program.from) steps.insert(at, {Step::send, program.relay, relayed});
        if (r == program.to) steps.insert(at, {Step::receive, program.relay, relayed});
    }
    return program;
}

Step to(int peer, int kind = plain) { return {Step::send, peer, kind}; }
Step from(int peer, int kind = plain) { return {Step::receive, peer, kind}; }

constexpr std::size_t most_states = 2'000'000;
std::array<int, ranks> const one_node{0, 0, 0};

/// Both messages can be in flight while both ranks wait.
Program const exchange{{{{to(2), from(2)}, {}, {to(0), from(0)}}}};
/// Rank 0 reads a message for which it waits later; rank 2 can make progress between the answers.
Program const overtaken{{{{to(2), from(2, relayed), from(2)}, {}, {from(0), to(0), to(0, relayed)}}}};
/// Rank 1 forwards a message in shared memory.
Program const relay_on_node{
    {{{to(1, relayed), from(2)}, {from(2)}, {from(1, relayed), to(0), to(1)}}}, 1, 0, 2, one_node};
/// Rank 2 continues from one wait to the next.
Program const goes_on{
    {{{to(2), to(1), to(2, relayed)}, {from(0), from(2, relayed)}, {to(0), to(1), from(any)}}}, 2, 0, 1};
/// Rank 2 forwards a message while it waits for the rank that needs it.
Program const relay_between_nodes{{{{from(2, relayed)}, {to(2, relayed)}, {from(0), to(1), to(0)}}}, 2, 1, 0};

std::size_t wrong_verdicts(Program const& program, Protocol protocol) {
    Model model(program, protocol);
    model.explore(most_states, true);
    return model.wrong_verdicts;
}

TEST(Protocol, ReachesNoWrongVerdict) {
    for (Program const* program : {&exchange, &relay_on_node, &goes_on, &relay_between_nodes}) {
        Model model(*program, {});
        model.explore(most_states);
        EXPECT_TRUE(model.complete()) << words(*program);
        EXPECT_EQ(model.wrong_verdicts, 0U) << words(*program);
    }
}

TEST(Protocol, ReachesNoWrongVerdictInRandomPrograms) {
    unsigned const seed = std::random_device{}();
    std::mt19937 random(seed);
    for (int i = 0; i < 40; ++i) {
        Program const program = random_program(random);
        Model model(program, {});
        model.explore(30'000);
        EXPECT_EQ(model.wrong_verdicts, 0U) << words(program) << ", seed " << seed;
    }
}

TEST(Protocol, FindsDeadlocks) {
    Program const circle{{{{from(2)}, {from(0)}, {from(1)}}}};
    Program const head_to_head{{{{to(2), from(2), from(2)}, {}, {to(0), from(0), from(0)}}}};
    Program const relay_too_late{{{{from(2, relayed)}, {from(0), to(2, relayed)}, {from(0)}}}, 2, 1, 0};
    Program const on_one_node{{{{from(1)}, {from(any)}, {from(0), to(1)}}}, -1, -1, -1, one_node};
    for (Program const* program : {&circle, &head_to_head, &relay_too_late, &on_one_node}) {
        Model model(*program, {});
        model.explore(most_states);
        EXPECT_GT(model.verdicts, 0U) << words(*program);
        EXPECT_EQ(model.wrong_verdicts, 0U) << words(*program);
    }
}

TEST(Protocol, NeedsEachOfItsPrecautions) {
    EXPECT_GT(wrong_verdicts(exchange, {.counts_messages = false}), 0U);
    EXPECT_GT(wrong_verdicts(overtaken, {.queries_twice = false}), 0U);
    EXPECT_GT(wrong_verdicts(relay_on_node, {.compares_moves = false}), 0U);
    EXPECT_GT(wrong_verdicts(goes_on, {.compares_changes = false}), 0U);
    EXPECT_GT(wrong_verdicts(relay_between_nodes, {.knows_others = false}), 0U);
}

}   // namespace
}   // namespace tutti::launcher::model
