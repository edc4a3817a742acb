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
    for (Host const& host : hosts_of_resource_manager(getenv_of(variables), manager).hosts)
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
    auto const agent = [](Variables const& variables) { return hosts_of_resource_manager(getenv_of(variables)).agent; };
    EXPECT_THAT(agent({{"SLURM_JOB_NODELIST", "n[1-2]"}}), testing::StartsWith("srun "));
    EXPECT_EQ(agent({{"LSB_MCPU_HOSTS", "n1 4"}}), "blaunch");
    File const file("n1 4\n");
    EXPECT_EQ(agent({{"PE_HOSTFILE", file.name()}}), "qrsh -inherit -V");
    EXPECT_EQ(agent({{"PBS_NODEFILE", file.name()}}), "");
    EXPECT_EQ(agent({}), "");
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

TEST(FluxResources, have_a_slot_for_each_core_of_a_node) {
    auto const hosts = [](std::string const& text) {
        std::vector<std::string> words;
        for (Host const& host : parse_flux_resources(text))
            words.push_back(host.name + ":" + std::to_string(host.slots));
        return words;
    };
    EXPECT_THAT(hosts(R"({"version": 1, "execution": {"R_lite": [
        {"rank": "0,2", "children": {"core": "0-3", "gpu": "0"}}, {"rank": "1", "children": {"core": "1,3"}}],
        "nodelist": ["n[1-2]", "m"], "starttime": 0.0, "expiration": 0.0}})"),
                ElementsAre("n1:4", "n2:2", "m:4"));
    for (char const* wrong :
         {"", "flux: no", "{}", R"({"execution": {"R_lite": [], "nodelist": []}})",
          R"({"execution": {"R_lite": [{"rank": "0", "children": {"core": "x"}}], "nodelist": ["n1"]}})",
          R"({"execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], "nodelist": ["n[1-2]"]}})",
          R"({"execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], "nodelist": ["-x"]}})"})
        EXPECT_THROW(hosts(wrong), LaunchError) << wrong;
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
    EXPECT_THAT(refusal(both, "flux"), HasSubstr("FLUX_URI is not set"));
    Variables const task{{"FLUX_URI", "local:///nowhere"}, {"FLUX_JOB_ID", "f1"}};
    EXPECT_THAT(found(task), ElementsAre()) << "a task of a job of the instance";
    Variables const instance_in_slurm{{"FLUX_URI", "local:///nowhere"}, {"SLURM_JOB_NODELIST", "a"}};
    EXPECT_THAT(refusal(instance_in_slurm), HasSubstr("flux resource R"));
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
    EXPECT_THAT(hosts_of_variables(getenv_of({{"OMPI_MCA_orte_default_hostfile", "none"}}), notes), testing::IsEmpty());
    EXPECT_TRUE(is_host_file_of_variables(getenv_of({{"HYDRA_HOST_FILE", file.name()}}), file.name()));
    EXPECT_FALSE(is_host_file_of_variables(getenv_of({{"HYDRA_HOST_FILE", "/no/such/file"}}), file.name()));
    try {
        hosts_of_variables(getenv_of({{"HYDRA_HOST_FILE", "/no/such/file"}}), notes);
        ADD_FAILURE();
    } catch (LaunchError const& error) { EXPECT_THAT(error.what(), HasSubstr("HYDRA_HOST_FILE: ")); }
}

TEST(AgentOfVariables, is_a_command_with_arguments) {
    std::vector<std::string> notes;
    auto const agent = [&](Variables const& variables) { return agent_of_variables(getenv_of(variables), notes); };
    EXPECT_EQ(agent({}), "");
    EXPECT_EQ(agent({{"OMPI_MCA_plm_rsh_agent", "rsh -n : ssh"}, {"OMPI_MCA_plm_rsh_args", "-x"}}), "rsh -n -x");
    EXPECT_EQ(agent({{"I_MPI_HYDRA_BOOTSTRAP_EXEC", "/bin/enter"}, {"OMPI_MCA_plm_rsh_args", "-x"}}), "/bin/enter -x");
    EXPECT_EQ(agent({{"HYDRA_LAUNCHER_EXEC", "/a b/enter"}}), "'/a b/enter'") << "a path, not a command";
    std::string const others = std::string(ssh_agent).substr(3);
    for (char const* name : {"HYDRA_LAUNCH_EXTRA_ARGS", "HYDRA_LAUNCHER_EXTRA_ARGS"})
        EXPECT_EQ(agent({{name, "-o ConnectTimeout=5"}}), "ssh -o ConnectTimeout=5" + others)
            << "ssh uses the first value of an option";
    try {
        agent({{"HYDRA_LAUNCH_EXTRA_ARGS", "-o 'A=1"}});
        ADD_FAILURE();
    } catch (LaunchError const& error) { EXPECT_THAT(error.what(), HasSubstr("HYDRA_LAUNCH_EXTRA_ARGS: a quote")); }
    EXPECT_THAT(notes, testing::IsEmpty());
}

TEST(AgentOfVariables, is_that_of_a_launcher_by_its_name) {
    std::vector<std::string> notes;
    auto const agent = [&](Variables const& variables) { return agent_of_variables(getenv_of(variables), notes); };
    EXPECT_EQ(agent({{"HYDRA_LAUNCHER", "ssh"}}), "");
    EXPECT_EQ(agent({{"I_MPI_HYDRA_BOOTSTRAP", "rsh"}}), "rsh");
    EXPECT_EQ(agent({{"HYDRA_LAUNCHER", "slurm"}}), slurm_agent);
    std::string const options = std::string(slurm_agent).substr(4);
    EXPECT_EQ(
        agent({{"HYDRA_LAUNCHER", "slurm"}, {"HYDRA_LAUNCHER_EXEC", "/opt/srun"}, {"HYDRA_LAUNCH_EXTRA_ARGS", "-v"}}),
        "/opt/srun -v" + options);
    EXPECT_THAT(split_agent_command(agent({{"HYDRA_LAUNCHER", "flux"}})), split_agent_command(flux_agent));
    EXPECT_THAT(notes, testing::IsEmpty());
    EXPECT_EQ(agent({{"HYDRA_LAUNCHER", "pbsdsh"}}), "");
    EXPECT_THAT(notes, ElementsAre(testing::StartsWith("HYDRA_LAUNCHER=pbsdsh has no effect: ")));
}

TEST(ResourceManager, may_be_absent) { EXPECT_THAT(found({{"HOME", "/h"}}), ElementsAre()); }

}   // namespace
}   // namespace tutti::launcher
