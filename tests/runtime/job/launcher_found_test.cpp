// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

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

}   // namespace
}   // namespace tutti
