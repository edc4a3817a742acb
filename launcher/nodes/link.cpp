// SPDX-License-Identifier: BSD-3-Clause
// Frames, the handshake, the measurement of silence, and the link that combines them.
#include "launcher/nodes/link.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/error.hpp"

// Format of a frame: length of the body, type and node, four bytes each, then the body. If the highest bit of the type
// is set, another piece of the body follows, with the same type and node.

namespace tutti::launcher {
namespace {

constexpr char mark[] = "\x16\x16tutti-daemon ";
constexpr int protocol = 2;
constexpr std::size_t most_noise = 4096;
constexpr std::uint32_t more_comes = 1u << 31;

void append_piece(std::string& bytes, std::uint32_t type, int node, std::string_view body) {
    std::array<std::uint32_t, 3> const head = {static_cast<std::uint32_t>(body.size()), type,
                                               static_cast<std::uint32_t>(node)};
    static_assert(sizeof head == frame_head);
    bytes.append(reinterpret_cast<char const*>(head.data()), sizeof head).append(body);
}

}   // namespace

std::string encoded(FrameType type, int node, std::string_view body, std::size_t longest) {
    std::string bytes;
    bytes.reserve(body.size() + (body.size() / longest + 1) * frame_head);
    for (; body.size() > longest; body.remove_prefix(longest))
        append_piece(bytes, static_cast<std::uint32_t>(type) | more_comes, node, body.substr(0, longest));
    append_piece(bytes, static_cast<std::uint32_t>(type), node, body);
    return bytes;
}

std::optional<Frame> FrameReader::next() {
    for (;;) {
        if (bytes_.size() - at_ < frame_head) return {};
        std::array<std::uint32_t, 3> head{};
        std::memcpy(head.data(), bytes_.data() + at_, frame_head);
        auto const type = static_cast<FrameType>(head[1] & ~more_comes);
        int const node = static_cast<int>(head[2]);
        bool const wrong = head[0] > longest_frame || type > FrameType::last;
        if (wrong || (begun_ && (begun_->type != type || begun_->node != node)))
            fail(ErrorClass::other, "what came is no message of a launcher");
        if (bytes_.size() - at_ - frame_head < head[0]) return {};
        if (!begun_) begun_ = Frame{type, node, {}};
        begun_->body.append(bytes_, at_ + frame_head, head[0]);
        at_ += frame_head + head[0];
        if (at_ == bytes_.size() || at_ > (1 << 20)) {
            bytes_.erase(0, at_);
            at_ = 0;
        }
        if ((head[1] & more_comes) == 0) return std::exchange(begun_, std::nullopt);
    }
}

std::string handshake() { return join(mark, protocol, " ", TUTTI_VERSION, "\n"); }

bool HandshakeReader::add(std::string_view bytes, std::string& rest) {
    kept_ += bytes;
    std::size_t const start = kept_.find(mark);
    std::size_t const end = start == std::string::npos ? start : kept_.find('\n', start);
    if (end == std::string::npos) {
        if (start != std::string::npos && kept_.size() - start > most_noise)
            fail(ErrorClass::other, "what came is no greeting of a tutti-daemon");
        if (start == std::string::npos && kept_.size() > 2 * most_noise) kept_.erase(0, kept_.size() - most_noise);
        return false;
    }
    std::string const line = kept_.substr(start, end + 1 - start);
    rest = kept_.substr(end + 1);
    kept_.resize(start);
    if (line == handshake()) return true;
    std::size_t const version = line.rfind(' ') + 1;
    fail(ErrorClass::other, "its tutti-daemon is of version ", line.substr(version, line.size() - 1 - version),
         " and this mpiexec of version ", TUTTI_VERSION);
}

// A process that is awake calls this once per beat. A longer interval counts as two beats only, because the process
// could not receive during the rest.
void Silence::look(Clock::time_point now) {
    if (last_ != Clock::time_point{}) length_ += std::min<Clock::duration>(now - last_, 2 * Link::beat);
    last_ = now;
}

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
    if (int const full = out_ ? out_->awaits_room() : -1; full >= 0) set.push_back({full, POLLOUT, 0});
}

bool Link::exchange(std::string& bytes) {
    constexpr std::size_t at_once = 1 << 20;
    if (!in_) return false;
    out_->write_some();
    char buffer[65536];
    while (bytes.size() < at_once) {
        ssize_t const n = read(in_.get(), buffer, sizeof buffer);
        if (n > 0) bytes.append(buffer, static_cast<std::size_t>(n));
        else if (n < 0 && errno == EINTR) continue;
        else if (n < 0 && errno == EAGAIN) break;
        else return !bytes.empty();
    }
    if (!bytes.empty()) silence_.heard();
    return true;
}

std::chrono::milliseconds Link::patience() const {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(silence_.looked() + beat - Silence::Clock::now());
    return std::max(std::chrono::milliseconds(0), left);
}

}   // namespace tutti::launcher
