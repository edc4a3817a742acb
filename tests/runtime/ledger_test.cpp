// SPDX-License-Identifier: BSD-3-Clause
// The ledger: one line for equal texts, texts cut to their room, what does not fit goes to the others.
#include "runtime/ledger.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runtime/segment.hpp"

namespace tutti {
namespace {

TEST(Ledger, HasOneLineForEachCombinationOfTexts) {
    Segment segment = Segment::create(2);
    Ledger& ledger = segment.ledger(1);
    EXPECT_TRUE(ledger.lines().empty());
    LedgerLine& first = ledger.line("MPI_COMM_WORLD", 2, "bcast", "slots");
    EXPECT_EQ(&ledger.line("MPI_COMM_WORLD", 2, "bcast", "slots"), &first);
    for (LedgerLine* other : {&ledger.line("mine", 2, "bcast", "slots"),
                              &ledger.line("MPI_COMM_WORLD", 1, "bcast", "slots"),
                              &ledger.line("MPI_COMM_WORLD", 2, "reduce", "slots"),
                              &ledger.line("MPI_COMM_WORLD", 2, "bcast", "hierarchical")})
        EXPECT_NE(other, &first);
    EXPECT_EQ(ledger.lines().size(), 5u);
    EXPECT_TRUE(segment.ledger(0).lines().empty()) << "another rank's";
    EXPECT_STREQ(first.communicator, "MPI_COMM_WORLD");
    EXPECT_STREQ(first.algorithm, "slots");
    EXPECT_EQ(first.ranks, 2);
}

TEST(Ledger, AddsCallsUp) {
    Segment segment = Segment::create(1);
    LedgerLine& line = segment.ledger(0).line("", 1, "bcast", "slots");
    line.note(100, 7);
    line.note(50, 9);
    line.note(0, 3);
    EXPECT_EQ(line.calls.read(), 3u);
    EXPECT_EQ(line.bytes.read(), 150u);
    EXPECT_EQ(line.time.read(), 19u);
    EXPECT_EQ(line.longest.read(), 9u);
}

TEST(Ledger, CutsTextsThatAreTooLong) {
    Segment segment = Segment::create(1);
    Ledger& ledger = segment.ledger(0);
    std::string const name(40, 'n'), algorithm(300, 'a');
    LedgerLine& line = ledger.line(name, 1, "a collective with a long name", algorithm);
    EXPECT_EQ(line.communicator, name.substr(0, 31));
    EXPECT_EQ(line.collective, std::string("a collective with a long name").substr(0, 15));
    EXPECT_EQ(line.algorithm, algorithm.substr(0, sizeof line.algorithm - 1));
    EXPECT_EQ(&ledger.line(name + "more", 1, "a collective with a long name", algorithm), &line)
        << "what is told apart by what was cut off shares a line";
}

TEST(Ledger, SumsUpWhatItHasNoLineFor) {
    Segment segment = Segment::create(1);
    Ledger& ledger = segment.ledger(0);
    for (std::size_t i = 0; i < Ledger::room; ++i) ledger.line(std::to_string(i), 1, "bcast", "slots").note(1, 1);
    EXPECT_EQ(ledger.others().calls.read(), 0u);
    ledger.line("one more", 1, "bcast", "slots").note(5, 2);
    ledger.line("and another", 3, "reduce", "blocks").note(6, 4);
    ledger.line("7", 1, "bcast", "slots").note(1, 1);
    EXPECT_EQ(ledger.lines().size(), Ledger::room);
    EXPECT_EQ(ledger.others().calls.read(), 2u);
    EXPECT_EQ(ledger.others().bytes.read(), 11u);
    EXPECT_EQ(ledger.lines()[7].calls.read(), 2u) << "lines that are there are still found";
}

}  // namespace
}  // namespace tutti
