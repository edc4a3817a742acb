// SPDX-License-Identifier: BSD-3-Clause
// Frames: round trips of every kind, fields out of bounds, and streams split anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "p2p/tcp/frame.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::p2p::tcp {
namespace {

using Header = std::array<std::byte, Frame::header_bytes>;

Frame sample(FrameKind kind) {
    switch (kind) {
    case FrameKind::eager: return {kind, 7, 1ULL << 63 | 5, 3, 70000, 10, 0, 4};
    case FrameKind::eager_sync: return {kind, 7, 5, 3, 0, 10, 1ULL << 32, 4};
    case FrameKind::offer: return {kind, 7, 5, 3, -70, 1ULL << 40, 1ULL << 32 | 3, 4};
    case FrameKind::grant: return {kind, 7, 0, 0, 0, 1ULL << 40, 1ULL << 32, 2ULL << 32};
    case FrameKind::data: return {kind, 7, 0, 0, 0, Frame::max_data, 2ULL << 32, 0};
    case FrameKind::piggyback: return {kind, 7, 0, 0, 0, 100, 0, 0};
    case FrameKind::cancel: return {kind, 7, 0, 0, 0, 0, 1ULL << 32, 4};
    case FrameKind::done:
    case FrameKind::cancelled:
    case FrameKind::not_cancelled: return {kind, ~0u, 0, 0, 0, 0, ~0ULL, 0};
    case FrameKind::credit:
    case FrameKind::shutdown: return {kind, 7, 0, 0, 0, 0, 0, 0};
    }
    return {};
}

std::vector<FrameKind> const kinds = {FrameKind::eager,  FrameKind::eager_sync, FrameKind::offer,
                                      FrameKind::grant,  FrameKind::data,       FrameKind::done,
                                      FrameKind::cancel, FrameKind::cancelled,  FrameKind::not_cancelled,
                                      FrameKind::credit, FrameKind::shutdown,   FrameKind::piggyback};

Header encoded(Frame const& frame) {
    Header h;
    frame.encode(h);
    return h;
}

bool accepted(Header const& h) {
    Frame f;
    return Frame::decode(h, f) == nullptr;
}
bool accepted(Frame const& frame) { return accepted(encoded(frame)); }

TEST(Frame, EveryKindRoundTrips) {
    for (FrameKind kind : kinds) {
        Frame back;
        EXPECT_EQ(Frame::decode(encoded(sample(kind)), back), nullptr) << static_cast<int>(kind);
        EXPECT_EQ(back, sample(kind));
    }
}

TEST(Frame, NumbersAreLittleEndianWhateverTheMachine) {
    Header const h = encoded({FrameKind::eager, 0x01020304, 0x1122334455667788, 0x0a0b0c0d, 5, 0x1234, 0, 9});
    unsigned const expected[Frame::header_bytes] = {
        'T',  0x91, 1,    0,    4, 3, 2, 1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
        0x0d, 0x0c, 0x0b, 0x0a, 5, 0, 0, 0, 0x34, 0x12, 0,    0,    0,    0,    0,    0,
        0,    0,    0,    0,    0, 0, 0, 0, 9,    0,    0,    0,    0,    0,    0,    0};
    for (std::size_t i = 0; i < h.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(h[i]), expected[i]) << "byte " << i;
}

TEST(Frame, LengthsOutOfAKindsRangeAreRefused) {
    struct Bounds {
        FrameKind kind;
        std::uint64_t least, most;
    };
    std::vector<Bounds> all = {{FrameKind::eager, 0, Frame::max_eager}, {FrameKind::eager_sync, 0, Frame::max_eager},
                               {FrameKind::offer, 0, Frame::max_bytes}, {FrameKind::grant, 1, Frame::max_bytes},
                               {FrameKind::data, 1, Frame::max_data},   {FrameKind::piggyback, 1, Frame::max_data}};
    for (FrameKind kind : kinds)
        if (std::none_of(all.begin(), all.end(), [&](Bounds const& b) { return b.kind == kind; }))
            all.push_back({kind, 0, 0});
    for (Bounds const& b : all) {
        Frame f = sample(b.kind);
        for (std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, b.least, b.most, b.most + 1, ~std::uint64_t{0},
                                     std::uint64_t{1} << 47 | 1, std::uint64_t{Frame::max_data} + 1}) {
            f.length = length;
            EXPECT_EQ(accepted(f), length >= b.least && length <= b.most)
                << "kind " << static_cast<int>(b.kind) << ", length " << length;
        }
    }
}

TEST(Frame, UnusedFieldsOfAKindMustBeZero) {
    for (FrameKind kind : kinds) {
        Frame const good = sample(kind);
        bool const message = good.source != 0, id = good.id != 0, number = good.number != 0;
        Frame f = good;
        f.context = 1;
        EXPECT_EQ(accepted(f), message) << static_cast<int>(kind);
        f = good;
        f.source = 1;
        EXPECT_EQ(accepted(f), message);
        f = good;
        f.digest = TypeDigest(0x3205);
        EXPECT_EQ(accepted(f), message);
        f = good;
        f.tag = 1;
        EXPECT_EQ(accepted(f), message);
        f = good;
        f.id = id ? 0 : 1;
        // An eager message has the id of its send, or 0.
        EXPECT_EQ(accepted(f), kind == FrameKind::eager) << static_cast<int>(kind);
        f = good;
        f.number = 1;
        EXPECT_EQ(accepted(f), number) << static_cast<int>(kind);
    }
}

TEST(Frame, WildcardsAreNotValidInAMessage) {
    Frame f = sample(FrameKind::eager);
    f.source = any_source;
    EXPECT_FALSE(accepted(f));
    f = sample(FrameKind::eager);
    f.tag = any_tag;
    EXPECT_FALSE(accepted(f));
}

TEST(Frame, UnknownHeadersAreRefused) {
    for (unsigned kind = 0; kind < 256; ++kind) {
        Header h = encoded(sample(FrameKind::credit));
        h[2] = static_cast<std::byte>(kind);
        EXPECT_EQ(accepted(h), kind == 1 || kind == 10 || kind == 11) << kind;   // 1: an empty message
    }
    for (std::size_t at : {0u, 1u, 3u}) {
        Header h = encoded(sample(FrameKind::credit));
        h[at] ^= std::byte{1};
        EXPECT_FALSE(accepted(h));
    }
}

/// A stream of frames whose payload bytes follow from their position, and the result of reading it.
struct Stream {
    std::vector<std::byte> bytes;
    std::vector<Frame> frames;

    void add(Frame const& frame) {
        frames.push_back(frame);
        Header const h = encoded(frame);
        bytes.insert(bytes.end(), h.begin(), h.end());
        for (std::size_t i = 0; i < frame.payload(); ++i)
            bytes.push_back(static_cast<std::byte>(i * 7 + frames.size()));
    }
};

struct Seen {
    std::vector<Frame> frames;
    bool good = true;
    std::size_t at = 0;   ///< position in the payload

    /// Feeds the bytes in pieces of `n`.
    bool feed(FrameReader& reader, std::span<std::byte const> bytes, std::size_t n) {
        while (!bytes.empty()) {
            std::span<std::byte const> in = bytes.first(std::min(n, bytes.size()));
            bytes = bytes.subspan(in.size());
            for (;;) {
                FrameReader::Event const event = reader.next(in);
                if (event == FrameReader::Event::broken) return false;
                if (event == FrameReader::Event::more) break;
                if (event == FrameReader::Event::frame) frames.push_back(reader.frame()), at = 0;
                else
                    for (std::byte b : reader.piece()) good &= b == static_cast<std::byte>(at++ * 7 + frames.size());
            }
        }
        return true;
    }
};

Stream every_kind() {
    Stream s;
    for (int round = 0; round < 3; ++round)
        for (FrameKind kind : kinds) {
            Frame f = sample(kind);
            if (f.payload() != 0) f.length = static_cast<std::uint64_t>(100 * round + 1);
            s.add(f);
        }
    return s;
}

TEST(FrameReader, ParsesAStreamInPiecesOfAnySize) {
    Stream const s = every_kind();
    for (std::size_t n = 1; n < 200; ++n) {
        FrameReader reader;
        Seen seen;
        ASSERT_TRUE(seen.feed(reader, s.bytes, n));
        ASSERT_EQ(seen.frames, s.frames) << "in pieces of " << n;
        ASSERT_TRUE(seen.good);
        ASSERT_EQ(reader.payload_left(), 0u);
    }
}

TEST(FrameReader, StopsPermanentlyAtTheFirstWrongByte) {
    Stream s;
    s.add(sample(FrameKind::credit));
    s.add(sample(FrameKind::shutdown));
    s.bytes[Frame::header_bytes] ^= std::byte{4};
    FrameReader reader;
    Seen seen;
    EXPECT_FALSE(seen.feed(reader, s.bytes, 1000));
    EXPECT_EQ(seen.frames.size(), 1u);
    EXPECT_STREQ(reader.error(), "bytes that are not a frame header");
    EXPECT_FALSE(seen.feed(reader, std::span<std::byte const>(s.bytes).first(Frame::header_bytes), 1000));
}

TEST(FrameReader, MutatedStreamsNeverGiveAFrameOutOfBounds) {
    Stream const s = every_kind();
    std::mt19937 random(3);
    std::size_t refused = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::byte> bytes = s.bytes;
        for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
        bytes.resize(bytes.size() - random() % 60);
        FrameReader reader;
        Seen seen;
        refused += !seen.feed(reader, bytes, 1 + random() % 300);
        for (Frame const& f : seen.frames) {
            ASSERT_TRUE(accepted(f));
            ASSERT_LE(f.payload(), Frame::max_data);
        }
    }
    EXPECT_GT(refused, 10'000u);
}

}   // namespace
}   // namespace tutti::p2p::tcp
