// SPDX-License-Identifier: BSD-3-Clause
// The exact texts of error reports.
#include "launcher/diagnosis/report.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "launcher/base/job.hpp"
#include "launcher/base/text.hpp"
#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {
namespace {

SourcePosition at_line(LocatedCall const& call) { return {"ring.c:" + std::to_string(10 + call.rank), false}; }

BlockedRank waits_for(int rank, CallKind kind, std::string call, int other) {
    BlockedRank blocked{{.rank = rank, .kind = kind, .call = std::move(call)}};
    blocked.position = at_line(blocked);
    blocked.wait = {.state = RankWait::State::blocked, .awaiting = Awaiting::all, .awaited = {{other, other, 1}}};
    return blocked;
}
BlockedRank receives_from(int rank, std::string call, int other) {
    return waits_for(rank, CallKind::receive, std::move(call), other);
}
BlockedRank sends_to(int rank, std::string call, int other) {
    return waits_for(rank, CallKind::standard_send, std::move(call), other);
}
BlockedRank in_barrier(int rank, int other) {
    return waits_for(rank, CallKind::collective, "MPI_Barrier(MPI_COMM_WORLD)", other);
}

/// Returns a deadlock of ranks 0 and 1, which wait for each other.
ProvenDeadlock deadlock_of(BlockedRank zero, BlockedRank one) {
    ProvenDeadlock deadlock;
    deadlock.ranks = {{{0, 1}}, {}};
    deadlock.blocked = {std::move(zero), std::move(one)};
    return deadlock;
}

TEST(RankRanges, AreAsShortAsTheyCanBe) {
    EXPECT_EQ(rank_ranges({3}), "rank 3");
    EXPECT_EQ(rank_ranges({1, 0}), "ranks 0-1");
    EXPECT_EQ(rank_ranges({9, 1, 0, 2, 7, 4, 9}), "ranks 0-2,4,7,9");
    EXPECT_EQ(describe_ranks({0, 1}), "ranks 0 and 1");
    EXPECT_EQ(describe_ranks({0, 1, 2}), "ranks 0-2");
}

TEST(Report, OfACircleNamesItsRanksAndThoseThatWaitForThem) {
    ProvenDeadlock deadlock;
    deadlock.ranks = {{{0, 1}}, {2, 3}};
    deadlock.blocked = {receives_from(0, "MPI_Recv(a)", 1), receives_from(1, "MPI_Recv(b)", 0), in_barrier(2, 0),
                        in_barrier(3, 0)};
    deadlock.blocked[3].position = deadlock.blocked[2].position;
    EXPECT_EQ(text_of(make_report(deadlock), false),
              "error[T01] deadlock: ranks 0 and 1 wait for each other\n"
              "  rank 0         MPI_Recv(a)                  ring.c:10\n"
              "  rank 1         MPI_Recv(b)                  ring.c:11\n"
              "  ranks 2 and 3  MPI_Barrier(MPI_COMM_WORLD)  ring.c:12  (waits for them)\n"
              "  help: all receive first: let one of them send first, or use MPI_Sendrecv or MPI_Irecv\n"
              "  For details, run: mpiexec --explain T01\n");
}

TEST(Report, NamesTheCallsOfAllThreads) {
    ProvenDeadlock deadlock = deadlock_of(receives_from(0, "MPI_Recv(a)", 1), receives_from(1, "MPI_Recv(b)", 0));
    deadlock.blocked[0].other_threads = {sends_to(0, "MPI_Send(c)", 1)};
    deadlock.blocked[0].other_threads[0].position = {"ring.c:70"};
    deadlock.blocked[1].position = {};
    EXPECT_EQ(text_of(make_report(deadlock), false)
                  .find("error[T01] deadlock: ranks 0 and 1 wait for each other\n"
                        "  rank 0  MPI_Recv(a)  ring.c:10\n"
                        "  rank 0  MPI_Send(c)  ring.c:70\n"
                        "  rank 1  MPI_Recv(b)\n"
                        "  help: "),
              0u);
    EXPECT_EQ(table_of(waiting_lines({deadlock.blocked[0]})),
              "  rank 0  MPI_Recv(a)  ring.c:10\n  rank 0  MPI_Send(c)  ring.c:70\n");
}

TEST(Report, NamesTheEndedRankThatIsWaitedFor) {
    ProvenDeadlock deadlock;
    deadlock.ranks = {{{0}}, {}};
    deadlock.blocked = {receives_from(0, "MPI_Recv(a)", 1)};
    deadlock.blocked[0].position = {"in main() of ring", true};
    deadlock.ended = {1};
    Report const report = make_report(deadlock);
    EXPECT_EQ(report.code, "T05");
    EXPECT_NE(report.help.find("every receive needs its send"), std::string::npos);
    EXPECT_EQ(report.headline, "deadlock: rank 0 waits for rank 1, which has ended");
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_EQ(report.notes[0], compile_with_g_note);
}

TEST(Report, ReportsErrorsThatARankHasDetected) {
    ProvenDeadlock deadlock = deadlock_of(in_barrier(0, 1), receives_from(1, "MPI_Recv(a)", 0));
    deadlock.blocked[1].error = {"T02", "waits for tag 8, rank 0 has sent tag 7", "the tags differ"};
    Report const report = make_report(deadlock);
    EXPECT_EQ(report.code, "T02");
    EXPECT_EQ(report.headline, "deadlock: rank 1 waits for tag 8, rank 0 has sent tag 7");
    EXPECT_EQ(report.help, "the tags differ");
}

TEST(Report, ReportsUncertainFindingsAsWarnings) {
    ProvenDeadlock deadlock = deadlock_of(receives_from(0, "MPI_Recv(a)", 1), in_barrier(1, 0));
    deadlock.blocked[0].error.help = "a message from rank 2 has arrived";
    Report const report = make_report(deadlock);
    EXPECT_EQ(report.code, "T01");
    ASSERT_FALSE(report.notes.empty());
    EXPECT_EQ(report.notes[0], "at rank 0 a message from rank 2 has arrived");
}

TEST(Report, ExplainsUnderCheckWhySmallSendsMayWork) {
    ProvenDeadlock deadlock = deadlock_of(sends_to(0, "MPI_Send(a)", 1), sends_to(1, "MPI_Send(b)", 0));
    EXPECT_EQ(make_report(deadlock).help.find("all send first"), 0u);
    EXPECT_EQ(make_report(deadlock, true).help.find("works only as long as the messages are small"), 0u);
    deadlock.blocked[0] = waits_for(0, CallKind::send, "MPI_Ssend(a)", 1);
    EXPECT_EQ(make_report(deadlock, true).help.find("all send first"), 0u);
    deadlock.blocked[0] = in_barrier(0, 1);
    Report const report = make_report(deadlock, true);
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_NE(report.notes[0].find("with --check every send waits"), std::string::npos);
    EXPECT_TRUE(make_report(deadlock).notes.empty());
}

TEST(Report, AdvisesByTheKindsOfTheCallsOfACircle) {
    auto const help = [](CallKind zero, CallKind one) {
        return make_report(deadlock_of(waits_for(0, zero, "MPI_Wait(a)", 1), waits_for(1, one, "MPI_Wait(b)", 0))).help;
    };
    EXPECT_EQ(help(CallKind::probe, CallKind::probe).find("all wait for a message first"), 0u);
    EXPECT_EQ(help(CallKind::probe, CallKind::receive).find("all receive first"), 0u);
    EXPECT_EQ(help(CallKind::collective, CallKind::rma).find("all members of a communicator"), 0u);
    EXPECT_EQ(help(CallKind::collective, CallKind::other).find("all members of a communicator"), 0u);
    for (CallKind const other : {CallKind::receive, CallKind::messages, CallKind::collective})
        EXPECT_EQ(help(CallKind::send, other).find("each rank waits for a call that another"), 0u);
}

TEST(Report, OfManyDifferentRanksIsShort) {
    Report report{.code = "T01", .headline = "deadlock", .lines = {}, .help = ""};
    for (int rank = 0; rank < 256; ++rank) report.lines.push_back({{rank}, "call " + std::to_string(rank), ""});
    std::string const text = text_of(report, false);
    EXPECT_EQ(std::ranges::count(text, '\n'), 11) << text;
    EXPECT_NE(text.find("and 248 more ranks"), std::string::npos) << text;
}

TEST(Report, OfAFindingHasItsPlaces) {
    auto finding = std::make_unique<Diagnostic>();
    finding->error.write("T03", "rank 1 calls MPI_Reduce where rank 0 calls MPI_Bcast", "look for a branch");
    finding->locations = 2;
    for (int i = 0; i < 2; ++i) {
        finding->location[i].rank = 1 - i;
        finding->location[i].call.write(CallKind::other, i == 0 ? "MPI_Reduce()" : "MPI_Bcast()", {}, "");
    }
    EXPECT_EQ(text_of(make_report(*finding, at_line), false),
              "error[T03] rank 1 calls MPI_Reduce where rank 0 calls MPI_Bcast\n"
              "  rank 0  MPI_Bcast()   ring.c:10\n"
              "  rank 1  MPI_Reduce()  ring.c:11\n"
              "  help: look for a branch\n"
              "  For details, run: mpiexec --explain T03\n");
}

TEST(Report, OfAFindingNamesTheLineOfTheInterpretedProgram) {
    auto finding = std::make_unique<Diagnostic>();
    finding->locations = 1;
    finding->location[0].call.write(CallKind::other, "MPI_Bcast()", {}, "ring.py:7 in pass_on()");
    EXPECT_EQ(make_report(*finding, at_line).lines.at(0).position, "ring.py:7 in pass_on()");
}

TEST(Report, NamesTheLineAtWhichAnotherRankHasFoundTheSameError) {
    std::unique_ptr<RankState> const other(new RankState{});
    other->world_rank = 1;
    other->diagnostic.locations = 1;
    other->diagnostic.location[0].rank = 1;
    other->diagnostic.location[0].call.write(CallKind::other, "MPI_Bcast()", {}, "ring.py:7 in pass_on()");
    auto const position = [&](char const* call) {
        return recorded_position(*other, 0, {.rank = 1, .call = call}).text;
    };
    EXPECT_EQ(position("MPI_Bcast()"), "") << "this rank has reported nothing";
    other->diagnostic.kind = Diagnostic::Kind::error;
    EXPECT_EQ(position("MPI_Bcast()"), "ring.py:7 in pass_on()");
    EXPECT_EQ(position("MPI_Reduce()"), "");
}

TEST(Report, OfAFindingIsCompleteWhenTheRanksThatItNamesHavePublishedTheirLocations) {
    auto finding = std::make_unique<Diagnostic>();
    finding->locations = 2;
    for (int i = 0; i < 2; ++i) finding->location[i].rank = i, finding->location[i].call.addresses = 1;
    std::vector<std::unique_ptr<RankState>> ranks;
    for (int i = 0; i < 3; ++i) ranks.emplace_back(new RankState{})->state = RankPhase::initialised;
    auto const complete = [&] { return has_all_positions(*finding, [&](int rank) { return ranks.at(rank).get(); }); };
    ranks[1]->diagnostic.kind = Diagnostic::Kind::error;
    EXPECT_FALSE(complete()) << "rank 0 may be about to wait; rank 1 has reported the error";
    ranks[0]->blocked.changes = 1;
    EXPECT_TRUE(complete());
    ranks[0]->blocked.changes = 2;
    EXPECT_FALSE(complete()) << "rank 0 has continued";
    ranks[0]->state = RankPhase::finalised;
    EXPECT_TRUE(complete());
    ranks[0].reset();
    EXPECT_TRUE(complete()) << "rank 0 is on another node";
}

TEST(Report, IsOneLineOfJsonForTools) {
    Report const report{.code = "T01",
                        .headline = "deadlock",
                        .lines = {{{0, 1}, "MPI_Recv(\"a\")", "ring.c:10"}},
                        .help = "no",
                        .notes = {"yes"}};
    EXPECT_EQ(
        json_of(report),
        R"j({"code":"T01","severity":"error","headline":"deadlock","ranks":[{"ranks":[0,1],"call":"MPI_Recv(\"a\")",)j"
        R"j("place":"ring.c:10","remark":""}],"help":"no","notes":["yes"]})j"
        "\n");
}

TEST(Report, MarksWarnings) {
    auto finding = std::make_unique<Diagnostic>();
    finding->kind = Diagnostic::Kind::warning;
    finding->error.write("T07", "requests left over", "");
    Report const report = make_report(*finding, at_line);
    EXPECT_EQ(text_of(report, false), "warning[T07] requests left over\n  For details, run: mpiexec --explain T07\n");
    EXPECT_NE(json_of(report).find(R"("severity":"warning")"), std::string::npos);
}

TEST(Warnings, OfManyRanksAreOneReport) {
    Warnings warnings;
    for (int rank : {2, 0, 1})
        warnings.add({.code = "T07",
                      .headline = "requests left over",
                      .lines = {{{rank}, rank == 2 ? "MPI_Isend()" : "MPI_Irecv()", "ring.c:7"}},
                      .help = "complete them",
                      .notes = {compile_with_g_note},
                      .severity = Report::Severity::warning});
    warnings.add({.code = "T08", .headline = "other", .lines = {}, .help = ""});
    ASSERT_EQ(warnings.all().size(), 2u);
    EXPECT_EQ(text_of(warnings.all()[0], false),
              "warning[T07] requests left over\n"
              "  ranks 0 and 1  MPI_Irecv()  ring.c:7\n"
              "  rank 2         MPI_Isend()  ring.c:7\n"
              "  help: complete them\n"
              "  note: compile with -g to see source lines\n"
              "  For details, run: mpiexec --explain T07\n");
}

/// Errors without a program in tests/diagnosis/wrong.
constexpr std::string_view without_example[] = {"MPI_Abort",       "MPI_ERR_NO_MEM",  "MPI_ERR_INTERN",
                                                "MPI_ERR_UNKNOWN", "MPI_ERR_PENDING", "MPI_ERR_UNSUPPORTED_OPERATION"};

TEST(Explanations, ExistForEachCode) {
    for (Explanation const& one : explanations()) {
        EXPECT_NE(explain(one.code).find(one.title), std::string::npos);
        EXPECT_EQ(one.page.front(), '\n') << one.code;
        EXPECT_EQ(one.page.back(), '\n') << one.code;
        if (std::ranges::find(without_example, one.code) != std::end(without_example)) continue;
        EXPECT_NE(one.page.find("Wrong:"), std::string::npos) << one.code;
        EXPECT_NE(one.page.find("Right:"), std::string::npos) << one.code;
    }
    EXPECT_EQ(explain("t02"), explain("T02"));
    EXPECT_THROW(explain("T99"), LaunchError);
    EXPECT_NE(explain("list").find("T05"), std::string::npos);
    EXPECT_NE(explain("mpi_err_rank").find("MPI_PROC_NULL"), std::string::npos);
    EXPECT_NE(help_for("MPI_ERR_RANK"), "");
    EXPECT_EQ(help_for("MPI_ERR_NEVER"), "");
}

TEST(Report, HasColoursOnATerminalOnly) {
    Report const report{.code = "T01", .headline = "deadlock", .lines = {}, .help = "no"};
    EXPECT_EQ(text_of(report, false).find('\033'), std::string::npos);
    EXPECT_EQ(text_of(report, true).find("\033[1;31merror[T01]"), 0u);
}

}   // namespace
}   // namespace tutti::launcher
