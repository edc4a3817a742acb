// SPDX-License-Identifier: BSD-3-Clause
// Determines what unblocked ranks do from their stacks and last calls, and describes it as text and JSON.
#include "launcher/diagnosis/unblocked_ranks.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "launcher/base/proc.hpp"
#include "launcher/diagnosis/report.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using UnblockedState = UnblockedRank::State;

constexpr std::size_t max_kinds = 8, max_locations = 3, max_functions = 3;
constexpr int max_tries = 8;

/// The rank updates function and site at each call, at any time. They belong together if the function was the same
/// before and after the site was read.
void read_last_call(LastCall const& published, LastCall& call) {
    call.program = published.program;
    call.program_end = published.program_end;
    std::ranges::copy(published.program_file, call.program_file);
    for (int i = 0; i < max_tries; ++i) {
        Function again;
        __atomic_load(&published.function, &call.function, __ATOMIC_ACQUIRE);
        call.site = __atomic_load_n(&published.site, __ATOMIC_ACQUIRE);
        __atomic_load(&published.function, &again, __ATOMIC_ACQUIRE);
        if (again == call.function) break;
    }
}

constexpr char python_code[] = "in Python code";

bool is_python(SourceLine const& line) {
    return line.module.starts_with("python") || line.module.starts_with("libpython");
}

/// The position of a process, derived from its stack.
struct StackSummary {
    bool in_mpi = false;
    std::string mpi_function{};             ///< "MPI_Wtime"; empty: not in MPI, or not known
    std::string system_function{};          ///< the system function that the program has called; empty: none
    std::vector<std::string> functions{};   ///< of the program, innermost first: "ring.c:3 in spin()"

    /// Returns the text for UnblockedRank::now.
    std::string describe() const {
        std::vector<std::string> all = functions;
        if (!system_function.empty()) all.insert(all.begin(), "in " + system_function);
        std::string text;
        for (std::string const& one : all) {
            bool const begins_with_in = one.starts_with("in ");
            if (!text.empty()) text += ", called from " + one.substr(begins_with_in ? 3 : 0);
            else text = begins_with_in ? one : "at " + one;
        }
        return text;
    }
};

/// Returns "MPI_Recv" for "PMPI_Recv()"; empty if it is not a function of the MPI standard.
std::string standard_name(std::string const& function) {
    std::string const name = function.substr(function.starts_with("PMPI_") ? 1 : 0);
    return name.starts_with("MPI_") && name.ends_with("()") ? name.substr(0, name.size() - 2) : "";
}

/// Removes the leading underscores that the C library's internal names may have.
std::string without_underscores(std::string const& function) {
    return function.substr(std::min(function.find_first_not_of('_'), function.size()));
}

StackSummary summarize_stack(pid_t process, std::vector<std::uint64_t> const& stack, LineCache* cache) {
    StackSummary where;
    SourceLines lines(process, cache);
    for (std::uint64_t address : stack) {
        SourceLine const line = lines.at(address);
        where.in_mpi |= line.module.starts_with("libmpi");
        if (is_mpi(line)) {
            if (std::string const name = standard_name(line.function); !name.empty()) where.mpi_function = name;
        } else if (where.functions.size() == max_functions || line.function == "_start()") {
            break;
        } else if (is_python(line)) {
            where.functions.emplace_back(python_code);
            break;
        } else if (!is_system(line)) {
            bool const first = where.functions.empty() && where.system_function.empty();
            if (first || !line.function.empty()) where.functions.push_back(describe(line));
        } else if (where.functions.empty() && !where.in_mpi && !line.function.empty()) {
            where.system_function = without_underscores(line.function);
        }
    }
    return where;
}

std::string_view describe_process_state(char state) {
    switch (state) {
    case 'T': return "stopped by a signal";
    case 't': return "stopped by a debugger";
    case 'D': return "in an uninterruptible system call";
    case 'Z': return "about to end";
    default: return "";
    }
}

/// Returns "rank 3 is" or "ranks 0 and 1 are".
std::string subject_and_verb(std::vector<int> const& ranks, std::string_view one, std::string_view several) {
    return join(describe_ranks(ranks), " ", ranks.size() == 1 ? one : several);
}

std::string last_call(UnblockedRank const& rank, bool one) {
    if (rank.call.empty()) return "";
    return join("; ", one ? "its" : "their", " last call was ", rank.call, rank.position.empty() ? "" : ", ",
                rank.position);
}

/// Returns " at a.c:3 in main()" or " in main() of a.out"; empty without a position.
std::string with_preposition(std::string const& position) {
    return join(position.empty() ? "" : position.starts_with("in ") ? " " : " at ", position);
}

std::string describe_group(std::vector<int> const& ranks, UnblockedRank const& sample) {
    bool const one = ranks.size() == 1;
    switch (sample.state) {
    case UnblockedState::outside_mpi:
        return subject_and_verb(ranks, "is", "are") + " not in MPI" + last_call(sample, one);
    case UnblockedState::before_init: return subject_and_verb(ranks, "has", "have") + " not called MPI_Init";
    case UnblockedState::after_finalize: return subject_and_verb(ranks, "has", "have") + " returned from MPI_Finalize";
    case UnblockedState::unknown:
        return subject_and_verb(ranks, "does", "do") + " not wait for another rank" + last_call(sample, one);
    case UnblockedState::no_answer:
        return subject_and_verb(ranks, "cannot", "cannot") + " be observed: the launcher of that node did not answer";
    case UnblockedState::in_mpi:
        return join(subject_and_verb(ranks, "is", "are"), " in ", sample.call.empty() ? "MPI" : sample.call,
                    with_preposition(sample.position), " and ", one ? "has" : "have", " not waited there for long");
    }
    return {};
}

std::string_view name_of(UnblockedState state) {
    constexpr std::string_view names[] = {"outside MPI",    "before MPI_Init", "after MPI_Finalize",
                                          "not to be seen", "no answer",       "in MPI"};
    return names[static_cast<std::size_t>(state)];
}

/// Ranks in the same state, and by position those of them that are there now.
struct Group {
    UnblockedRank sample;
    std::vector<int> ranks;
    std::map<std::string, std::vector<int>> now;
};

std::vector<Group> grouped(std::vector<UnblockedRank> const& ranks) {
    std::map<std::tuple<UnblockedState, std::string, std::string>, Group> groups;
    for (UnblockedRank const& one : ranks) {
        Group& group = groups[{one.state, one.call, one.position}];
        group.sample = one;
        group.ranks.push_back(one.rank);
        group.now[one.now].push_back(one.rank);
    }
    std::vector<Group> all;
    for (auto& [key, group] : groups) {
        std::ranges::sort(group.ranks);
        for (auto& [now, here] : group.now) std::ranges::sort(here);
        all.push_back(std::move(group));
    }
    std::ranges::stable_sort(all, {}, [](Group const& g) { return std::pair(g.sample.state, g.ranks.front()); });
    return all;
}

/// Returns the most frequent positions of the ranks of a group.
std::string describe_positions(Group const& group) {
    std::vector<std::pair<std::string, std::vector<int>>> positions(group.now.begin(), group.now.end());
    std::erase_if(positions, [](auto const& one) { return one.first.empty(); });
    std::ranges::stable_sort(positions, [](auto const& a, auto const& b) {
        return std::pair(b.second.size(), a.second) < std::pair(a.second.size(), b.second);
    });
    std::string text;
    std::size_t more = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        auto const& [now, ranks] = positions[i];
        if (i >= max_locations) more += ranks.size();
        else if (ranks.size() == group.ranks.size()) text += join("    now ", now, "\n");
        else text += join("    ", describe_ranks(ranks), ": now ", now, "\n");
    }
    if (more > 0) text += join("    and ", more, more == 1 ? " more rank" : " more ranks", " at other places\n");
    return text;
}

}   // namespace

pid_t working_descendant(pid_t process) {
    // The last child is the one that a script started last. The number of steps is limited because the lists change
    // while they are read.
    for (int i = 0; i < max_tries; ++i) {
        std::vector<pid_t> const children = children_of(process);
        if (children.empty()) break;
        process = children.back();
    }
    return process;
}

UnblockedRank unblocked_rank(RankState const& rank_state, pid_t process, ProcessStack const& stack, LineCache* cache) {
    UnblockedRank rank{.rank = rank_state.world_rank};
    StackSummary const where = summarize_stack(process, stack.addresses, cache);
    LastCall call{};
    read_last_call(rank_state.last_call, call);
    rank.call = call.function.name();
    if (!rank.call.empty()) {
        rank.position =
            position_of(process, std::vector<std::uint64_t>{reinterpret_cast<std::uintptr_t>(call.site)}, cache).text;
        if (rank.position.empty()) rank.position = position_of(call).text;
    }
    RankPhase const phase = rank_state.state.load(std::memory_order_acquire);
    if (where.in_mpi) rank.state = UnblockedState::in_mpi;
    else if (phase == RankPhase::absent) rank.state = UnblockedState::before_init;
    else if (phase == RankPhase::finalised) rank.state = UnblockedState::after_finalize;
    else rank.state = stack.addresses.empty() ? UnblockedState::unknown : UnblockedState::outside_mpi;
    // All calls of an interpreted program come from the same place in its interpreter.
    if (!where.functions.empty() && where.functions.back() == python_code) rank.position.clear();
    if (where.in_mpi) {
        // Functions such as MPI_Wtime are too short to be recorded as the last call.
        if (!where.mpi_function.empty()) rank.call = where.mpi_function;
        if (!where.functions.empty()) rank.position = where.functions.front();
    }
    std::string const process_state(describe_process_state(stack.state)), at = where.in_mpi ? "" : where.describe();
    rank.now = join(process_state, process_state.empty() || at.empty() ? "" : " ", at);
    return rank;
}

std::string text_of(std::vector<UnblockedRank> const& ranks) {
    std::vector<Group> const groups = grouped(ranks);
    std::string text;
    std::size_t more = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i >= max_kinds && groups.size() > max_kinds + 1) more += groups[i].ranks.size();
        else text += "  " + describe_group(groups[i].ranks, groups[i].sample) + "\n" + describe_positions(groups[i]);
    }
    if (more > 0) text += join("  and ", more, more == 1 ? " more rank does" : " more ranks do", " not wait\n");
    return text;
}

std::string text_of(RankStates const& states) {
    std::vector<ReportLine> lines = waiting_lines(states.waiting);
    bool const any_in_mpi = std::ranges::any_of(
        states.unblocked, [](UnblockedRank const& one) { return one.state != UnblockedState::before_init; });
    if (lines.empty() && !any_in_mpi) return {};
    std::ranges::sort(lines, {}, [](ReportLine const& line) { return line.ranks.front(); });
    return (lines.empty() ? "No rank has waited for another one for long:\n"
                          : "What ranks wait for:\n" + table_of(lines)) +
           text_of(states.unblocked);
}

std::string json_of(RankStates const& states) {
    if (text_of(states).empty()) return {};
    auto const ascending = [](auto const& a, auto const& b) { return a.ranks.front() < b.ranks.front(); };
    std::vector<ReportLine> lines = waiting_lines(states.waiting);
    std::ranges::sort(lines, ascending);
    nlohmann::ordered_json all = nlohmann::ordered_json::parse(json_of(lines));
    all["not_waiting"] = nlohmann::ordered_json::array();
    for (Group const& group : grouped(states.unblocked))
        for (auto const& [now, ranks] : group.now)
            all["not_waiting"].push_back({{"ranks", ranks},
                                          {"doing", name_of(group.sample.state)},
                                          {"call", group.sample.call},
                                          {"place", group.sample.position},
                                          {"now", now}});
    return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}   // namespace tutti::launcher
