// SPDX-License-Identifier: BSD-3-Clause
// Moves the output of ranks from their pipes to its destinations. A sink that cannot accept more stops its streams from
// being read, so the ranks wait as if they wrote to the destination themselves, and memory is bounded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "launcher/base/proc.hpp"
#include "launcher/supervise/abort_messages.hpp"
#include "launcher/supervise/lines.hpp"

namespace tutti::launcher {

/// A destination of output: the standard output or error of mpiexec, or a file.
class Sink {
public:
    explicit Sink(int descriptor, bool on_terminal = false);   ///< does not own the descriptor
    explicit Sink(Descriptor file);                            ///< owns the file

    /// Returns true if more than `high_water` bytes are queued; streams of this sink are then not read.
    bool full() const { return queue_.size() - written_ > high_water; }
    bool empty() const { return written_ == queue_.size(); }
    bool broken() const { return broken_; }   ///< the reader has closed it (for example a pipe into head)
    /// Returns the errno of a failed write, or 0. After a failure the sink discards its output, and the job continues
    /// as it would if it wrote to a full disk itself.
    int error() const { return error_; }
    bool terminal() const { return terminal_; }
    int descriptor() const { return descriptor_; }

    /// Writes as much as possible without blocking.
    void write_some();

    /// Appends `text` of a writer. On a terminal it begins on a new line if another writer's line is unfinished.
    void add(void const* writer, std::string_view text);

private:
    static constexpr std::size_t high_water = 256 * 1024;   ///< bytes

    Descriptor owned_;
    int descriptor_;
    bool regular_ = false, terminal_ = false, broken_ = false;
    int error_ = 0;
    std::string queue_;
    std::size_t written_ = 0;
    void const* open_line_writer_ = nullptr;
};

/// Called with a rank's last message once its line has been found in the output for `sink` and removed from it.
using OnAbortMessage = std::function<void(Sink& sink, RankAbortMessage const& message)>;

/// The standard output or the standard error of one rank.
class OutputStream {
public:
    /// `rank_state`: where the rank records its last message, which is then passed to `on_message`; null: messages are
    /// not searched for. `sink` and `rank_state` must stay valid as long as this object.
    OutputStream(Descriptor pipe, Sink& sink, LinePrefix prefix, int rank, RankState* rank_state,
                 OnAbortMessage on_message)
        : pipe_(std::move(pipe)), sink_(&sink), prefix_(prefix), splitter_(std::move(prefix)), rank_(rank),
          rank_state_(rank_state), on_message_(std::move(on_message)) {}

    bool open() const { return static_cast<bool>(pipe_); }
    int descriptor() const { return pipe_.get(); }
    Sink& sink() const { return *sink_; }
    int rank() const { return rank_; }
    /// Returns true if a process that printed here was rank 0 of a world of one. Known once the stream is closed.
    bool is_singleton() const { return is_singleton_; }

    /// Reads once and passes on the whole lines. Closes the stream at its end.
    void read_some();
    /// Reads what is left without waiting for processes that still have the other end open, then closes the stream.
    void drain();
    /// Closes the pipe because the reader of the sink has gone; writers then get a broken pipe.
    void abandon() { pipe_.reset(); }
    /// Returns true if there is an unfinished line (a question, a row of dots) to be shown on a terminal after a moment
    /// of silence.
    bool has_line_to_show() const { return open() && sink_->terminal() && splitter_.has_unfinished(); }
    void show_unfinished();

private:
    enum class ReadResult { bytes, nothing, end };
    ReadResult read_once();
    void write_lines(std::string text);
    void end();

    Descriptor pipe_;
    Sink* sink_;
    LinePrefix prefix_;
    LineSplitter splitter_;
    int rank_;
    bool is_singleton_ = false;
    RankState* rank_state_;
    OnAbortMessage on_message_;
};

/// All sinks and streams of a job.
class Output {
public:
    /// `on_terminal`: treat standard output and error as terminals, because mpiexec prints this output on one.
    explicit Output(bool on_terminal = false);

    Sink& standard_output() { return *output_; }
    Sink& standard_error() { return *error_; }
    /// Returns the file of that name; creates it and its folders, and truncates it, at first use. Throws LaunchError.
    Sink& file(std::string const& name);

    /// Adds the standard output of a rank or, with its `rank_state`, its standard error.
    void add(Descriptor pipe, Sink& sink, LinePrefix prefix, int rank, RankState* rank_state = nullptr);
    /// Sets the function that finds the positions of last messages while their ranks still exist.
    void set_position_finder(FindPosition find_position) { find_position_ = std::move(find_position); }
    /// Prints reports as lines of JSON from now on.
    void use_json() { merger_.use_json(); }
    /// Used by daemons: `forward` sends a last message to mpiexec, which merges it with those of other nodes. It is
    /// called before the message's line is sent as part of stream 1 or 2.
    void forward_messages_to(std::function<void(int stream, RankAbortMessage const& message)> forward) {
        forward_message_ = std::move(forward);
    }
    /// Delays a last message, found in the output for `sink`, as MessageMerger does.
    void add_message(Sink& sink, RankAbortMessage const& message) {
        merger_.add(sink, message, MessageMerger::Clock::now());
    }
    bool has_delayed() const { return !merger_.empty(); }
    MessageMerger::Clock::time_point due() const { return merger_.due(); }
    void write_delayed() { merger_.write_all(); }
    /// Prints a message of mpiexec itself on standard error. `message` has no full stop.
    void print_message(std::string_view message);
    /// Prints lines of mpiexec itself on standard error.
    void print(std::string_view lines);

    /// Adds the descriptors that can be waited for now.
    void watch(std::vector<pollfd>& set) const;
    /// Reads and writes where poll has found something.
    void serve(std::vector<pollfd> const& set);
    /// Reads what is available now, whether or not the sinks have room.
    void collect();
    void show_unfinished();
    /// Reads what is left in all pipes, closes them, and writes delayed messages.
    void drain();

    /// Returns a message about output that could not be written since the last call, if any.
    std::optional<std::string> next_loss();

    /// Returns the ranks on whose closed streams a process printed that was rank 0 of a world of one.
    std::set<int> ranks_with_world_of_one() const;
    /// Returns the inodes of the pipes that ranks have not closed.
    std::set<ino_t> open_pipes() const;
    bool all_written() const;
    bool has_line_to_show() const;

private:
    std::vector<Sink*> sinks() const;
    void on_abort_message(Sink& sink, RankAbortMessage message);

    std::unique_ptr<Sink> own_output_, own_error_;
    Sink *output_, *error_;
    std::map<std::string, std::unique_ptr<Sink>> files_;
    std::set<Sink const*> losses_reported_;
    std::vector<std::unique_ptr<OutputStream>> streams_;
    MessageMerger merger_;
    std::function<void(int, RankAbortMessage const&)> forward_message_;   ///< null: this is mpiexec
    FindPosition find_position_;                                          ///< null: positions are not looked up
};

}   // namespace tutti::launcher
