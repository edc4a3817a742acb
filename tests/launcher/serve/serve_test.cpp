// SPDX-License-Identifier: BSD-3-Clause
// The messages of PMI, the map of ranks, and exchanges between nodes.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/base/pack.hpp"
#include "launcher/serve/pmi_message.hpp"
#include "launcher/serve/pmi_server.hpp"
#include "launcher/serve/rank_server.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

using testing::StartsWith;

TEST(PmiMessage, version_one_is_a_line) {
    std::string bytes = "cmd=put kvsname=k key=a value=b=c \ncmd=get";
    auto const put = take_message(bytes, 1);
    ASSERT_TRUE(put);
    EXPECT_EQ(put->command, "put");
    EXPECT_EQ(put->text("value"), "b=c");
    EXPECT_EQ(put->find("other"), nullptr);
    EXPECT_FALSE(take_message(bytes, 1)) << "the second line is not complete";
    EXPECT_EQ(bytes, "cmd=get");
    EXPECT_EQ(message_bytes({"get_result", {{"rc", "0"}}}, 1), "cmd=get_result rc=0\n");
}

TEST(PmiMessage, a_request_to_start_processes_has_several_lines) {
    std::string bytes = "mcmd=spawn\nnprocs=2\nexecname=a b\nendcmd\ncmd=finalize\n";
    auto const spawn = take_message(bytes, 1);
    ASSERT_TRUE(spawn);
    EXPECT_EQ(spawn->command, "spawn");
    EXPECT_EQ(spawn->number("nprocs", 0), 2);
    EXPECT_EQ(spawn->text("execname"), "a b");
    EXPECT_EQ(take_message(bytes, 1)->command, "finalize");
}

TEST(PmiMessage, version_two_is_counted_and_escapes_semicolons) {
    PmiMessage const put{"kvs-put", {{"key", "k"}, {"value", "a;b;;c"}, {"code", "-3"}}};
    std::string bytes = message_bytes(put, 2);
    EXPECT_EQ(bytes, "    42cmd=kvs-put;key=k;value=a;;b;;;;c;code=-3;");
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        std::string part = bytes.substr(0, length);
        EXPECT_FALSE(take_message(part, 2));
    }
    auto const read = take_message(bytes, 2);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->fields, put.fields);
    EXPECT_EQ(read->number("code", 0), -3);
    EXPECT_EQ(bytes, "");
}

TEST(PmiMessage, other_bytes_are_refused) {
    for (auto const& [bytes, version] :
         {std::pair{"hello\n", 1}, {"      cmd=x;", 2}, {"-    3cmd", 2}, {"     4a=b;", 2}}) {
        std::string copy = bytes;
        EXPECT_THROW(take_message(copy, version), Error) << bytes;
    }
    std::string endless(2 << 20, 'x');
    EXPECT_THROW(take_message(endless, 1), Error);
}

TEST(ProcessMapping, describes_each_rank) {
    EXPECT_EQ(process_mapping({0, 0, 0}), "(vector,(0,1,3))");
    EXPECT_EQ(process_mapping({0, 0, 1, 1, 2}), "(vector,(0,2,2),(2,1,1))");
    EXPECT_EQ(process_mapping({5, 3, 5, 3}), "(vector,(0,2,1),(0,2,1))") << "nodes are numbered by their first rank";
    std::vector<int> const nodes{0, 1, 1, 1, 0, 2, 2, 3, 4, 4, 0};
    EXPECT_EQ(topo::parse_rank_map(process_mapping(nodes)), nodes);
}

TEST(Exchanges, complete_when_all_nodes_have_contributed) {
    Exchanges exchanges;
    EXPECT_FALSE(exchanges.add({"a", {0, 2}, 2, "two"}));
    EXPECT_FALSE(exchanges.add({"b", {0, 1}, 0, "other"}));
    auto const result = exchanges.add({"a", {0, 2}, 0, "zero"});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->exchange, "a");
    EXPECT_EQ(result->parts, (std::vector<std::string>{"zero", "two"}));
    EXPECT_FALSE(exchanges.add({"a", {0, 2}, 0, "again"})) << "the name can be used again";
}

TEST(Exchanges, remember_published_names) {
    Exchanges exchanges;
    using Kind = NameRequest::Kind;
    auto const ask = [&](int node, Kind kind, std::string const& name, std::string const& port = "") {
        auto const result =
            exchanges.add({NameRequest::exchange_name, {node}, node, packed(NameRequest{kind, name, port})});
        return unpacked<std::optional<std::string>>(result.value().parts.at(0));
    };
    EXPECT_EQ(ask(0, Kind::look_up, "a"), std::nullopt);
    EXPECT_EQ(ask(0, Kind::publish, "a", "first"), "first");
    EXPECT_EQ(ask(1, Kind::publish, "a", "second"), std::nullopt) << "published twice";
    EXPECT_EQ(ask(2, Kind::look_up, "a"), "first");
    EXPECT_EQ(ask(1, Kind::unpublish, "b"), std::nullopt);
    EXPECT_EQ(ask(1, Kind::unpublish, "a"), "first");
    EXPECT_EQ(ask(1, Kind::look_up, "a"), std::nullopt);
}

TEST(ServerFolder, is_absolute_and_exists) {
    char const* const set = std::getenv("TMPDIR");
    std::string const before = set ? set : "/tmp", here = std::filesystem::current_path();
    setenv("TMPDIR", ".", 1);
    EXPECT_THAT(server_folder_prefix(7), StartsWith(here + "/./tutti-pmix-7@"));
    for (char const* none : {"", "missing", "/missing/too"}) {
        setenv("TMPDIR", none, 1);
        EXPECT_THAT(server_folder_prefix(7), StartsWith("/tmp/tutti-pmix-7@")) << none;
    }
    setenv("TMPDIR", before.c_str(), 1);
}

TEST(ServedJob, lists_the_ranks_of_a_node) {
    ServedJob const job{"name", {"a", "b"}, {0, 1, 0}, {0, 0, 0}, 1};
    EXPECT_EQ(job.ranks_on(0), (std::vector<int>{0, 2}));
    EXPECT_EQ(job.size(), 3);
}

}   // namespace
}   // namespace tutti::launcher
