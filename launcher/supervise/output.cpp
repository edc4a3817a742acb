// SPDX-License-Identifier: BSD-3-Clause
// Sinks, streams, and the poll loop's access to both.
#include "launcher/supervise/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"
#include "runtime/job/lost_job.hpp"

namespace tutti::launcher {
namespace {

// If poll reports a descriptor as writable, this many bytes (PIPE_BUF) can be written without blocking. Our descriptors
// are shared with the shell and therefore cannot be made non-blocking.
constexpr std::size_t nonblocking_write_bytes = 4096;

bool same_file(int a, int b) {
    struct stat x {
    }, y{};
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/// Returns true also if the other end is closed; the next read or write detects that.
bool ready(int descriptor, short events) {
    pollfd one{descriptor, events, 0};
    return poll(&one, 1, 0) > 0;
}

}   // namespace

Sink::Sink(int descriptor, bool on_terminal) : descriptor_(descriptor) {
    struct stat info {};
    regular_ = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
    terminal_ = on_terminal || isatty(descriptor) == 1;
}

Sink::Sink(Descriptor file) : Sink(file.get()) { owned_ = std::move(file); }

void Sink::write_some() {
    while (!empty() && !broken_ && error_ == 0 && (regular_ || ready(descriptor_, POLLOUT))) {
        std::size_t left = queue_.size() - written_;
        ssize_t n =
            write(descriptor_, queue_.data() + written_, regular_ ? left : std::min(left, nonblocking_write_bytes));
        if (n > 0) written_ += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) break;   // another process has used the room
        else if (errno == EPIPE) broken_ = true;
        else if (errno != EINTR) error_ = errno;
    }
    bool const lost = broken_ || error_ != 0;
    if (!empty() && !lost && written_ < high_water) return;
    queue_.erase(0, lost ? queue_.size() : written_);
    written_ = 0;
}

void Sink::add(void const* writer, std::string_view text) {
    if (text.empty()) return;
    if (terminal_ && open_line_writer_ && open_line_writer_ != writer) queue_ += '\n';
    queue_ += text;
    open_line_writer_ = text.back() == '\n' ? nullptr : writer;
}

OutputStream::ReadResult OutputStream::read_once() {
    char buffer[65536];
    if (!ready(pipe_.get(), POLLIN)) return ReadResult::nothing;
    ssize_t n = read(pipe_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return ReadResult::nothing;
    if (n <= 0) return ReadResult::end;
    std::string lines;
    splitter_.add({buffer, static_cast<std::size_t>(n)}, lines);
    write_lines(lines);
    return ReadResult::bytes;
}

void OutputStream::write_lines(std::string text) {
    std::optional<RankAbortMessage> const message = read_abort_message(rank_state_);
    bool const found = message && remove_message_line(text, *message, prefix_);
    sink_->add(this, text);
    if (!found) return;
    on_message_(*sink_, *message);
    rank_state_->abort_message.state.store(AbortMessage::read, std::memory_order_release);
}

void OutputStream::end() {
    std::string last;
    splitter_.finish(last);
    write_lines(last);
    is_singleton_ = has_singleton_mark(pipe_.get());
    pipe_.reset();
}

void OutputStream::read_some() {
    if (read_once() == ReadResult::end) end();
}

void OutputStream::drain() {
    while (read_once() == ReadResult::bytes) {}
    end();
}

void OutputStream::show_unfinished() {
    std::string piece;
    splitter_.show_unfinished(piece);
    write_lines(piece);
}

Output::Output(bool on_terminal)
    : own_output_(std::make_unique<Sink>(STDOUT_FILENO, on_terminal)), output_(own_output_.get()) {
    if (same_file(STDOUT_FILENO, STDERR_FILENO)) {
        error_ = output_;   // with two queues their lines would mix
        return;
    }
    own_error_ = std::make_unique<Sink>(STDERR_FILENO, on_terminal);
    error_ = own_error_.get();
}

Sink& Output::file(std::string const& name) {
    if (auto known = files_.find(name); known != files_.end()) return *known->second;
    std::error_code error;
    std::filesystem::path const folder = std::filesystem::path(name).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    if (error)
        throw LaunchError(join("the output file ", name,
                               " cannot be written, because its folder cannot be created: ", error.message()));
    Descriptor file(open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) throw LaunchError(join("the output file ", name, " cannot be written: ", std::strerror(errno)));
    return *files_.emplace(name, std::make_unique<Sink>(std::move(file))).first->second;
}

void Output::add(Descriptor pipe, Sink& sink, LinePrefix prefix, int rank, RankState* rank_state) {
    auto on_message = [this](Sink& where, RankAbortMessage const& message) { on_abort_message(where, message); };
    streams_.push_back(std::make_unique<OutputStream>(std::move(pipe), sink, std::move(prefix), rank, rank_state,
                                                      std::move(on_message)));
}

void Output::on_abort_message(Sink& sink, RankAbortMessage message) {
    LocatedCall& call = message.call;
    if (find_position_ && call.position.text.empty()) call.position = find_position_(call);
    bool const is_forwarded = forward_message_ && (&sink == output_ || &sink == error_);
    if (!is_forwarded) return add_message(sink, message);
    forward_message_(&sink == error_ ? 2 : 1, message);
    sink.add(this, message.line());
}

void Output::print_message(std::string_view message) { print(join("mpiexec: ", message, ".\n")); }

void Output::print(std::string_view lines) {
    if (has_delayed()) return merger_.add_lines(*error_, lines);
    error_->add(this, lines);
    error_->write_some();
}

std::vector<Sink*> Output::sinks() const {
    std::vector<Sink*> all{output_};
    if (error_ != output_) all.push_back(error_);
    for (auto const& [name, sink] : files_) all.push_back(sink.get());
    return all;
}

void Output::watch(std::vector<pollfd>& set) const {
    for (Sink* sink : sinks())
        if (!sink->empty() && !sink->broken()) set.push_back({sink->descriptor(), POLLOUT, 0});
    for (auto const& stream : streams_)
        if (stream->open() && !stream->sink().full()) set.push_back({stream->descriptor(), POLLIN, 0});
}

void Output::serve(std::vector<pollfd> const& set) {
    std::vector<int> found;
    for (pollfd const& p : set)
        if (p.revents != 0) found.push_back(p.fd);
    std::sort(found.begin(), found.end());
    for (auto const& stream : streams_) {
        if (!stream->open()) continue;
        if (stream->sink().broken()) stream->abandon();
        else if (!stream->sink().full() && std::binary_search(found.begin(), found.end(), stream->descriptor()))
            stream->read_some();
    }
    for (Sink* sink : sinks()) sink->write_some();
}

void Output::collect() {
    for (auto const& stream : streams_)
        if (stream->open()) stream->read_some();
    for (Sink* sink : sinks()) sink->write_some();
}

void Output::show_unfinished() {
    for (auto const& stream : streams_)
        if (stream->has_line_to_show()) stream->show_unfinished();
}

void Output::drain() {
    for (auto const& stream : streams_)
        if (stream->open()) stream->drain();
    write_delayed();
    for (Sink* sink : sinks()) sink->write_some();
}

std::optional<std::string> Output::next_loss() {
    for (Sink const* sink : sinks()) {
        if (sink->error() == 0 || !losses_reported_.insert(sink).second) continue;
        auto const file = std::ranges::find_if(files_, [&](auto const& f) { return f.second.get() == sink; });
        return join(file != files_.end() ? "the output file " + file->first
                    : sink == output_    ? std::string("standard output")
                                         : "standard error",
                    " cannot be written: ", std::strerror(sink->error()), "; output that ranks write to it is lost");
    }
    return {};
}

std::set<ino_t> Output::open_pipes() const {
    std::set<ino_t> pipes;
    struct stat info {};
    for (auto const& stream : streams_)
        if (stream->open() && fstat(stream->descriptor(), &info) == 0) pipes.insert(info.st_ino);
    return pipes;
}

std::set<int> Output::ranks_with_world_of_one() const {
    std::set<int> ranks;
    for (auto const& stream : streams_)
        if (stream->is_singleton()) ranks.insert(stream->rank());
    return ranks;
}

bool Output::all_written() const {
    std::vector<Sink*> all = sinks();
    return std::all_of(all.begin(), all.end(), [](Sink* s) { return s->empty() || s->broken(); });
}

bool Output::has_line_to_show() const {
    return std::any_of(streams_.begin(), streams_.end(), [](auto const& s) { return s->has_line_to_show(); });
}

}   // namespace tutti::launcher
