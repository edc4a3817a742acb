// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/placement/allocation.hpp"
#include "launcher/start/commands.hpp"

namespace tutti::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

/// The function must not be used after `variables`.
Getenv getenv_of(Variables const& variables) {
    return [&variables](char const* name) {
        auto const at = variables.find(name);
        return at == variables.end() ? nullptr : at->second.c_str();
    };
}

/// Returns "name:slots" of each host.
std::vector<std::string> found(Variables const& variables, std::string const& manager = {}) {
    std::vector<std::string> words;
    for (Host const& host : hosts_of_resource_manager(getenv_of(variables), manager))
        words.push_back(host.name + ":" + std::to_string(host.slots));
    return words;
}

class File {
public:
    explicit File(char const* text) : name_(testing::TempDir() + "tutti_nodes") { std::ofstream(name_) << text; }
    ~File() { std::remove(name_.c_str()); }
    std::string const& name() const { return name_; }

private:
    std::string name_;
};

TEST(SlurmList, has_ranges_in_brackets) {
    EXPECT_THAT(expand_slurm_list("a[08-11,3],b,c[1-2]x[0-1]"),
                ElementsAre("a08", "a09", "a10", "a11", "a3", "b", "c1x0", "c1x1", "c2x0", "c2x1"));
    EXPECT_THAT(expand_slurm_list("node"), ElementsAre("node"));
    EXPECT_THAT(expand_slurm_list(""), ElementsAre());
    EXPECT_THROW(expand_slurm_list("a[1-"), LaunchError);
    EXPECT_THROW(expand_slurm_list("a[3-1]"), LaunchError);
    EXPECT_THROW(expand_slurm_list("a[x-y]"), LaunchError);
    EXPECT_THROW(expand_slurm_list("a[0-99999999]"), LaunchError);
}

TEST(ResourceManager, is_slurm) {
    EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_TASKS_PER_NODE", "2(x3),1"}}),
                ElementsAre("n1:2", "n2:2", "n3:2", "n4:1"));
    EXPECT_THAT(found({{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_JOB_CPUS_PER_NODE", "8(x2)"}}),
                ElementsAre("n1:8", "n2:8"));
    EXPECT_THROW(found({{"SLURM_JOB_NODELIST", "n1"}, {"SLURM_TASKS_PER_NODE", "some"}}), LaunchError);
}

TEST(ResourceManager, starts_daemons_by_itself_where_it_can) {
    EXPECT_THAT(resource_manager_agent([](char const* name) {
                    return std::string_view(name) == "SLURM_JOB_NODELIST" ? "n[1-2]" : nullptr;
                }),
                testing::StartsWith("srun "));
    EXPECT_EQ(resource_manager_agent([](char const*) -> char const* { return nullptr; }), "");
}

TEST(ResourceManager, is_pbs_with_a_line_for_each_slot) {
    File const file("n1\nn1\nn2\n");
    EXPECT_THAT(found({{"PBS_NODEFILE", file.name()}}), ElementsAre("n1:1", "n1:1", "n2:1"));
    EXPECT_THROW(found({{"PBS_NODEFILE", "/nowhere/nodes"}}), LaunchError);
}

TEST(ResourceManager, is_lsf_or_grid_engine) {
    EXPECT_THAT(found({{"LSB_MCPU_HOSTS", "n1 4 n2 2"}}), ElementsAre("n1:4", "n2:2"));
    File const file("n1 4 all.q@n1 <NULL>\nn2 2 all.q@n2 <NULL>\n");
    EXPECT_THAT(found({{"PE_HOSTFILE", file.name()}}), ElementsAre("n1:4", "n2:2"));
}

std::string refusal(Variables const& variables, std::string const& manager = {}) {
    try {
        found(variables, manager);
    } catch (LaunchError const& c) { return c.what(); }
    return "accepted";
}

TEST(ResourceManager, reports_invalid_lists) {
    for (char const* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
        EXPECT_THAT(refusal(Variables{{name, "n[1-"}}), HasSubstr("'n[1-' with an unmatched bracket"));
        EXPECT_THAT(refusal(Variables{{name, "n1]"}}), HasSubstr("an unmatched bracket"));
        EXPECT_THAT(refusal(Variables{{name, "n1;x"}}), HasSubstr("'n1;x' is not the name of a host"));
        EXPECT_THAT(refusal(Variables{{name, "$(touch"}}), HasSubstr("is not the name of a host"));
        EXPECT_THAT(refusal(Variables{{name, ","}}), HasSubstr("names no node"));
    }
    EXPECT_THAT(refusal({{"LSB_MCPU_HOSTS", "-x 4"}}), HasSubstr("LSB_MCPU_HOSTS: '-x' is not the name of a host"));
    EXPECT_THAT(found({{"SLURM_NODELIST", "n[1-2]"}}), ElementsAre("n1:0", "n2:0")) << "the older name of the variable";
}

TEST(ResourceManager, may_be_named) {
    Variables const both{{"SLURM_JOB_NODELIST", "a"}, {"LSB_MCPU_HOSTS", "b 2"}};
    EXPECT_THAT(found(both), ElementsAre("a:0"));
    EXPECT_THAT(found(both, "slurm"), ElementsAre("a:0"));
    EXPECT_THAT(found(both, "lsf"), ElementsAre("b:2"));
    EXPECT_THAT(found(both, "user"), ElementsAre());
    EXPECT_THAT(refusal(both, "pbs"), HasSubstr("PBS_NODEFILE is not set"));
}

TEST(HostsOfVariables, are_those_of_the_file_that_mpich_or_open_mpi_would_use) {
    File const file("# workers\nw0:2\nw1 slots=3\n");
    for (char const* name : {"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile",
                             "PRTE_MCA_prte_default_hostfile"}) {
        std::vector<std::string> notes, words;
        for (Host const& host : hosts_of_variables(getenv_of({{name, file.name()}}), notes))
            words.push_back(host.name + ":" + std::to_string(host.slots));
        EXPECT_THAT(words, ElementsAre("w0:2", "w1:3")) << name;
    }
    std::vector<std::string> notes;
    EXPECT_THAT(hosts_of_variables(getenv_of({{"HYDRA_HOST_FILE", ""}}), notes), testing::IsEmpty());
    try {
        hosts_of_variables(getenv_of({{"HYDRA_HOST_FILE", "/no/such/file"}}), notes);
        ADD_FAILURE();
    } catch (LaunchError const& error) { EXPECT_THAT(error.what(), HasSubstr("HYDRA_HOST_FILE: ")); }
}

TEST(AgentOfVariables, is_a_command_with_arguments) {
    auto const agent = [](Variables const& variables) { return agent_of_variables(getenv_of(variables)); };
    EXPECT_EQ(agent({}), "");
    EXPECT_EQ(agent({{"OMPI_MCA_plm_rsh_agent", "rsh : ssh"}}), "rsh");
    EXPECT_EQ(agent({{"HYDRA_LAUNCH_EXTRA_ARGS", "-o A=1"}}), std::string(ssh_agent) + " -o A=1");
    EXPECT_EQ(agent({{"I_MPI_HYDRA_BOOTSTRAP_EXEC", "/bin/enter"}, {"OMPI_MCA_plm_rsh_args", "-x"}}), "/bin/enter -x");
}

TEST(ResourceManager, may_be_absent) { EXPECT_THAT(found({{"HOME", "/h"}}), ElementsAre()); }

}   // namespace
}   // namespace tutti::launcher
