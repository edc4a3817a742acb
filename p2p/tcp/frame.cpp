// SPDX-License-Identifier: BSD-3-Clause
// Encoding, decoding and validation of frame headers.
#include "p2p/tcp/frame.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/objects/request.hpp"

namespace tutti::p2p::tcp {
namespace {

constexpr std::uint8_t magic[2] = {'T', 0x91};

/// Offsets of the fields: magic 0, kind 2, zero 3, matched 4, context 8, source 16, tag 20, length 24, id 32, number
/// 40. The 16 bits of the digest are above the length.
constexpr int digest_at = 48;

template <class T>
void put(std::span<std::byte> out, std::size_t at, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) out[at + i] = static_cast<std::byte>(value >> 8 * i);
}

template <class T>
T get(std::span<std::byte const> in, std::size_t at) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(in[at + i]) << 8 * i));
    return value;
}

/// The fields that a kind uses; all others must be zero. `length` must be within [min_length, max_length].
struct Rule {
    bool message, id, number;
    std::uint64_t min_length, max_length;
    bool site = false;   ///< `id` is the call site of the send, or 0
};

Rule const* rule_of(FrameKind kind) {
    static constexpr Rule eager{true, false, true, 0, Frame::max_eager, true};
    static constexpr Rule eager_sync{true, true, true, 0, Frame::max_eager};
    static constexpr Rule offer{true, true, true, 0, Frame::max_bytes};
    static constexpr Rule grant{false, true, true, 1, Frame::max_bytes};
    static constexpr Rule data{false, true, false, 1, Frame::max_data};
    static constexpr Rule answer{false, true, false, 0, 0};
    static constexpr Rule cancel{false, true, true, 0, 0};
    static constexpr Rule piggyback{false, false, false, 1, Frame::max_data};
    static constexpr Rule bare{false, false, false, 0, 0};
    switch (kind) {
    case FrameKind::eager: return &eager;
    case FrameKind::eager_sync: return &eager_sync;
    case FrameKind::offer: return &offer;
    case FrameKind::grant: return &grant;
    case FrameKind::data: return &data;
    case FrameKind::piggyback: return &piggyback;
    case FrameKind::done:
    case FrameKind::cancelled:
    case FrameKind::not_cancelled: return &answer;
    case FrameKind::cancel: return &cancel;
    case FrameKind::credit:
    case FrameKind::shutdown: return &bare;
    }
    return nullptr;
}

char const* check(Frame const& f) {
    Rule const* rule = rule_of(f.kind);
    if (!rule) return "a frame of unknown kind";
    if (f.length < rule->min_length || f.length > rule->max_length)
        return "a frame whose length is invalid for its kind";
    if (rule->message ? f.source < 0 || f.tag == any_tag : f.context != 0 || f.source != 0 || f.tag != 0)
        return "a frame with an invalid context, source or tag";
    if (!rule->site && (rule->id ? f.id == 0 : f.id != 0)) return "a frame with an invalid operation number";
    if (!rule->message && f.digest != TypeDigest()) return "a frame with types but without data";
    if (!rule->number && f.number != 0) return "a frame with a message number that its kind does not have";
    return nullptr;
}

}   // namespace

void Frame::encode(std::span<std::byte, header_bytes> out) const {
    out[0] = std::byte{magic[0]};
    out[1] = std::byte{magic[1]};
    out[2] = static_cast<std::byte>(kind);
    out[3] = std::byte{0};
    put(out, 4, matched);
    put(out, 8, context);
    put(out, 16, static_cast<std::uint32_t>(source));
    put(out, 20, static_cast<std::uint32_t>(tag));
    put(out, 24, length | std::uint64_t{digest.bits()} << digest_at);
    put(out, 32, id);
    put(out, 40, number);
}

char const* Frame::decode(std::span<std::byte const, header_bytes> in, Frame& frame) {
    if (in[0] != std::byte{magic[0]} || in[1] != std::byte{magic[1]} || in[3] != std::byte{0})
        return "bytes that are not a frame header";
    frame.kind = static_cast<FrameKind>(in[2]);
    frame.matched = get<std::uint32_t>(in, 4);
    frame.context = get<std::uint64_t>(in, 8);
    frame.source = static_cast<std::int32_t>(get<std::uint32_t>(in, 16));
    frame.tag = static_cast<std::int32_t>(get<std::uint32_t>(in, 20));
    auto const length = get<std::uint64_t>(in, 24);
    frame.length = length & ((std::uint64_t{1} << digest_at) - 1);
    frame.digest = TypeDigest(static_cast<std::uint16_t>(length >> digest_at));
    frame.id = get<std::uint64_t>(in, 32);
    frame.number = get<std::uint64_t>(in, 40);
    return check(frame);
}

FrameReader::Event FrameReader::next(std::span<std::byte const>& in) {
    if (error_) return Event::broken;
    if (in.empty()) return Event::more;
    if (payload_left_ != 0) {
        piece_ = in.first(std::min(payload_left_, in.size()));
        in = in.subspan(piece_.size());
        payload_left_ -= piece_.size();
        return Event::payload;
    }
    std::size_t const n = std::min(header_.size() - header_read_, in.size());
    std::memcpy(header_.data() + header_read_, in.data(), n);
    in = in.subspan(n);
    header_read_ += n;
    if (header_read_ < header_.size()) return Event::more;
    header_read_ = 0;
    error_ = Frame::decode(header_, frame_);
    if (error_) return Event::broken;
    payload_left_ = frame_.payload();
    return Event::frame;
}

}   // namespace tutti::p2p::tcp
