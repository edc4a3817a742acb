// SPDX-License-Identifier: BSD-3-Clause
// What goes between the launchers of a job's nodes: a daemon's handshake, then frames, each with its type, the node
// that it concerns and its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::launcher {

enum class FrameType : std::uint32_t {
    beat,   ///< both ways: I am there
    // down
    job,      ///< Assignment
    start,    ///< World: everybody listens, here is the map
    signal,   ///< an int: for the ranks
    end,      ///< end the ranks: SIGTERM, soon SIGKILL
    look,     ///< Missing: a rank somewhere ended without MPI_Init; is anybody of yours in MPI?
    ask,      ///< Question: do these ranks still wait as they have shown?
    see,      ///< Inquiry: what do these ranks wait for, what do the others do?
    input,    ///< bytes for the rank that reads standard input
    input_end,
    taken,    ///< Taken: room for so many more bytes of output (down) or input (up)
    closed,   ///< an int: nobody reads that stream (0, 1, 2) any more; both ways
    clock,    ///< ClockAnswer: what does your clock say? Both ways
    quit,     ///< all is over: go
    // up
    ready,       ///< NodeFacts
    failed,      ///< Verdict: the node cannot do its part, or one below it has gone
    output,      ///< Chunk
    said,        ///< Said: the line comes as output
    verdict,     ///< Verdict of a rank that has not ended well
    missing,     ///< Missing
    waits,       ///< NodeNews: what has changed of blocked ranks, and the answer to `ask`
    mistake,     ///< Report: a mistake of the program that is certain, or a warning
    seen,        ///< RanksSeen: the answer to `see`
    counts,      ///< of one rank, for --stats
    not_freed,   ///< NotFreedCounts of the node's ranks
    machine,     ///< RecordedNode, for --report
    recording,   ///< RankRecording of one rank, likewise
    done,        ///< all ranks have ended and everything is told
    last = done
};

struct Frame {
    FrameType type = FrameType::beat;
    int node = -1;   ///< down: for whom, all if −1; up: from whom
    std::string body;
};

inline constexpr std::size_t frame_head = 12, longest_frame = 64 << 20;

/// A body longer than `longest`, such as a rank's recording, goes in pieces, one right behind the other.
std::string encoded(FrameType type, int node, std::string_view body, std::size_t longest = longest_frame);

/// Cuts a stream of bytes into frames and puts pieces together.
class FrameReader {
public:
    void add(std::string_view bytes) { bytes_ += bytes; }
    /// The next whole frame, if it is there. Throws Error when the bytes are none of ours.
    std::optional<Frame> next();

private:
    std::string bytes_;
    std::size_t at_ = 0;
    std::optional<Frame> begun_;   ///< of which more pieces come
};

/// The line with which a daemon begins; nothing that a shell says at its start looks like it.
std::string handshake();

/// Finds the handshake in what an agent printed first, which may be other things before.
class HandshakeReader {
public:
    /// True once it has come; `rest` are the bytes behind it. Throws Error when another version greets, or when what
    /// begins like a handshake does not end.
    bool add(std::string_view bytes, std::string& rest);
    /// The agent's own words before it, the last of them when there are many.
    std::string const& noise() const { return kept_; }

private:
    std::string kept_;
};

}   // namespace tutti::launcher
