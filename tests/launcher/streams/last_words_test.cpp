// SPDX-License-Identifier: BSD-3-Clause
// Equal last words of ranks: found among the program's lines, told once, within their time.
#include "launcher/streams/last_words.hpp"

#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "launcher/streams/output.hpp"
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

TEST(LastWords, AreThoseThatTheCardHas) {
    Segment const segment = Segment::create(2);
    RankState& rank_state = segment.rank_state(1);
    EXPECT_FALSE(last_words_on(nullptr));
    EXPECT_FALSE(last_words_on(&rank_state));
    std::strcpy(rank_state.last_words, "no");
    rank_state.said = 1;
    EXPECT_EQ(last_words_on(&rank_state)->line(), "rank 1: no\n");
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

TEST(HeldWords, AreWrittenOnceForEachSentenceAndSinkAndBeforeWhatExplainsThem) {
    Reader one, other;
    Sink sink(one.ends[1]), second(other.ends[1]);
    HeldWords held;
    auto const start = HeldWords::Clock::now();
    EXPECT_TRUE(held.empty());
    held.add(sink, {2, "no"}, start);
    held.add(second, {5, "no"}, start + 30ms);
    held.add_lines(sink, "mpiexec: over.\n");
    held.add(sink, {3, "no"}, start + 40ms);
    held.add(sink, {0, "never"}, start + 50ms);
    EXPECT_EQ(held.due(), start + 100ms) << "of the first one";
    held.write_all();
    EXPECT_TRUE(held.empty());
    EXPECT_EQ(one.text(), "ranks 2-3: no\nmpiexec: over.\nrank 0: never\n");
    EXPECT_EQ(other.text(), "rank 5: no\n");
}

/// A rank's standard error, and what goes on of it.
TEST(OutputStream, HandsOnAllButTheLastWordsOfItsRank) {
    Segment const segment = Segment::create(1);
    Reader end;
    Sink sink(end.ends[1]);
    Pipe pipe = Pipe::make();
    std::vector<std::string> said;
    OutputStream stream(std::move(pipe.read), sink, {}, &segment.rank_state(0),
                        [&](Sink&, LastWords const& words) { said.push_back(words.sentence); });
    auto write_line = [&](std::string const& line) {
        EXPECT_EQ(write(pipe.write.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    };
    write_line("rank 0: no\n");
    stream.read_some();
    std::strcpy(segment.rank_state(0).last_words, "no");
    segment.rank_state(0).said = 1;
    write_line("before\nrank 0: no\nafter\n");
    stream.read_some();
    sink.write_some();
    EXPECT_EQ(said, std::vector<std::string>{"no"});
    EXPECT_EQ(end.text(), "rank 0: no\nbefore\nafter\n") << "before it was noted it was the program's";
}

}   // namespace
}   // namespace tutti::launcher
