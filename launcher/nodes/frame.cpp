// SPDX-License-Identifier: BSD-3-Clause
// Frames as bytes: the length of the body, the type and the node, four bytes each, then the body. The highest bit of
// the type: another piece of the body comes next, with the same type and node.
#include "launcher/nodes/frame.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "runtime/base/error.hpp"

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

}   // namespace tutti::launcher
