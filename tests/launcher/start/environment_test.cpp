// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/start/spawn.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/base/proc.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

constexpr char const* inherited[] = {"HOME=/h",
                                     "PATH=/p",
                                     "PMI_FD=9",
                                     "PMI_RANK=77",
                                     "LD_LIBRARY_PATH=/old",
                                     "PMIX_SERVER_URI41=a;tcp4://b",
                                     "PMIX_GDS_MODULE=hash",
                                     "JSM_JSRUN_PORT=0",
                                     "PMIX_MCA_psec=native",
                                     "PMIX_INSTALL_PREFIX=/opt/pmix",
                                     "ODD",
                                     nullptr};
RankFacts const facts{
    .rank = 3, .ranks = 8, .local_rank = 1, .local_ranks = 2, .program = 1, .segment = 5, .launcher = "4711@40"};

std::vector<std::string> make(EnvironmentRules const& everywhere, EnvironmentRules const& own,
                              LibraryOverrides const& library = {}) {
    return rank_environment(inherited, everywhere, own, facts, library);
}

/// Starts a program while this process has two pipes without close-on-exec, one of which the program is to inherit.
/// Returns which of them it has.
std::string pipes_of_program(bool closes_others) {
    int named[2], other[2];
    if (pipe(named) != 0 || pipe(other) != 0) return "no pipe";
    Pipe output = Pipe::make();
    SpawnOptions start{};
    start.path = "/bin/sh";
    start.command = {
        "sh", "-c",
        join("[ -e /dev/fd/", named[0], " ] && printf named,; [ -e /dev/fd/", other[0], " ] && printf other,; exit 0")};
    start.output = output.write.get();
    start.inherited_descriptors = {named[0]};
    start.closes_others = closes_others;
    pid_t const child = spawn(start);
    output.write.reset();
    std::string text;
    for (char c; read(output.read.get(), &c, 1) == 1;) text += c;
    waitpid(child, nullptr, 0);
    for (int one : {named[0], named[1], other[0], other[1]}) close(one);
    return text;
}

TEST(Spawn, passes_on_no_other_descriptors_if_it_is_to_close_them) {
    EXPECT_EQ(pipes_of_program(true), "named,");
    EXPECT_EQ(pipes_of_program(false), "named,other,");
}

TEST(Environment, has_the_rank_variables_of_both_families) {
    std::vector<std::string> all = make({}, {});
    for (char const* entry :
         {"TUTTI_RANK=1", "TUTTI_SEGMENT_FD=5", "TUTTI_LAUNCHER=4711@40", "PMI_RANK=3", "PMI_SIZE=8", "PMI_APPNUM=1",
          "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8",
          "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "OMPI_COMM_WORLD_NODE_RANK=1",
          "OMPI_UNIVERSE_SIZE=8", "HOME=/h"})
        EXPECT_THAT(all, Contains(entry));
}

TEST(Environment, has_no_contact_to_an_outer_launcher) {
    std::vector<std::string> all = make({}, {});
    EXPECT_THAT(all, Not(Contains(StartsWith("PMI_FD="))));
    EXPECT_THAT(all, Not(Contains("PMI_RANK=77")));
    for (char const* name : {"PMIX_SERVER_URI41=", "PMIX_GDS_MODULE=", "JSM_JSRUN_PORT="})
        EXPECT_THAT(all, Not(Contains(StartsWith(name))));
    for (char const* setting : {"PMIX_MCA_psec=native", "PMIX_INSTALL_PREFIX=/opt/pmix"})
        EXPECT_THAT(all, Contains(setting));
}

TEST(Environment, passes_variables_according_to_the_rules) {
    using Inherit = EnvironmentRules::Inherit;
    EXPECT_THAT(make({Inherit::none, {}, {}}, {}), Not(Contains("HOME=/h")));
    EXPECT_THAT(make({Inherit::none, {}, {}}, {}), Contains("PMI_RANK=3"));
    std::vector<std::string> listed = make({}, {Inherit::listed, {"PATH"}, {}});
    EXPECT_THAT(listed, Contains("PATH=/p"));
    EXPECT_THAT(listed, Not(Contains("HOME=/h")));
    EXPECT_THAT(make({Inherit::none, {}, {}}, {Inherit::all, {}, {}}), Contains("HOME=/h"));
}

TEST(Environment, lets_a_programs_own_setting_win) {
    std::vector<std::string> all = make({{}, {}, {{"HOME", "/g"}, {"A", "1"}}}, {{}, {}, {{"A", "2"}}});
    EXPECT_THAT(all, Contains("HOME=/g"));
    EXPECT_THAT(all, Contains("A=2"));
    EXPECT_THAT(all, Not(Contains("A=1")));
}

TEST(Environment, gives_each_rank_gpus_of_its_own) {
    RankFacts two = facts;
    two.gpus = 2;
    EXPECT_THAT(rank_environment(inherited, {}, {}, two, {}), Contains("CUDA_VISIBLE_DEVICES=2,3"));
    EnvironmentRules const named{{}, {}, {{"CUDA_VISIBLE_DEVICES", "7,5,3,1"}}};
    EXPECT_THAT(rank_environment(inherited, {}, named, two, {}), Contains("CUDA_VISIBLE_DEVICES=3,1"));
    EnvironmentRules const few{{}, {}, {{"CUDA_VISIBLE_DEVICES", "7,5,3"}}};
    EXPECT_THROW(rank_environment(inherited, {}, few, two, {}), LaunchError);
    two.gpus = 0;
    EXPECT_THAT(rank_environment(inherited, {}, {}, two, {}), Contains("HIP_VISIBLE_DEVICES=-1"));
    EXPECT_THAT(make({}, {}), Not(Contains(StartsWith("CUDA_VISIBLE_DEVICES="))));
}

TEST(Environment, puts_a_library_in_front) {
    EXPECT_THAT(make({}, {}, {"/tutti/lib", false, ""}), Contains("LD_LIBRARY_PATH=/tutti/lib:/old"));
    EXPECT_THAT(make({}, {}, {"/tutti/lib", false, ""}), Not(Contains(StartsWith("LD_PRELOAD="))));
    EXPECT_THAT(make({}, {}, {"/tutti/lib", true, "/tutti/lib/malloc.so"}),
                Contains("LD_PRELOAD=/tutti/lib/libmpi.so.12:/tutti/lib/libmpich.so.12"));
}

TEST(Environment, leaves_a_tool_that_the_user_preloads_in_front_of_our_library) {
    LibraryOverrides const mpi{"/t", true, ""};
    EXPECT_THAT(make({}, {{}, {}, {{"LD_PRELOAD", "/u/tool.so"}}}, mpi),
                Contains("LD_PRELOAD=/u/tool.so:/t/libmpi.so.12:/t/libmpich.so.12"));
    EXPECT_THAT(make({}, {{}, {}, {{"LD_PRELOAD", "/t/libmpi.so.12:/t/libmpich.so.12"}}}, mpi),
                Contains("LD_PRELOAD=/t/libmpi.so.12:/t/libmpich.so.12"));
}

TEST(Environment, adds_our_malloc_after_the_user_s_preloads_and_only_once) {
    LibraryOverrides const arena{"", false, "/tutti/lib/malloc.so"};
    EXPECT_THAT(make({}, {}, arena), Contains("LD_PRELOAD=/tutti/lib/malloc.so"));
    EXPECT_THAT(make({}, {}, arena), Contains("LD_LIBRARY_PATH=/old"));
    EXPECT_THAT(make({}, {{}, {}, {{"LD_PRELOAD", "/j/libjemalloc.so"}}}, arena),
                Contains("LD_PRELOAD=/j/libjemalloc.so:/tutti/lib/malloc.so"));
    EXPECT_THAT(make({}, {{}, {}, {{"LD_PRELOAD", "/tutti/lib/malloc.so"}}}, arena),
                Contains("LD_PRELOAD=/tutti/lib/malloc.so"));
}

}   // namespace
}   // namespace tutti::launcher
