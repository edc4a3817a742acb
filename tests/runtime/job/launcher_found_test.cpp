// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/job/launcher_found.hpp"

namespace tutti {
namespace {

using LauncherVariables = std::map<std::string, std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LauncherFound find(LauncherVariables const& variables, bool open_descriptor = true) {
    return find_launcher({[&](char const* name) {
                              auto const at = variables.find(name);
                              return at == variables.end() ? nullptr : at->second.c_str();
                          },
                          [=](int) { return open_descriptor; }});
}

TEST(LauncherFound, NoneIsFoundInAPlainEnvironment) {
    LauncherFound const none = find({{"PATH", "/bin"}});
    EXPECT_EQ(none.name, "");
    EXPECT_EQ(none.chosen, JobInterface::none);
    EXPECT_THAT(none.offered, IsEmpty());
    EXPECT_FALSE(none.is_lost());
}

TEST(LauncherFound, HydraOffersPmi) {
    LauncherFound const hydra = find({{"PMI_FD", "9"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"HYDI_CONTROL_FD", "8"}});
    EXPECT_EQ(hydra.chosen, JobInterface::pmi);
    EXPECT_EQ(hydra.processes, 4);
    EXPECT_THAT(hydra.name, HasSubstr("Hydra"));
    EXPECT_EQ(hydra.variables, "PMI_FD=9, HYDI_CONTROL_FD=8, PMI_SIZE=4");
}

TEST(LauncherFound, AClosedDescriptorIsNoInterface) {
    LauncherVariables const hydra{{"PMI_FD", "9"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}};
    EXPECT_TRUE(find(hydra, false).is_lost());
    EXPECT_THAT(find(hydra, false).advice, HasSubstr("PMI_FD"));
    LauncherVariables alone = hydra;
    alone["PMI_SIZE"] = "1";
    EXPECT_FALSE(find(alone, false).is_lost()) << "a job of one";
}

TEST(LauncherFound, OfSeveralInterfacesTheNearestIsChosen) {
    LauncherVariables both{{"PMI_FD", "9"}, {"PMI_SIZE", "4"}, {"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}};
    EXPECT_THAT(find(both).offered, ElementsAre(JobInterface::pmi, JobInterface::pmix));
    EXPECT_THAT(find(both, false).offered, ElementsAre(JobInterface::pmix));
    both.erase("PMI_FD");
    both["PMI_PORT"] = "host:1", both["PMI_ID"] = "0";
    EXPECT_THAT(find(both).offered, ElementsAre(JobInterface::pmix, JobInterface::pmi));
    EXPECT_EQ(find(both).chosen, JobInterface::pmix);
}

TEST(LauncherFound, SlurmWithoutAnInterfaceIsNamedWithAdvice) {
    LauncherFound const step = find({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_NTASKS", "2"}});
    EXPECT_TRUE(step.is_lost());
    EXPECT_EQ(step.name, "Slurm's srun");
    EXPECT_THAT(step.advice, HasSubstr("--mpi=pmi2"));
    EXPECT_FALSE(find({{"SLURM_NTASKS", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "5"}}).is_lost())
        << "a program in a batch script runs alone";
}

TEST(LauncherFound, OpenMpisMpirunIsNamedBeforeSlurm) {
    LauncherFound const mpirun = find({{"OMPI_COMM_WORLD_SIZE", "3"}, {"SLURM_STEP_ID", "0"}});
    EXPECT_EQ(mpirun.name, "Open MPI's mpirun");
    EXPECT_TRUE(mpirun.is_lost());
}

TEST(LauncherFound, TheLargestOfSeveralSizesCounts) {
    LauncherFound const inner = find(
        {{"PMI_FD", "77"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
        false);
    EXPECT_TRUE(inner.is_lost());
    EXPECT_EQ(inner.processes, 4);
    EXPECT_EQ(inner.name, "a PMI launcher");
    EXPECT_EQ(inner.variables, "PMI_FD=77, SLURM_STEP_ID=0, SLURM_STEP_NUM_TASKS=1, PMI_SIZE=4");
    LauncherFound const outer =
        find({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}});
    EXPECT_TRUE(outer.is_lost());
    EXPECT_EQ(outer.name, "Slurm's srun");
    EXPECT_FALSE(
        find({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).is_lost());
}

TEST(LauncherFound, AnUnknownSizeMayBeSeveral) {
    for (LauncherVariables const& variables :
         {LauncherVariables{{"PMIX_NAMESPACE", "x"}}, LauncherVariables{{"PRTE_LAUNCHED", "1"}},
          LauncherVariables{{"PMI_PORT", "host:1"}}, LauncherVariables{{"HYDI_CONTROL_FD", "7"}},
          LauncherVariables{{"PRTE_LAUNCHED", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}}) {
        LauncherFound const found = find(variables);
        EXPECT_TRUE(found.is_lost()) << found.variables;
        EXPECT_LE(found.processes, 1) << found.variables;
        EXPECT_THAT(describe_start(found), HasSubstr("because the processes of this job cannot find each other"));
    }
    EXPECT_EQ(find({{"PRTE_LAUNCHED", "1"}}).name, "prterun");
    EXPECT_FALSE(find({{"PMIX_RANK", "0"}}).is_lost()) << "not a launcher's mark";
}

TEST(LauncherFound, OtherLaunchersAreNamed) {
    EXPECT_EQ(find({{"FLUX_JOB_SIZE", "2"}}).name, "Flux");
    EXPECT_THAT(find({{"FLUX_JOB_SIZE", "2"}}).advice, HasSubstr("flux run -o pmi=simple"));
    EXPECT_EQ(find({{"MV2_COMM_WORLD_SIZE", "3"}}).name, "MVAPICH's launcher");
    EXPECT_TRUE(find({{"MV2_COMM_WORLD_SIZE", "3"}}).is_lost());
    EXPECT_FALSE(find({{"FLUX_JOB_SIZE", "1"}}).is_lost()) << "a job of one";
}

TEST(LauncherFound, TheAdviceIsForTheInterfaceThatFails) {
    LauncherVariables const slurm{{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    auto const with = [&](LauncherVariables more) {
        return more.insert(slurm.begin(), slurm.end()), find(more).advice;
    };
    EXPECT_EQ(with({{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}}),
              "install PMIx (libpmix2) where it runs, start it with srun --mpi=pmi2, or use Tutti's mpiexec inside the "
              "allocation");
    EXPECT_EQ(with({{"PMI_FD", "9"}, {"PMI_SIZE", "2"}}), "use Tutti's mpiexec");
    EXPECT_THAT(find({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}).advice, testing::Not(HasSubstr("descriptor")));
}

TEST(LauncherFound, AJobOfOneProcessNeedsNoServer) {
    LauncherFound const alone = find({{"PMI_FD", "9"}, {"PMI_SIZE", "1"}, {"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}});
    EXPECT_TRUE(alone.is_alone);
    EXPECT_THAT(describe_start(alone), HasSubstr("alone, as rank 0 of 1"));
    EXPECT_FALSE(find({{"PMI_FD", "9"}, {"PMI_SIZE", "2"}}).is_alone);
    EXPECT_FALSE(find({{"PMI_PORT", "host:1"}, {"PMI_ID", "0"}, {"PMI_SIZE", "1"}}).is_alone)
        << "the size may be that of a launcher further up";
}

TEST(LauncherFound, ItsServersAreForgotten) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    setenv("PMI_FD", std::to_string(pair[0]).c_str(), 1);
    for (char const* name : {"PMI_PORT", "PMI_ID", "PMIX_NAMESPACE", "PMIX_RANK"}) setenv(name, "0", 1);
    forget_servers();
    EXPECT_TRUE(fcntl(pair[0], F_GETFD) & FD_CLOEXEC);
    for (char const* name : {"PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_NAMESPACE", "PMIX_RANK"})
        EXPECT_EQ(std::getenv(name), nullptr) << name;
    for (int descriptor : pair) close(descriptor);
}

}   // namespace
}   // namespace tutti
