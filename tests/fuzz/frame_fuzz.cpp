// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target for data received from the network: any bytes, in pieces, are passed to the frame reader and to both
// sides of a handshake. No access may be out of bounds, no invalid frame and no handshake may be accepted.
//
// With clang: ninja -C build frame_fuzz && build/tests/fuzz_frame tests/fuzz/corpus/frame
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "p2p/tcp/frame.hpp"
#include "p2p/tcp/handshake.hpp"

namespace tutti::p2p::tcp {
namespace {

void require(bool good) {
    if (!good) std::abort();
}

void read_frames(std::span<std::byte const> bytes, std::size_t step) {
    FrameReader reader;
    std::size_t given = 0;
    while (!bytes.empty()) {
        std::span<std::byte const> in = bytes.first(std::min(step, bytes.size()));
        bytes = bytes.subspan(in.size());
        for (FrameReader::Event event; (event = reader.next(in)) != FrameReader::Event::more;) {
            if (event == FrameReader::Event::broken) return require(reader.error() != nullptr);
            if (event == FrameReader::Event::payload) {
                given += reader.piece().size();
                require(given <= reader.frame().payload());
                continue;
            }
            Frame const& frame = reader.frame();
            given = 0;
            require(frame.payload() <= std::max(Frame::max_eager, Frame::max_data));
            std::array<std::byte, Frame::header_bytes> again;
            frame.encode(again);
            Frame back;
            require(Frame::decode(again, back) == nullptr && back == frame);
        }
    }
}

void shake_hands(std::span<std::byte const> bytes, Handshake handshake) {
    while (!bytes.empty() && handshake.wanted() != 0) {
        std::size_t const n = std::min(handshake.wanted(), bytes.size());
        handshake.consume(bytes.first(n));
        bytes = bytes.subspan(n);
    }
    require(handshake.state() == Handshake::State::waiting || handshake.state() == Handshake::State::refused);
}

}   // namespace
}   // namespace tutti::p2p::tcp

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace tutti::p2p::tcp;
    if (size == 0) return 0;
    // The first byte is the size of the pieces.
    std::span<std::byte const> const bytes(reinterpret_cast<std::byte const*>(data) + 1, size - 1);
    read_frames(bytes, data[0] == 0 ? bytes.size() + 1 : data[0]);
    shake_hands(bytes, Handshake::responder({}, 1, 4));
    shake_hands(bytes, Handshake::initiator({}, 1, 2));
    return 0;
}
