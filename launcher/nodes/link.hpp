// SPDX-License-Identifier: BSD-3-Clause
// The connection between two launchers of a job: frames over two pipes, which never block, and the time for which the
// other end has been silent; a thread that sends heartbeats.
#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "launcher/base/proc.hpp"

// The protocol between the launchers of a job's nodes: a daemon's handshake, then frames, each with its type, the node
// that it concerns, and its length.

namespace tutti::launcher {

enum class FrameType : std::uint32_t {
    beat,   ///< both ways: heartbeat
    // Down, from mpiexec to a daemon.
    job,      ///< Assignment
    start,    ///< StartOrder: all nodes listen; contains the map of the job
    signal,   ///< an int: a signal for the ranks
    end,      ///< end the ranks: SIGTERM, later SIGKILL
    /// NeverInitialized: a rank on some node ended without MPI_Init; end the job once a rank of this node is in MPI
    end_if_initialized,
    wait_query,      ///< WaitQuery: do these ranks still wait as they have published?
    rank_query,      ///< RankQuery: what do these ranks wait for, what do the others do?
    input,           ///< bytes of standard input, for the ranks of the node that read it
    input_end,       ///< end of standard input
    exchanged,       ///< Exchanged: the result of an exchange
    window_update,   ///< WindowUpdate: number of bytes consumed, of output (down) or input (up)
    closed,          ///< an int: the reader of that stream (0, 1, 2) has gone; both ways
    clock,           ///< ClockAnswer: request for a clock value (down), and the answer (up)
    quit,            ///< the job is over: exit
    // Up, from a daemon to mpiexec.
    ready,               ///< NodeFacts
    failed,              ///< RankExit: the node cannot do its part, or one below it is lost
    output,              ///< OutputChunk
    abort_notice,        ///< AbortNotice: a last message, whose line follows as output
    rank_exit,           ///< RankExit about a rank that has ended with an error
    never_initialized,   ///< NeverInitialized: a rank of the node ended without MPI_Init
    node_update,         ///< NodeUpdate: changes of blocked ranks, and the reply to `wait_query`
    diagnostic,          ///< Report: a certain error of the program, or a warning
    contribution,        ///< Contribution: the node's part of an exchange
    rank_states,         ///< RankStates: the answer to `rank_query`
    counts,              ///< counts of one rank, for --stats
    not_freed,           ///< NotFreedCounts of the node's ranks
    machine,             ///< RecordedNode, for --report
    recording,           ///< RankRecording of one rank, likewise
    done,                ///< all ranks have ended and everything has been sent
    last = done
};

struct Frame {
    FrameType type = FrameType::beat;
    int node = -1;   ///< down: the receiver, or −1 for all; up: the sender
    std::string body;
};

/// Bytes of a frame's head, and the maximum length of a body in bytes; longer bodies are sent in pieces.
inline constexpr std::size_t frame_header_bytes = 12, max_frame_body = 64 << 20;

/// Returns the bytes of a frame. A body longer than `max_body`, such as a rank's recording, is split into consecutive
/// pieces.
std::string encoded(FrameType type, int node, std::string_view body, std::size_t max_body = max_frame_body);

/// Splits a stream of bytes into frames, and joins the pieces of a body.
class FrameReader {
public:
    void add(std::string_view bytes) { bytes_ += bytes; }
    /// Returns the next frame if it is complete. Throws Error if the bytes are not frames.
    std::optional<Frame> next();

private:
    std::string bytes_;
    std::size_t at_ = 0;
    std::optional<Frame> unfinished_;   ///< a frame that more pieces follow
};

/// Returns the line that a daemon sends first. No shell prints such a line when it starts.
std::string handshake();

/// Finds the handshake in the first bytes from an agent, which may print other text before it.
class HandshakeReader {
public:
    /// Returns true once the handshake has arrived; `rest` is set to the bytes after it. Throws Error if the daemon has
    /// another version, or if a line that begins like a handshake does not end.
    bool add(std::string_view bytes, std::string& rest);
    /// Returns the text before the handshake, or the end of it if it is long.
    std::string const& preceding_text() const { return kept_; }

private:
    std::string kept_;
};

/// Measures how long the other end has been silent. Time during which this process was stopped, or the machine
/// suspended, does not count, because the process could not receive then.
class SilenceTimer {
public:
    using Clock = std::chrono::steady_clock;
    /// Must be called in each iteration of the loop, after everything that had arrived was read.
    void update(Clock::time_point now);
    /// Must be called when bytes have arrived.
    void reset() { length_ = {}; }
    Clock::duration length() const { return length_; }
    Clock::time_point last_update() const { return last_update_; }

private:
    Clock::time_point last_update_{};
    Clock::duration length_{};
};

// Bytes queued for another launcher, and the thread that sends heartbeats.

/// A queue in front of a descriptor; its writers never block. The launcher's loop adds frames, the thread of Heartbeats
/// adds beats between them: all members may be called by any thread.
class Outbox {
public:
    explicit Outbox(Descriptor out);

    /// Appends whole frames, and writes as much as the descriptor accepts now.
    void add(std::string_view bytes);
    void write_some();
    /// Adds a beat unless bytes are queued. Queued bytes prove as well that this launcher is alive once they are sent,
    /// and a receiver that was stopped for long must not find thousands of beats.
    void add_beat();
    /// Discards queued bytes.
    void close();

    bool open() const;
    /// Returns the descriptor to be polled for room, or -1 while nothing is queued.
    int blocked_descriptor() const;

private:
    void write_locked();   ///< must be called with the lock held

    mutable std::mutex mutex_;
    Descriptor out_;
    std::string queue_;         ///< empty once everything has been written
    std::size_t written_ = 0;   ///< bytes of the queue
};

/// A thread that sends a beat on each outbox five times per second. The launcher's loop may be busy for seconds: with
/// debug information, with a program on a slow file system, or on a shared processor. The other launchers must not
/// consider it dead then.
///
/// Must be constructed after the last fork of this process; starting programs by vfork is permitted.
class Heartbeats {
public:
    /// Throws LaunchError if the thread cannot be started.
    Heartbeats();
    ~Heartbeats();

    /// Sends beats until the outbox is closed or destroyed.
    void add(std::weak_ptr<Outbox> outbox);

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::weak_ptr<Outbox>> outboxes_;
    bool is_stopping_ = false;
    std::thread thread_;
};

/// Both pipes are non-blocking. Used by the launcher's loop only; the thread of Heartbeats shares the Outbox.
class Link {
public:
    static constexpr std::chrono::milliseconds beat{200};   ///< interval between heartbeats

    Link() = default;
    Link(Descriptor in, Descriptor out);

    bool open() const { return static_cast<bool>(in_); }
    void close();

    /// Lets `heartbeats` send beats on this link from now on, independently of this launcher's loop.
    void keep_alive(Heartbeats& heartbeats) { heartbeats.add(out_); }
    /// Sends the handshake, with which a daemon begins.
    void send_handshake() { out_->add(handshake()); }
    /// Queues the frame, and writes as much as possible without blocking.
    void send(FrameType type, int node, std::string_view body = {});
    void send(Frame const& frame) { send(frame.type, frame.node, frame.body); }

    void watch(std::vector<pollfd>& set) const;
    /// Writes queued bytes, and appends to `bytes` what is available, about 1 MiB per call. Returns false once the
    /// other end has closed and nothing was read.
    bool exchange(std::string& bytes);
    /// Updates the silence. Must be called after exchange.
    void update_silence(SilenceTimer::Clock::time_point now) { silence_.update(now); }
    SilenceTimer::Clock::duration silence() const { return silence_.length(); }
    /// Returns the time until update_silence must be called again.
    std::chrono::milliseconds poll_timeout() const;

    FrameReader frames;   ///< frames in the bytes received; the caller of exchange adds the bytes

private:
    Descriptor in_;
    std::shared_ptr<Outbox> out_;
    SilenceTimer silence_;
};

}   // namespace tutti::launcher
