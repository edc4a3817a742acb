// SPDX-License-Identifier: BSD-3-Clause
// Equal abort messages of ranks are found among the lines of the program and reported once, within a time limit.
#include "launcher/supervise/abort_messages.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "launcher/supervise/output.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

TEST(RankAbortMessage, AreRemovedIfTheyAreASeparateLine) {
    RankAbortMessage const message{{.headline = "no"}, {.rank = 3}};
    auto left = [&](std::string lines, bool expected) {
        EXPECT_EQ(remove_message_line(lines, message), expected) << lines;
        return lines;
    };
    EXPECT_EQ(left("a\nrank 3: no\nb\n", true), "a\nb\n");
    EXPECT_EQ(left("rank 3: no\n", true), "");
    EXPECT_EQ(left("x rank 3: no\nrank 3: no\n", true), "x rank 3: no\n");
    for (char const* other : {"x rank 3: no\n", "rank 3: now\n", "rank 33: no\n", "rank 3: no"})
        EXPECT_EQ(left(other, false), other);
}

TEST(RankAbortMessage, AreRemovedWithThePrefixOfTheirLine) {
    RankAbortMessage const message{{.headline = "no"}, {.rank = 3}};
    std::string lines = "[3] a\n[3] rank 3: no\n[3] b\n";
    EXPECT_FALSE(remove_message_line(lines, message));
    EXPECT_FALSE(remove_message_line(lines, message, {.text = "[4] "}));
    EXPECT_TRUE(remove_message_line(lines, message, {.text = "[3] "}));
    EXPECT_EQ(lines, "[3] a\n[3] b\n");
    std::string timed = "12:00 [3] rank 3: no\n";
    EXPECT_TRUE(remove_message_line(timed, message, {.text = "[3] ", .time = true}));
    EXPECT_EQ(timed, "");
}

TEST(RankAbortMessage, AreReadFromTheRankState) {
    Segment const segment = Segment::create(2);
    RankState& rank_state = segment.rank_state(1);
    EXPECT_FALSE(read_abort_message(nullptr));
    EXPECT_FALSE(read_abort_message(&rank_state));
    AbortMessage& noted = rank_state.abort_message;
    std::uint64_t const stack[] = {4711};
    noted.error.write("MPI_ERR_RANK", "no", "");
    noted.call.write(CallKind::other, "MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)", stack, "");
    EXPECT_FALSE(read_abort_message(&rank_state)) << "not written yet";
    noted.state = AbortMessage::written;
    RankAbortMessage const message = *read_abort_message(&rank_state);
    EXPECT_EQ(message.line(), "rank 1: no\n");
    EXPECT_EQ(message.error.code, "MPI_ERR_RANK");
    EXPECT_EQ(message.call.call, "MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)");
    EXPECT_EQ(message.call.stack, std::vector<std::uint64_t>{4711});
}

struct Reader {
    Reader() { EXPECT_EQ(pipe(ends), 0); }
    ~Reader() { close(ends[0]), close(ends[1]); }
    std::string text() const {
        char buffer[4096];
        ssize_t const n = read(ends[0], buffer, sizeof buffer);
        return {buffer, static_cast<std::size_t>(n)};
    }
    int ends[2];
};

RankAbortMessage message_of(int rank, std::string const& text, std::string const& position) {
    return {{.code = "MPI_Abort", .headline = text},
            {.rank = rank, .call = "MPI_Abort(grid, errorcode 3)", .position = {position}}};
}

TEST(MessageMerger, AreReportedOncePerMessageAndSinkAndBeforeTheirExplanation) {
    Reader one, other;
    Sink sink(one.ends[1]), second(other.ends[1]);
    MessageMerger merger;
    auto const start = MessageMerger::Clock::now();
    EXPECT_TRUE(merger.empty());
    merger.add(sink, message_of(2, "no", "a.c:3"), start);
    merger.add(second, message_of(5, "no", ""), start + 30ms);
    merger.add_lines(sink, "mpiexec: over.\n");
    merger.add(sink, message_of(3, "no", "a.c:3"), start + 40ms);
    merger.add(sink, message_of(0, "never", "a.c:4"), start + 50ms);
    EXPECT_EQ(merger.due(), start + 100ms) << "from the first message on";
    merger.write_all();
    EXPECT_TRUE(merger.empty());
    EXPECT_EQ(one.text(),
              "error[MPI_Abort] no\n  ranks 2 and 3  MPI_Abort(grid, errorcode 3)  a.c:3\n"
              "  For details, run: mpiexec --explain MPI_Abort\nmpiexec: over.\n"
              "error[MPI_Abort] never\n  rank 0  MPI_Abort(grid, errorcode 3)  a.c:4\n"
              "  For details, run: mpiexec --explain MPI_Abort\n");
    EXPECT_EQ(other.text(),
              "error[MPI_Abort] no\n  rank 5  MPI_Abort(grid, errorcode 3)\n  For details, run: mpiexec --explain "
              "MPI_Abort\n");
}

TEST(MessageMerger, AreJsonForTools) {
    Reader end;
    Sink sink(end.ends[1]);
    MessageMerger merger;
    merger.use_json();
    merger.add(sink, message_of(1, "no", "a.c:3"), MessageMerger::Clock::now());
    merger.write_all();
    std::string const text = end.text();
    EXPECT_TRUE(text.starts_with(R"j({"code":"MPI_Abort",)j")) << text;
    EXPECT_NE(text.find(R"j("ranks":[1],"call":"MPI_Abort(grid, errorcode 3)","place":"a.c:3")j"), text.npos) << text;
}

/// A rank's standard error, and the part that is passed on.
TEST(OutputStream, PassesOnAllButTheAbortMessageOfItsRank) {
    Segment const segment = Segment::create(1);
    Reader end;
    Sink sink(end.ends[1]);
    Pipe pipe = Pipe::make();
    std::vector<std::string> messages;
    OutputStream stream(std::move(pipe.read), sink, {}, 0, &segment.rank_state(0),
                        [&](Sink&, RankAbortMessage const& message) { messages.push_back(message.error.headline); });
    auto write_line = [&](std::string const& line) {
        EXPECT_EQ(write(pipe.write.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    };
    write_line("rank 0: no\n");
    stream.read_some();
    AbortMessage& noted = segment.rank_state(0).abort_message;
    noted.error.write("", "no", "");
    noted.state = AbortMessage::written;
    write_line("before\nrank 0: no\nafter\n");
    stream.read_some();
    sink.write_some();
    EXPECT_EQ(messages, std::vector<std::string>{"no"});
    EXPECT_EQ(noted.state, AbortMessage::read) << "the rank may end";
    EXPECT_EQ(end.text(), "rank 0: no\nbefore\nafter\n") << "earlier lines belong to the program";
}

}   // namespace
}   // namespace tutti::launcher
