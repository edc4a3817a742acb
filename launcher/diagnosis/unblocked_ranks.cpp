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

using Doing = UnblockedRank::Doing;

constexpr std::size_t most_kinds = 8, most_places = 3, most_functions = 3;
constexpr int most_tries = 8;

/// The rank updates name and site at each call, at any time. They belong together if the name was the same before and
/// after the site was read.
void read_last_call(LastCall const& shown, LastCall& call) {
    call.program = shown.program;
    call.program_end = shown.program_end;
    call.library = shown.library;
    std::ranges::copy(shown.program_file, call.program_file);
    std::ranges::copy(shown.library_file, call.library_file);
    for (int i = 0; i < most_tries; ++i) {
        call.name = __atomic_load_n(&shown.name, __ATOMIC_ACQUIRE);
        call.site = __atomic_load_n(&shown.site, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&shown.name, __ATOMIC_ACQUIRE) == call.name) break;
    }
}

constexpr char python_code[] = "in Python code";

bool of_python(SourceLine const& line) {
    return line.module.starts_with("python") || line.module.starts_with("libpython");
}

/// The position of a process, derived from its stack.
struct Whereabouts {
    bool in_mpi = false;
    std::string mpi_function{};             ///< "MPI_Wtime"; empty: not in MPI, or not known
    std::string system_function{};          ///< the system function that the program has called; empty: none
    std::vector<std::string> functions{};   ///< of the program, innermost first: "ring.c:3 in spin()"

    /// Returns the text for UnblockedRank::now.
    std::string words() const {
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

Whereabouts whereabouts(pid_t process, std::vector<std::uint64_t> const& stack, KnownLines* known) {
    Whereabouts where;
    SourceLines lines(process, known);
    for (std::uint64_t address : stack) {
        SourceLine const line = lines.at(address);
        where.in_mpi |= line.module.starts_with("libmpi");
        if (is_mpi(line)) {
            if (std::string const name = standard_name(line.function); !name.empty()) where.mpi_function = name;
        } else if (where.functions.size() == most_functions || line.function == "_start()") {
            break;
        } else if (of_python(line)) {
            where.functions.emplace_back(python_code);
            break;
        } else if (!is_system(line)) {
            bool const first = where.functions.empty() && where.system_function.empty();
            if (first || !line.function.empty()) where.functions.push_back(words(line));
        } else if (where.functions.empty() && !where.in_mpi && !line.function.empty()) {
            where.system_function = without_underscores(line.function);
        }
    }
    return where;
}

std::string_view state_words(char state) {
    switch (state) {
    case 'T': return "stopped by a signal";
    case 't': return "stopped by a debugger";
    case 'D': return "in a system call that nothing can interrupt";
    case 'Z': return "about to end";
    default: return "";
    }
}

/// Returns "rank 3 is" or "ranks 0 and 1 are".
std::string who(std::vector<int> const& ranks, std::string_view one, std::string_view several) {
    return join(rank_words(ranks), " ", ranks.size() == 1 ? one : several);
}

std::string last_call(UnblockedRank const& rank, bool one) {
    if (rank.call.empty()) return "";
    return join("; ", one ? "its" : "their", " last call was ", rank.call, rank.place.empty() ? "" : ", ", rank.place);
}

std::string sentence(std::vector<int> const& ranks, UnblockedRank const& like) {
    bool const one = ranks.size() == 1;
    switch (like.doing) {
    case Doing::outside: return who(ranks, "is", "are") + " not in MPI" + last_call(like, one);
    case Doing::before_init: return who(ranks, "has", "have") + " not called MPI_Init";
    case Doing::after_finalize: return who(ranks, "has", "have") + " left MPI_Finalize";
    case Doing::unseen: return who(ranks, "does", "do") + " not wait for another rank" + last_call(like, one);
    case Doing::no_answer: return who(ranks, "cannot", "cannot") + " be seen: the launcher there did not answer";
    case Doing::inside:
        return join(who(ranks, "is", "are"), " in ", like.call.empty() ? "MPI" : like.call,
                    like.place.empty() ? "" : " at ", like.place, " and ", one ? "has" : "have",
                    " not waited there for long");
    }
    return {};
}

std::string_view name_of(Doing doing) {
    constexpr std::string_view names[] = {"outside MPI",    "before MPI_Init", "after MPI_Finalize",
                                          "not to be seen", "no answer",       "in MPI"};
    return names[static_cast<std::size_t>(doing)];
}

/// Ranks in the same state, and by position those of them that are there now.
struct Group {
    UnblockedRank like;
    std::vector<int> ranks;
    std::map<std::string, std::vector<int>> now;
};

std::vector<Group> grouped(std::vector<UnblockedRank> const& ranks) {
    std::map<std::tuple<Doing, std::string, std::string>, Group> groups;
    for (UnblockedRank const& one : ranks) {
        Group& group = groups[{one.doing, one.call, one.place}];
        group.like = one;
        group.ranks.push_back(one.rank);
        group.now[one.now].push_back(one.rank);
    }
    std::vector<Group> all;
    for (auto& [key, group] : groups) {
        std::ranges::sort(group.ranks);
        for (auto& [now, here] : group.now) std::ranges::sort(here);
        all.push_back(std::move(group));
    }
    std::ranges::stable_sort(all, {}, [](Group const& g) { return std::pair(g.like.doing, g.ranks.front()); });
    return all;
}

/// Returns the most frequent positions of the ranks of a group.
std::string places_of(Group const& group) {
    std::vector<std::pair<std::string, std::vector<int>>> places(group.now.begin(), group.now.end());
    std::erase_if(places, [](auto const& one) { return one.first.empty(); });
    std::ranges::stable_sort(places, [](auto const& a, auto const& b) {
        return std::pair(b.second.size(), a.second) < std::pair(a.second.size(), b.second);
    });
    std::string text;
    std::size_t more = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto const& [now, ranks] = places[i];
        if (i >= most_places) more += ranks.size();
        else if (ranks.size() == group.ranks.size()) text += join("    now ", now, "\n");
        else text += join("    ", rank_words(ranks), ": now ", now, "\n");
    }
    if (more > 0) text += join("    and ", more, more == 1 ? " more rank" : " more ranks", " at other places\n");
    return text;
}

}   // namespace

pid_t running_below(pid_t process) {
    // The last child is the one that a script started last. The number of steps is limited because the lists change
    // while they are read.
    for (int i = 0; i < most_tries; ++i) {
        std::vector<pid_t> const children = children_of(process);
        if (children.empty()) break;
        process = children.back();
    }
    return process;
}

UnblockedRank unblocked_rank(RankState const& rank_state, pid_t process, ProcessStack const& stack, KnownLines* known) {
    UnblockedRank rank{.rank = rank_state.world_rank};
    Whereabouts const where = whereabouts(process, stack.addresses, known);
    LastCall call{};
    read_last_call(rank_state.last_call, call);
    rank.call = name_in(call);
    if (!rank.call.empty()) {
        rank.place =
            place_of(process, std::vector<std::uint64_t>{reinterpret_cast<std::uintptr_t>(call.site)}, known).words;
        if (rank.place.empty()) rank.place = place_of(call).words;
    }
    RankPhase const phase = rank_state.state.load(std::memory_order_acquire);
    if (where.in_mpi) rank.doing = Doing::inside;
    else if (phase == RankPhase::absent) rank.doing = Doing::before_init;
    else if (phase == RankPhase::finalised) rank.doing = Doing::after_finalize;
    else rank.doing = stack.addresses.empty() ? Doing::unseen : Doing::outside;
    // All calls of an interpreted program come from the same place in its interpreter.
    if (!where.functions.empty() && where.functions.back() == python_code) rank.place.clear();
    if (where.in_mpi) {
        // Functions such as MPI_Wtime are too short to be recorded as the last call.
        if (!where.mpi_function.empty()) rank.call = where.mpi_function;
        if (!where.functions.empty()) rank.place = where.functions.front();
    }
    std::string const state(state_words(stack.state)), at = where.in_mpi ? "" : where.words();
    rank.now = join(state, state.empty() || at.empty() ? "" : " ", at);
    return rank;
}

std::string text_of(std::vector<UnblockedRank> const& ranks) {
    std::vector<Group> const groups = grouped(ranks);
    std::string text;
    std::size_t more = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i >= most_kinds && groups.size() > most_kinds + 1) more += groups[i].ranks.size();
        else text += "  " + sentence(groups[i].ranks, groups[i].like) + "\n" + places_of(groups[i]);
    }
    if (more > 0) text += join("  and ", more, more == 1 ? " more rank does" : " more ranks do", " not wait\n");
    return text;
}

std::string text_of(RanksSeen const& seen) {
    std::vector<ReportLine> lines = waiting(seen.waiting);
    bool const any_in_mpi =
        std::ranges::any_of(seen.unblocked, [](UnblockedRank const& one) { return one.doing != Doing::before_init; });
    if (lines.empty() && !any_in_mpi) return {};
    std::ranges::sort(lines, {}, [](ReportLine const& line) { return line.ranks.front(); });
    return (lines.empty() ? "No rank has waited for another one for long:\n"
                          : "What ranks wait for:\n" + table_of(lines)) +
           text_of(seen.unblocked);
}

std::string json_of(RanksSeen const& seen) {
    if (text_of(seen).empty()) return {};
    auto const ascending = [](auto const& a, auto const& b) { return a.ranks.front() < b.ranks.front(); };
    std::vector<ReportLine> lines = waiting(seen.waiting);
    std::ranges::sort(lines, ascending);
    nlohmann::ordered_json all = nlohmann::ordered_json::parse(json_of(lines));
    all["not_waiting"] = nlohmann::ordered_json::array();
    for (Group const& group : grouped(seen.unblocked))
        for (auto const& [now, ranks] : group.now)
            all["not_waiting"].push_back({{"ranks", ranks},
                                          {"doing", name_of(group.like.doing)},
                                          {"call", group.like.call},
                                          {"place", group.like.place},
                                          {"now", now}});
    return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}   // namespace tutti::launcher
