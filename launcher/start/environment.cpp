// SPDX-License-Identifier: BSD-3-Clause
// Builds a rank's environment.
#include "launcher/start/environment.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

using Inherit = EnvironmentRules::Inherit;
using EnvironmentMap = std::map<std::string, std::string>;

/// Variables by which an outer launcher is contacted: a rank that used them would join the outer job, or wait for it.
constexpr std::array<std::string_view, 6> outer_launcher_variables = {
    "PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_RANK", "PMIX_NAMESPACE", "PMIX_SERVER_URI2"};

void inherit(EnvironmentMap& out, char const* const* environment, EnvironmentRules const& rules) {
    if (rules.inherit == Inherit::none) return;
    for (; environment && *environment; ++environment) {
        std::string_view entry = *environment;
        std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        std::string name(entry.substr(0, equals));
        bool listed = std::find(rules.list.begin(), rules.list.end(), name) != rules.list.end();
        if (rules.inherit == Inherit::listed && !listed) continue;
        if (std::find(outer_launcher_variables.begin(), outer_launcher_variables.end(), name) ==
            outer_launcher_variables.end())
            out[name] = entry.substr(equals + 1);
    }
}

void set_rank_variables(EnvironmentMap& out, RankFacts const& facts) {
    std::string rank = std::to_string(facts.rank), ranks = std::to_string(facts.ranks);
    std::string local_rank = std::to_string(facts.local_rank), local_ranks = std::to_string(facts.local_ranks);
    out[launch::segment_variable] = std::to_string(facts.segment);
    out[launch::segment_inode_variable] = std::to_string(memory_file(facts.segment).inode);
    out[launch::rank_variable] = local_rank;
    out[launch::launcher_variable] = facts.launcher;
    // those of an outer job
    for (char const* outer : {launch::listen_variable, launch::parent_variable}) out.erase(outer);
    std::string& listeners = out[launch::listen_variable];
    for (int descriptor : facts.listeners) listeners += (listeners.empty() ? "" : ",") + std::to_string(descriptor);
    if (listeners.empty()) out.erase(launch::listen_variable);
    for (char const* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"}) out[name] = rank;
    for (char const* name : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK"})
        out[name] = local_rank;
    for (char const* name : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_UNIVERSE_SIZE"}) out[name] = ranks;
    for (char const* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"}) out[name] = local_ranks;
    out["PMI_APPNUM"] = std::to_string(facts.program);
}

/// Assigns each rank of a node its own GPUs, chosen from those that the variable already names, if any.
void assign_gpus(EnvironmentMap& out, RankFacts const& facts) {
    if (facts.gpus < 0) return;
    for (char const* variable : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"}) {
        auto const given = out.find(variable);
        std::vector<std::string> const all = given == out.end() || given->second.empty()
                                                 ? std::vector<std::string>()
                                                 : topo::split_words(given->second, ",");
        std::string chosen;
        for (int i = facts.local_rank * facts.gpus; i < (facts.local_rank + 1) * facts.gpus; ++i) {
            auto const at = static_cast<std::size_t>(i);
            if (!all.empty() && at >= all.size())
                throw LaunchError(join("-gpus-per-proc: ", variable, " names ", all.size(),
                                       all.size() == 1 ? " GPU" : " GPUs", ", and ranks of this node need at least ",
                                       i + 1));
            chosen += (chosen.empty() ? "" : ",") + (all.empty() ? std::to_string(i) : all[at]);
        }
        out[variable] = facts.gpus == 0 ? "-1" : chosen;
    }
}

void add(EnvironmentMap& out, char const* list, std::string const& front, std::string const& back) {
    std::string& value = out[list];
    if (!front.empty()) value = front + (value.empty() ? "" : ":") + value;
    if (!back.empty()) value += (value.empty() ? "" : ":") + back;
}

/// The user's preloaded libraries stay first: the user's allocator replaces ours, and a tool that wraps MPI functions
/// calls ours as PMPI functions. In a job within one of our jobs (a rank runs mpiexec), our libraries may already be
/// in the list.
void prepend_libraries(EnvironmentMap& out, LibraryOverrides const& library) {
    if (!library.folder.empty()) add(out, "LD_LIBRARY_PATH", library.folder, {});
    std::string const mpi = library.folder + "/libmpi.so.12:" + library.folder + "/libmpich.so.12";
    std::string const& ours = library.preload ? mpi : library.arena;
    if (!ours.empty() && out["LD_PRELOAD"].find(ours) == std::string::npos) add(out, "LD_PRELOAD", {}, ours);
}

}   // namespace

std::string launcher_name(int process) { return join(process, "@", pid_namespace()); }

std::vector<std::string> rank_environment(char const* const* inherited, EnvironmentRules const& all_programs,
                                          EnvironmentRules const& own, RankFacts const& facts,
                                          LibraryOverrides const& library) {
    EnvironmentMap all;
    inherit(all, inherited, own.inherit == Inherit::unspecified ? all_programs : own);
    for (auto const& [name, value] : all_programs.set) all[name] = value;
    for (auto const& [name, value] : own.set) all[name] = value;
    assign_gpus(all, facts);
    prepend_libraries(all, library);
    set_rank_variables(all, facts);
    std::vector<std::string> entries;
    for (auto const& [name, value] : all) entries.push_back(name + "=" + value);
    return entries;
}

}   // namespace tutti::launcher
