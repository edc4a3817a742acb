// SPDX-License-Identifier: BSD-3-Clause
// Frames, the handshake, the measurement of silence, the queue of bytes to send, and the link that combines them.
#include "launcher/nodes/link.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"

// Format of a frame: length of the body, type and node, four bytes each, then the body. If the highest bit of the type
// is set, another piece of the body follows, with the same type and node.

namespace tutti::launcher {
namespace {

constexpr char handshake_mark[] = "\x16\x16tutti-daemon ";
constexpr int protocol = 2;
constexpr std::size_t max_noise = 4096;
constexpr std::uint32_t more_pieces_bit = 1u << 31;

void append_piece(std::string& bytes, std::uint32_t type, int node, std::string_view body) {
    std::array<std::uint32_t, 3> const header = {static_cast<std::uint32_t>(body.size()), type,
                                                 static_cast<std::uint32_t>(node)};
    static_assert(sizeof header == frame_header_bytes);
    bytes.append(reinterpret_cast<char const*>(header.data()), sizeof header).append(body);
}

}   // namespace

std::string encoded(FrameType type, int node, std::string_view body, std::size_t max_body) {
    std::string bytes;
    bytes.reserve(body.size() + (body.size() / max_body + 1) * frame_header_bytes);
    for (; body.size() > max_body; body.remove_prefix(max_body))
        append_piece(bytes, static_cast<std::uint32_t>(type) | more_pieces_bit, node, body.substr(0, max_body));
    append_piece(bytes, static_cast<std::uint32_t>(type), node, body);
    return bytes;
}

std::optional<Frame> FrameReader::next() {
    for (;;) {
        if (bytes_.size() - at_ < frame_header_bytes) return {};
        std::array<std::uint32_t, 3> header{};
        std::memcpy(header.data(), bytes_.data() + at_, frame_header_bytes);
        auto const type = static_cast<FrameType>(header[1] & ~more_pieces_bit);
        int const node = static_cast<int>(header[2]);
        bool const is_invalid = header[0] > max_frame_body || type > FrameType::last;
        if (is_invalid || (unfinished_ && (unfinished_->type != type || unfinished_->node != node)))
            fail(ErrorClass::other, "received bytes that are not a frame of a launcher");
        if (bytes_.size() - at_ - frame_header_bytes < header[0]) return {};
        if (!unfinished_) unfinished_ = Frame{type, node, {}};
        unfinished_->body.append(bytes_, at_ + frame_header_bytes, header[0]);
        at_ += frame_header_bytes + header[0];
        if (at_ == bytes_.size() || at_ > (1 << 20)) {
            bytes_.erase(0, at_);
            at_ = 0;
        }
        if ((header[1] & more_pieces_bit) == 0) return std::exchange(unfinished_, std::nullopt);
    }
}

std::string handshake() { return join(handshake_mark, protocol, " ", TUTTI_VERSION, "\n"); }

bool HandshakeReader::add(std::string_view bytes, std::string& rest) {
    kept_ += bytes;
    std::size_t const start = kept_.find(handshake_mark);
    std::size_t const end = start == std::string::npos ? start : kept_.find('\n', start);
    if (end == std::string::npos) {
        if (start != std::string::npos && kept_.size() - start > max_noise)
            fail(ErrorClass::other, "received bytes that are not the handshake of tutti-daemon");
        if (start == std::string::npos && kept_.size() > 2 * max_noise) kept_.erase(0, kept_.size() - max_noise);
        return false;
    }
    std::string const line = kept_.substr(start, end + 1 - start);
    rest = kept_.substr(end + 1);
    kept_.resize(start);
    if (line == handshake()) return true;
    std::size_t const version = line.rfind(' ') + 1;
    fail(ErrorClass::other, "its tutti-daemon has version ", line.substr(version, line.size() - 1 - version),
         " but this mpiexec has version ", TUTTI_VERSION);
}

// A process that is awake calls this once per beat. A longer interval counts as two beats only, because the process
// could not receive during the rest.
void SilenceTimer::update(Clock::time_point now) {
    if (last_update_ != Clock::time_point{}) length_ += std::min<Clock::duration>(now - last_update_, 2 * Link::beat);
    last_update_ = now;
}

// Writing queued bytes, and the heartbeat thread.

Outbox::Outbox(Descriptor out) : out_(std::move(out)) {
    fcntl(out_.get(), F_SETFL, fcntl(out_.get(), F_GETFL) | O_NONBLOCK);
}

void Outbox::add(std::string_view bytes) {
    std::lock_guard const lock(mutex_);
    if (!out_) return;
    queue_ += bytes;
    write_locked();
}

void Outbox::write_some() {
    std::lock_guard const lock(mutex_);
    write_locked();
}

void Outbox::add_beat() {
    std::lock_guard const lock(mutex_);
    if (!out_) return;
    if (queue_.empty()) queue_ = encoded(FrameType::beat, -1, {});
    write_locked();
}

void Outbox::close() {
    std::lock_guard const lock(mutex_);
    out_.reset();
    queue_.clear();
    written_ = 0;
}

bool Outbox::open() const {
    std::lock_guard const lock(mutex_);
    return static_cast<bool>(out_);
}

int Outbox::blocked_descriptor() const {
    std::lock_guard const lock(mutex_);
    return queue_.empty() ? -1 : out_.get();
}

void Outbox::write_locked() {
    while (out_ && written_ < queue_.size()) {
        ssize_t const n = write(out_.get(), queue_.data() + written_, queue_.size() - written_);
        if (n > 0) written_ += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) break;
        else if (errno != EINTR) out_.reset();   // bytes that the other end has sent can still be read
    }
    if (!out_) written_ = queue_.size();
    // A long queue is written in small pieces, and must not be moved after each of them.
    if (written_ <= queue_.size() / 2) return;
    queue_.erase(0, written_);
    written_ = 0;
}

Heartbeats::Heartbeats() try : thread_([this] { run(); }) {
} catch (std::system_error const& error) {
    throw LaunchError(join("the heartbeat thread cannot be started: ", error.what()), 1);
}

Heartbeats::~Heartbeats() {
    {
        std::lock_guard const lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Heartbeats::add(std::weak_ptr<Outbox> outbox) {
    std::lock_guard const lock(mutex_);
    outboxes_.push_back(std::move(outbox));
}

void Heartbeats::run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, Link::beat, [this] { return is_stopping_; }))
        std::erase_if(outboxes_, [](std::weak_ptr<Outbox> const& one) {
            std::shared_ptr<Outbox> const outbox = one.lock();
            if (outbox) outbox->add_beat();
            return !outbox || !outbox->open();
        });
}

// The link.

Link::Link(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::make_shared<Outbox>(std::move(out))) {
    fcntl(in_.get(), F_SETFL, fcntl(in_.get(), F_GETFL) | O_NONBLOCK);
}

void Link::close() {
    in_.reset();
    if (out_) out_->close();
}

void Link::send(FrameType type, int node, std::string_view body) {
    if (out_) out_->add(encoded(type, node, body));
}

void Link::watch(std::vector<pollfd>& set) const {
    if (in_) set.push_back({in_.get(), POLLIN, 0});
    if (int const full = out_ ? out_->blocked_descriptor() : -1; full >= 0) set.push_back({full, POLLOUT, 0});
}

bool Link::exchange(std::string& bytes) {
    constexpr std::size_t max_bytes_per_call = 1 << 20;
    if (!in_) return false;
    out_->write_some();
    char buffer[65536];
    while (bytes.size() < max_bytes_per_call) {
        ssize_t const n = read(in_.get(), buffer, sizeof buffer);
        if (n > 0) bytes.append(buffer, static_cast<std::size_t>(n));
        else if (n < 0 && errno == EINTR) continue;
        else if (n < 0 && errno == EAGAIN) break;
        else return !bytes.empty();
    }
    if (!bytes.empty()) silence_.reset();
    return true;
}

std::chrono::milliseconds Link::poll_timeout() const {
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(silence_.last_update() + beat - SilenceTimer::Clock::now());
    return std::max(std::chrono::milliseconds(0), left);
}

}   // namespace tutti::launcher
