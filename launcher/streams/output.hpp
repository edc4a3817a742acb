// SPDX-License-Identifier: BSD-3-Clause
// From the pipes of the ranks to where their output goes. A sink that cannot take more makes its streams wait, so the
// ranks wait, too, as they would if they wrote there themselves: memory stays bounded.
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

#include "launcher/base/descriptor.hpp"
#include "launcher/streams/last_words.hpp"
#include "launcher/streams/lines.hpp"

namespace tutti::launcher {

/// A place where output goes: mpiexec's own standard output or error, or a file.
class Sink {
public:
    explicit Sink(int descriptor, bool on_terminal = false);   ///< borrowed
    explicit Sink(Descriptor file);                            ///< owned

    bool full() const { return waiting_.size() - written_ > high_water; }
    bool empty() const { return written_ == waiting_.size(); }
    bool broken() const { return broken_; }   ///< nobody reads it any more (a pipe into head)
    /// Why something could not be written, an errno; 0: everything could. From then on it swallows what comes, so that
    /// the job goes on as it would with its output straight into a full disk.
    int error() const { return error_; }
    bool terminal() const { return terminal_; }
    int descriptor() const { return descriptor_; }

    /// Writes as much as can be written without waiting.
    void write_some();

    /// Appends `text` of a writer; on a terminal on a new line when the unfinished one of another writer stands there.
    void add(void const* writer, std::string_view text);

private:
    static constexpr std::size_t high_water = 256 * 1024;

    Descriptor owned_;
    int descriptor_;
    bool regular_ = false, terminal_ = false, broken_ = false;
    int error_ = 0;
    std::string waiting_;
    std::size_t written_ = 0;
    void const* open_line_of_ = nullptr;
};

/// What becomes of a rank's last words that have come by a sink.
using WhenSaid = std::function<void(Sink& sink, LastWords const& words)>;

/// One rank's standard output or standard error.
class OutputStream {
public:
    /// `rank_state`: where the rank notes its last words, which then go to `when_said`; null: nothing is looked for.
    OutputStream(Descriptor pipe, Sink& sink, LinePrefix prefix, int rank, RankState* rank_state, WhenSaid when_said)
        : pipe_(std::move(pipe)), sink_(&sink), prefix_(prefix), cutter_(std::move(prefix)), rank_(rank),
          rank_state_(rank_state), when_said_(std::move(when_said)) {}

    bool open() const { return static_cast<bool>(pipe_); }
    int descriptor() const { return pipe_.get(); }
    Sink& sink() const { return *sink_; }
    int rank() const { return rank_; }
    /// A process that printed here was rank 0 of a world of one. Known once the stream is closed.
    bool world_of_one() const { return world_of_one_; }

    /// Reads once and hands the whole lines on. Closes itself at the end.
    void read_some();
    /// Takes what is left without waiting for whoever still holds the other end, then closes.
    void drain();
    /// Lets writers see a broken pipe, because our own reader has gone.
    void abandon() { pipe_.reset(); }
    /// On a terminal an unfinished line (a question, a row of dots) is shown after a moment of silence.
    bool wants_showing() const { return open() && sink_->terminal() && cutter_.has_unfinished(); }
    void show_unfinished();

private:
    enum class Taken { bytes, nothing, end };
    Taken take();
    void put(std::string text);
    void end();

    Descriptor pipe_;
    Sink* sink_;
    LinePrefix prefix_;
    LineCutter cutter_;
    int rank_;
    bool world_of_one_ = false;
    RankState* rank_state_;
    WhenSaid when_said_;
};

/// All sinks and streams of a job.
class Output {
public:
    /// `on_terminal`: what goes to standard output and error ends on a terminal, though they are none.
    explicit Output(bool on_terminal = false);

    Sink& standard_output() { return *output_; }
    Sink& standard_error() { return *error_; }
    /// The file of that name, made with its folders and emptied at first use. Throws Complaint.
    Sink& file(std::string const& name);

    /// The standard output or, with its `rank_state`, the standard error of a rank.
    void add(Descriptor pipe, Sink& sink, LinePrefix prefix, int rank, RankState* rank_state = nullptr);
    /// Who finds the places of last words, as long as their ranks stand.
    void ask_for_places(PlaceOf place_of) { place_of_ = std::move(place_of); }
    /// Reports are lines of JSON.
    void speak_json() { held_.speak_json(); }
    /// In a daemon: its ranks' last words on their way to mpiexec, which puts them together with those of other nodes,
    /// are told before their line goes there by stream 1 or 2.
    void tell_words_to(std::function<void(int stream, LastWords const& words)> there) {
        words_there_ = std::move(there);
    }
    /// Last words that have come by a sink.
    void hold(Sink& sink, LastWords const& words) { held_.add(sink, words, HeldWords::Clock::now()); }
    bool holds() const { return !held_.empty(); }
    HeldWords::Clock::time_point due() const { return held_.due(); }
    void write_held() { held_.write_all(); }
    /// A sentence of mpiexec's own.
    void say(std::string_view sentence);
    /// Lines of mpiexec's own on standard error.
    void print(std::string_view lines);

    /// Adds what can be waited for now.
    void watch(std::vector<pollfd>& set) const;
    /// Reads and writes what poll found in that part of the set.
    void serve(std::vector<pollfd> const& set);
    /// Reads what is there now, whether or not there is room.
    void collect();
    void show_unfinished();
    void drain();

    /// A sentence about somebody's output that could not be written since the last call, if any.
    std::optional<std::string> next_loss();

    bool streams_open() const;
    /// The ranks into whose streams, closed by now, a process printed that was rank 0 of a world of one.
    std::set<int> ranks_with_world_of_one() const;
    /// The inodes of the pipes that ranks have not closed.
    std::set<ino_t> open_pipes() const;
    bool all_written() const;
    bool wants_showing() const;

private:
    std::vector<Sink*> sinks() const;
    void said(Sink& sink, LastWords words);

    std::unique_ptr<Sink> own_output_, own_error_;
    Sink *output_, *error_;
    std::map<std::string, std::unique_ptr<Sink>> files_;
    std::set<Sink const*> losses_told_;
    std::vector<std::unique_ptr<OutputStream>> streams_;
    HeldWords held_;
    std::function<void(int, LastWords const&)> words_there_;   ///< null: this is mpiexec
    PlaceOf place_of_;                                         ///< null: nobody
};

}   // namespace tutti::launcher
