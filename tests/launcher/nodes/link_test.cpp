// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/nodes/link.hpp"

#include <gtest/gtest.h>

#include "launcher/nodes/messages.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

TEST(FrameReader, cuts_frames_out_of_pieces_of_any_length) {
    std::string const bytes = encoded(FrameType::output, 3, "abc") + encoded(FrameType::done, 70000, "") +
                              encoded(FrameType::input, -1, std::string(100000, 'x'));
    for (std::size_t step : {1ul, 5ul, 12ul, 13ul, 4096ul, bytes.size()}) {
        FrameReader reader;
        std::vector<Frame> frames;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            reader.add(std::string_view(bytes).substr(at, step));
            while (std::optional<Frame> frame = reader.next()) frames.push_back(std::move(*frame));
        }
        ASSERT_EQ(frames.size(), 3u) << step;
        EXPECT_EQ(frames[0].type, FrameType::output);
        EXPECT_EQ(frames[0].node, 3);
        EXPECT_EQ(frames[0].body, "abc");
        EXPECT_EQ(frames[1].node, 70000);
        EXPECT_EQ(frames[2].node, -1);
        EXPECT_EQ(frames[2].body.size(), 100000u);
    }
}

TEST(FrameReader, puts_pieces_together) {
    std::string const body = "0123456789abcdef";
    for (std::size_t longest : {1ul, 5ul, 8ul, 15ul, 16ul, 17ul}) {
        std::string const bytes = encoded(FrameType::recording, 3, body, longest) + encoded(FrameType::done, 3, "");
        FrameReader reader;
        std::vector<Frame> frames;
        for (char c : bytes) {
            reader.add({&c, 1});
            while (std::optional<Frame> frame = reader.next()) frames.push_back(std::move(*frame));
        }
        ASSERT_EQ(frames.size(), 2u) << longest;
        EXPECT_EQ(frames[0].type, FrameType::recording);
        EXPECT_EQ(frames[0].node, 3);
        EXPECT_EQ(frames[0].body, body);
        EXPECT_EQ(frames[1].type, FrameType::done);
        EXPECT_TRUE(frames[1].body.empty());
    }
}

TEST(FrameReader, takes_a_recording_that_is_longer_than_a_frame) {
    std::string body(max_frame_body + 12345, 'x');
    body.back() = 'y';
    FrameReader reader;
    reader.add(encoded(FrameType::recording, 1, body));
    std::optional<Frame> const frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_TRUE(frame->body == body);
    EXPECT_FALSE(reader.next());
}

TEST(FrameReader, refuses_another_message_between_pieces) {
    FrameReader reader;
    std::string const pieces = encoded(FrameType::recording, 1, "abcdef", 3);
    reader.add(pieces.substr(0, frame_header_bytes + 3) + encoded(FrameType::output, 1, "x"));
    EXPECT_THROW(reader.next(), Error);
}

TEST(FrameReader, refuses_invalid_frames) {
    FrameReader unknown, endless;
    unknown.add(encoded(static_cast<FrameType>(99), 0, ""));
    EXPECT_THROW(unknown.next(), Error);
    endless.add(std::string("\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 12));
    EXPECT_THROW(endless.next(), Error);
}

TEST(HandshakeReader, finds_the_handshake_after_shell_output) {
    HandshakeReader reader;
    std::string rest;
    std::string const bytes = "Welcome to tutti-daemon\n" + handshake() + "frames";
    for (char c : bytes.substr(0, bytes.size() - 7)) ASSERT_FALSE(reader.add({&c, 1}, rest));
    EXPECT_TRUE(reader.add("\nframes", rest));
    EXPECT_EQ(rest, "frames");
    EXPECT_EQ(reader.preceding_text(), "Welcome to tutti-daemon\n");
}

TEST(HandshakeReader, keeps_the_end_of_endless_output) {
    HandshakeReader reader;
    std::string rest;
    for (int i = 0; i < 1000; ++i) ASSERT_FALSE(reader.add(std::string(1000, 'y'), rest));
    EXPECT_LT(reader.preceding_text().size(), 10000u);
    EXPECT_TRUE(reader.add(handshake(), rest));
}

TEST(HandshakeReader, refuses_a_greeting_that_does_not_end) {
    HandshakeReader reader;
    std::string rest;
    ASSERT_FALSE(reader.add(handshake().substr(0, handshake().size() - 1), rest));
    EXPECT_THROW(
        {
            for (int i = 0; i < 1000; ++i) ASSERT_FALSE(reader.add(std::string(1000, 'y'), rest));
        },
        Error);
}

TEST(HandshakeReader, refuses_another_version) {
    HandshakeReader reader;
    std::string rest, other = handshake();
    other.insert(other.size() - 1, "1");
    try {
        reader.add(other, rest);
        FAIL() << "accepted";
    } catch (Error const& e) {
        EXPECT_NE(std::string(e.what()).find("has version " TUTTI_VERSION "1 but"), std::string::npos) << e.what();
    }
}

Assignment example() {
    Assignment a;
    Program program;
    program.command = {"prog", "", "an argument"};
    program.ranks = 3;
    program.environment.set = {{"A", "x=y"}};
    program.hosts = {{"n1", 2, 4}};
    a.job.programs = {program, program};
    a.job.environment.inherit = EnvironmentRules::Inherit::listed;
    a.job.bind = topo::BindTo{topo::BindTo::Kind::user, topo::Unit::core, 1, {{0, 2}, {1}}};
    a.job.preload_arena = false;
    a.job.timeout = std::chrono::milliseconds(1234);
    a.allocation = {{"n1", "n2"}, {0, 0, 1}, 1};
    a.folder = "/somewhere";
    a.environment = {"HOME=/h", "EMPTY="};
    return a;
}

TEST(Pack, brings_an_assignment_over_unchanged) {
    std::string const bytes = packed(example());
    auto const a = unpacked<Assignment>(bytes);
    EXPECT_EQ(a.job.programs[1].command, example().job.programs[1].command);
    EXPECT_EQ(a.job.programs[0].environment.set, example().job.programs[0].environment.set);
    EXPECT_EQ(a.job.programs[0].hosts[0].max_ranks, 4);
    EXPECT_EQ(a.job.environment.inherit, EnvironmentRules::Inherit::listed);
    EXPECT_EQ(a.job.bind->user, example().job.bind->user);
    EXPECT_EQ(a.job.preload_arena, std::optional(false));
    EXPECT_EQ(a.job.timeout.count(), 1234);
    EXPECT_EQ(a.allocation.node_of, example().allocation.node_of);
    EXPECT_EQ(a.environment, example().environment);
    EXPECT_EQ(packed(a), bytes);
}

TEST(Pack, refuses_less_than_there_was) {
    std::string const bytes = packed(example());
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_THROW(unpacked<Assignment>(std::string_view(bytes).substr(0, length)), Error) << length;
}

}   // namespace
}   // namespace tutti::launcher
