// SPDX-License-Identifier: BSD-3-Clause
// Files of --report and --trace: packed numbers, data of the page, events for Perfetto; teams; clocks of other nodes.
#include "launcher/report/page.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "launcher/report/recording.hpp"
#include "launcher/report/summary.hpp"
#include "launcher/report/write_report.hpp"
#include "tests/launcher/report/made_up.hpp"

namespace tutti::launcher {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PackedNumbers, have_seven_bits_in_a_byte) {
    PackedNumbers numbers;
    numbers.add(1);
    numbers.add(300);
    numbers.add_signed(-1);
    numbers.add_length(-5);
    EXPECT_EQ(numbers.bytes(), std::string("\x01\xac\x02\x01\x00", 5));
}

TEST(PackedNumbers, are_text_by_base64) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

/// Returns the data in the page for its script.
json data_of(std::string const& page) {
    std::string const begin = "<script type=\"application/json\" id=\"data\">";
    std::size_t const at = page.find(begin) + begin.size();
    return json::parse(page.substr(at, page.find("</script>", at) - at));
}

std::string a_page(ReportContext const& context) {
    SyntheticRecording job(2);
    job.send(0, 100, 200, 1, 7, 64);
    job.receive(1, 150, 9000, 0, 7, 64, 8000);
    job.collective(0, 10000, 20000, "barrier|node|flags", -1, 9000);
    job.collective(1, 19000, 20000, "barrier|node|flags", -1, 0);
    for (RankRecording& rank : job.recording.ranks) rank.run_delay = 25;
    Timeline timeline = job.timeline();
    classify_waits(timeline);
    return page_of(job.recording, timeline, summary_of(timeline), context);
}

TEST(Page, contains_the_recording) {
    json const data = data_of(a_page({}));
    EXPECT_EQ(data["lanes"].size(), 2u);
    EXPECT_EQ(data["messageCount"], 1);
    EXPECT_EQ(data["pairs"], json::parse("[[0, 1, 1, 64]]"));
    EXPECT_EQ(data["algorithms"][0], json::parse(R"(["barrier", "node", "flags"])"));
    EXPECT_GT(data["causes"][static_cast<std::size_t>(WaitCause::wait_at_barrier)]["time"], 8000);
}

TEST(Page, contains_errors_with_escaped_text) {
    ReportContext context;
    context.command = "mpiexec -n 2 ./a \xff";
    context.reports.push_back({"T01", "deadlock </script><b>", {{{0, 1}, "MPI_Recv(<x>)", "a.c:3 in main()"}}, "help"});
    std::string const page = a_page(context);
    json const data = data_of(page);
    EXPECT_EQ(data["reports"][0]["headline"], "deadlock </script><b>");
    EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST(Page, reports_oversubscription_and_adapts_its_advice) {
    RecordedNode node;
    node.ranks = {0, 1};
    node.cores = 2;
    ReportContext context;
    context.nodes = {node};
    json const alone = data_of(a_page(context));
    EXPECT_TRUE(alone["crowding"].is_null());
    auto const advice = [](json const& data, WaitCause cause) {
        return std::string(data["causes"][static_cast<std::size_t>(cause)]["advice"]);
    };
    auto const meaning = [](json const& data, WaitCause cause) {
        return std::string(data["causes"][static_cast<std::size_t>(cause)]["meaning"]);
    };
    EXPECT_THAT(advice(alone, WaitCause::wait_at_barrier), HasSubstr("Give that rank less work"));

    context.nodes[0].cores = 1;
    json const oversubscribed = data_of(a_page(context));
    EXPECT_EQ(oversubscribed["crowding"], json::parse(R"({"ranks": 2, "cores": 1, "nodes": 1, "runDelay": 50})"));
    for (WaitCause cause : {WaitCause::late_sender, WaitCause::wait_at_barrier, WaitCause::wait_at_collective}) {
        EXPECT_THAT(advice(oversubscribed, cause), HasSubstr("had no core"));
        EXPECT_THAT(advice(oversubscribed, cause), testing::Not(HasSubstr("Give")));
        EXPECT_EQ(meaning(oversubscribed, cause), meaning(alone, cause));
        EXPECT_THAT(meaning(alone, cause), HasSubstr("wait"));
    }
    EXPECT_THAT(meaning(oversubscribed, WaitCause::never_ended), HasSubstr("had not returned when the job ended"));

    context.nodes.push_back(context.nodes[0]);   // a second node, with a core for each rank
    context.nodes.push_back(node);
    EXPECT_EQ(data_of(a_page(context))["crowding"]["nodes"], 2);
    EXPECT_EQ(data_of(a_page(context))["crowding"]["ranks"], 4);
}

TEST(TraceEvents, are_a_flow_for_a_message_and_a_slice_for_a_call) {
    SyntheticRecording job(2);
    job.send(0, 1000, 2000, 1, 7, 64);
    job.receive(1, 1500, 3000, 0, 7, 64);
    std::ostringstream out;
    write_trace_events(out, job.recording, job.timeline());
    json const events = json::parse(out.str())["traceEvents"];
    auto const of = [&](std::string const& phase) {
        std::vector<json> found;
        std::ranges::copy_if(events, std::back_inserter(found), [&](json const& e) { return e["ph"] == phase; });
        return found;
    };
    ASSERT_EQ(of("X").size(), 2u);
    EXPECT_EQ(of("X")[0]["name"], "MPI_Send");
    EXPECT_EQ(of("X")[0]["ts"], 1.0);
    EXPECT_EQ(of("X")[0]["dur"], 1.0);
    ASSERT_EQ(of("s").size(), 1u);
    EXPECT_EQ(of("s")[0]["id"], of("f")[0]["id"]);
    EXPECT_EQ(of("f")[0]["tid"], 1);
}

TEST(Teams, follow_the_levels_that_the_rank_has_used) {
    RecordedNode node;
    for (int i = 0; i < 8; ++i) {
        node.machine.pus.push_back({.os = i, .core = i, .l2 = i, .l3 = i / 4, .numa = i / 4, .socket = i / 4});
        node.placement.pu.push_back(i);
        node.ranks.push_back(i);
    }
    node.placement.fixed = true;
    std::vector<int> const members{0, 1, 4, 5};
    std::vector<TeamLevel> const levels = teams_of({node}, members, "numa+node");
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_THAT(levels[0].teams, ElementsAre(ElementsAre(0, 1), ElementsAre(4, 5)));
    EXPECT_THAT(levels[1].teams, ElementsAre(ElementsAre(0, 1, 4, 5)));
    EXPECT_EQ(teams_of({node}, members, "node").size(), 1u);
    EXPECT_TRUE(teams_of({node}, {}, "node").empty());
}

TEST(Travel, a_recording_arrives_as_it_was) {
    SyntheticRecording job(2);
    job.send(0, 100, 200, 1, 7, 64);
    job.unfinished(0, 500, "MPI_Recv", "MPI_Recv(1 MPI_INT from rank 1, tag 0, MPI_COMM_WORLD)");
    job.recording.ranks[0].run_delay = 77;
    RankRecording const there = recording_in(packed_recording(job.recording.ranks[0]));
    EXPECT_EQ(there.events.size(), 2u);
    EXPECT_EQ(there.events[0].tag, 7);
    EXPECT_EQ(there.run_delay, 77);
    EXPECT_EQ(there.texts, job.recording.ranks[0].texts);
    EXPECT_EQ(there.comms[0].name, "MPI_COMM_WORLD");
    EXPECT_EQ(there.unfinished[0].description, "MPI_Recv(1 MPI_INT from rank 1, tag 0, MPI_COMM_WORLD)");
    EXPECT_EQ(there.source_lines, job.recording.ranks[0].source_lines);
}

TEST(Travel, the_fastest_answer_determines_the_clock_offset) {
    ClockOffsets clocks;
    EXPECT_TRUE(clocks.add_answer(1, {1000, 51500}, 3000));    // offset 500, uncertainty 1000
    EXPECT_TRUE(clocks.add_answer(1, {5000, 55090}, 5200));    // uncertainty 100
    EXPECT_TRUE(clocks.add_answer(1, {9000, 70000}, 19000));   // worse
    RankRecording recording;
    recording.node = 1;
    recording.started = 60000;
    recording.events.resize(1);
    recording.events[0].time = 60010;
    clocks.adjust(recording);
    EXPECT_EQ(recording.started, 60000 + 5100 - 55090);
    EXPECT_EQ(recording.events[0].time, recording.started + 10);
    EXPECT_EQ(recording.clock_error, 100);
    for (int i = 4; i < ClockOffsets::required_answers; ++i) EXPECT_TRUE(clocks.add_answer(1, {0, 1}, 1 << 20));
    EXPECT_FALSE(clocks.add_answer(1, {0, 1}, 1 << 20));
}

}   // namespace
}   // namespace tutti::launcher
