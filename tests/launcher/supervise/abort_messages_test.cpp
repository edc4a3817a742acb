// SPDX-License-Identifier: BSD-3-Clause
// Equal last words of ranks: found among the program's lines, told once, within their time.
#include "launcher/supervise/abort_messages.hpp"

#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "launcher/supervise/output.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

TEST(LastWords, AreTakenOutWhereTheyAreALineOfTheirOwn) {
    LastWords const words{3, "no"};
    auto left = [&](std::string lines, bool expected) {
        EXPECT_EQ(take_out(lines, words), expected) << lines;
        return lines;
    };
    EXPECT_EQ(left("a\nrank 3: no\nb\n", true), "a\nb\n");
    EXPECT_EQ(left("rank 3: no\n", true), "");
    EXPECT_EQ(left("x rank 3: no\nrank 3: no\n", true), "x rank 3: no\n");
    for (char const* other : {"x rank 3: no\n", "rank 3: now\n", "rank 33: no\n", "rank 3: no"})
        EXPECT_EQ(left(other, false), other);
}

TEST(LastWords, AreTakenOutWithThePrefixOfTheirLine) {
    LastWords const words{3, "no"};
    std::string lines = "[3] a\n[3] rank 3: no\n[3] b\n";
    EXPECT_FALSE(take_out(lines, words));
    EXPECT_FALSE(take_out(lines, words, {.text = "[4] "}));
    EXPECT_TRUE(take_out(lines, words, {.text = "[3] "}));
    EXPECT_EQ(lines, "[3] a\n[3] b\n");
    std::string timed = "12:00 [3] rank 3: no\n";
    EXPECT_TRUE(take_out(timed, words, {.text = "[3] ", .time = true}));
    EXPECT_EQ(timed, "");
}

TEST(LastWords, AreThoseThatTheCardHas) {
    Segment const segment = Segment::create(2);
    RankState& rank_state = segment.rank_state(1);
    EXPECT_FALSE(last_words_on(nullptr));
    EXPECT_FALSE(last_words_on(&rank_state));
    NotedWords& noted = rank_state.last_words;
    std::strcpy(noted.sentence, "no");
    std::strcpy(noted.code, "MPI_ERR_RANK");
    std::strcpy(noted.call, "MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)");
    noted.addresses = 1;
    noted.stack[0] = 4711;
    EXPECT_FALSE(last_words_on(&rank_state)) << "not said yet";
    noted.state = NotedWords::said;
    LastWords const words = *last_words_on(&rank_state);
    EXPECT_EQ(words.line(), "rank 1: no\n");
    EXPECT_EQ(words.code, "MPI_ERR_RANK");
    EXPECT_EQ(words.call, "MPI_Send(1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD)");
    EXPECT_EQ(words.stack, std::vector<std::uint64_t>{4711});
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

LastWords words_of(int rank, std::string const& sentence, std::string const& place) {
    return {.rank = rank,
            .sentence = sentence,
            .code = "MPI_Abort",
            .call = "MPI_Abort(grid, errorcode 3)",
            .place = {place}};
}

TEST(HeldWords, AreToldOnceForEachSentenceAndSinkAndBeforeWhatExplainsThem) {
    Reader one, other;
    Sink sink(one.ends[1]), second(other.ends[1]);
    HeldWords held;
    auto const start = HeldWords::Clock::now();
    EXPECT_TRUE(held.empty());
    held.add(sink, words_of(2, "no", "a.c:3"), start);
    held.add(second, words_of(5, "no", ""), start + 30ms);
    held.add_lines(sink, "mpiexec: over.\n");
    held.add(sink, words_of(3, "no", "a.c:3"), start + 40ms);
    held.add(sink, words_of(0, "never", "a.c:4"), start + 50ms);
    EXPECT_EQ(held.due(), start + 100ms) << "of the first one";
    held.write_all();
    EXPECT_TRUE(held.empty());
    EXPECT_EQ(one.text(),
              "error[MPI_Abort] no\n  ranks 2 and 3  MPI_Abort(grid, errorcode 3)  a.c:3\n"
              "  more: mpiexec --explain MPI_Abort\nmpiexec: over.\n"
              "error[MPI_Abort] never\n  rank 0  MPI_Abort(grid, errorcode 3)  a.c:4\n"
              "  more: mpiexec --explain MPI_Abort\n");
    EXPECT_EQ(other.text(),
              "error[MPI_Abort] no\n  rank 5  MPI_Abort(grid, errorcode 3)\n  more: mpiexec --explain MPI_Abort\n");
}

TEST(HeldWords, AreJsonForTools) {
    Reader end;
    Sink sink(end.ends[1]);
    HeldWords held;
    held.speak_json();
    held.add(sink, words_of(1, "no", "a.c:3"), HeldWords::Clock::now());
    held.write_all();
    std::string const text = end.text();
    EXPECT_TRUE(text.starts_with(R"j({"code":"MPI_Abort",)j")) << text;
    EXPECT_NE(text.find(R"j("ranks":[1],"call":"MPI_Abort(grid, errorcode 3)","place":"a.c:3")j"), text.npos) << text;
}

/// A rank's standard error, and what goes on of it.
TEST(OutputStream, HandsOnAllButTheLastWordsOfItsRank) {
    Segment const segment = Segment::create(1);
    Reader end;
    Sink sink(end.ends[1]);
    Pipe pipe = Pipe::make();
    std::vector<std::string> said;
    OutputStream stream(std::move(pipe.read), sink, {}, 0, &segment.rank_state(0),
                        [&](Sink&, LastWords const& words) { said.push_back(words.sentence); });
    auto write_line = [&](std::string const& line) {
        EXPECT_EQ(write(pipe.write.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    };
    write_line("rank 0: no\n");
    stream.read_some();
    NotedWords& noted = segment.rank_state(0).last_words;
    std::strcpy(noted.sentence, "no");
    noted.state = NotedWords::said;
    write_line("before\nrank 0: no\nafter\n");
    stream.read_some();
    sink.write_some();
    EXPECT_EQ(said, std::vector<std::string>{"no"});
    EXPECT_EQ(noted.state, NotedWords::heard) << "the rank need not stand any longer";
    EXPECT_EQ(end.text(), "rank 0: no\nbefore\nafter\n") << "before it was noted it was the program's";
}

}   // namespace
}   // namespace tutti::launcher
