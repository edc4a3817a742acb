// SPDX-License-Identifier: BSD-3-Clause
// The parser of the measuring program's command line.
#include "settings.hpp"

#include "results.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace bench {
namespace {

using apps::number_option, apps::read_number, apps::switch_option;

constexpr int max_number = 1'000'000'000;

bool read_bytes(std::string const& text, std::size_t& bytes) {
    char* end = nullptr;
    bytes = std::strtoull(text.c_str(), &end, 10);
    if (end == text.c_str() || !std::isdigit(static_cast<unsigned char>(text[0]))) return false;
    switch (std::toupper(*end)) {
    case '\0': return true;
    case 'K': bytes <<= 10; return !end[1];
    case 'M': bytes <<= 20; return !end[1];
    default: return false;
    }
}

bool read_sizes(std::string const& text, Settings& settings) {
    auto colon = text.find(':');
    return read_bytes(text.substr(0, colon), settings.smallest) &&
           read_bytes(colon == std::string::npos ? text : text.substr(colon + 1), settings.largest) &&
           settings.smallest > 0 && settings.smallest % sizeof(double) == 0 && settings.smallest <= settings.largest &&
           settings.largest <= (1u << 30);
}

bool read_root(std::string const& text, Settings& settings) {
    settings.root_by_root = text == "each";
    settings.root = every_root;
    return text == "each" || text == "every" || read_number(text, 0, max_number, settings.root);
}

bool read_computes(std::string const& text, Settings& settings) {
    settings.computes = every_rank;
    return text == "all" || read_number(text, 0, max_number, settings.computes);
}

constexpr char const* flavors[] = {"create", "allocate", "shared", "dynamic"};
constexpr char const* syncs[] = {"flush", "lock", "fence", "pscw"};

template <class Choice>
bool read_choice(std::string const& text, char const* const (&names)[4], Choice& choice) {
    auto const found = std::find(std::begin(names), std::end(names), text);
    choice = Choice(found - std::begin(names));
    return found != std::end(names);
}

bool read_hint(std::string const& text, Settings& settings) {
    settings.hints.push_back(text);
    auto const equals = text.find('=');
    return equals != std::string::npos && equals > 0 && equals + 1 < text.size();
}

/// Options of one-sided operations.
std::vector<Option> window_options(Settings& s) {
    return {
        {"--window", "create|allocate|shared|dynamic", "create, allocate, shared or dynamic",
         "for one-sided operations: the kind of window (create); create and dynamic use memory of malloc",
         [&s](auto& text) { return read_choice(text, flavors, s.window); }},
        {"--sync", "flush|lock|fence|pscw", "flush, lock, fence or pscw",
         "for one-sided operations: the synchronization that is timed with them (flush). flush: MPI_Win_flush, in one "
         "epoch of MPI_Win_lock_all; lock: MPI_Win_lock, shared, and MPI_Win_unlock; fence: one before and one after; "
         "pscw: MPI_Win_post, start, complete and wait",
         [&s](auto& text) { return read_choice(text, syncs, s.sync); }},
        number_option("--per-sync", "N", s.per_sync, 1, 100000,
                      "number of one-sided operations, each on its own numbers, between two synchronizations; times "
                      "are those of one operation, and two more columns show millions of operations and GB per second"),
    };
}

/// Returns the columns of --csv with blanks between them, so that the help can wrap them.
std::string csv_columns_text() {
    std::string text;
    for (char const c : csv_header()) text += c == ',' ? std::string(", ") : std::string(1, c);
    return text;
}

/// Options for comparing series, and for the output.
std::vector<Option> output_options(Settings& s) {
    return {
        {"--hint", "KEY=VALUE", "an info key and its value",
         "also measure on a communicator with this info key; may be repeated; the series alternate in blocks",
         [&s](auto& text) { return read_hint(text, s); }},
        {"--blocks", "N", "a whole number from 1 on",
         "number of blocks in which series and roots alternate (10; 1 if nothing is compared)",
         [&s](auto& text) { return read_number(text, 1, max_number, s.blocks); }},
        switch_option("--csv", s.csv,
                      "instead of the table, lines with these columns, which the first line names, in microseconds: " +
                          csv_columns_text() + "; a column is empty if its value was not measured",
                      "print lines of comma-separated values"),
        {"--json", "FILE", "a file's name", "write the results to this file, again after each line",
         [&s](auto& text) {
             s.json = text;
             return !text.empty();
         },
         "write the results to this file"},
        switch_option("--quiet", s.quiet,
                      "print the results, but neither the introduction, nor the progress, nor the names of the files "
                      "that are written"),
    };
}

}   // namespace

std::string name_of(Flavor flavor) { return flavors[int(flavor)]; }
std::string name_of(Sync sync) { return syncs[int(sync)]; }

std::vector<Option> options_of(Settings& s) {
    std::vector<Option> options{
        {"--sizes", "FROM:TO", "sizes in multiples of 8 bytes such as 8:1M, in ascending order, up to 1024M",
         "bytes, doubling in between, all numbers being doubles; K and M are understood (8:1M)",
         [&s](auto& text) { return read_sizes(text, s); }, "sizes in bytes, such as 8:1M"},
        {"--iterations", "N", "a whole number from 1 on", "maximum number of iterations per line (1000)",
         [&s](auto& text) { return read_number(text, 1, max_number, s.iterations); }},
        {"--warmup", "N", "a whole number", "iterations before measuring (20)",
         [&s](auto& text) { return read_number(text, 0, max_number, s.warmup); }},
        {"--seconds", "S", "a number of seconds", "maximum time per line (1)",
         [&s](auto& text) { return read_number(text, 0.0, 1e9, s.seconds); }, "maximum time per line"},
        {"--root", "R|every|each", "a rank, 'every' or 'each'",
         "for rooted operations: a rank; or 'every', another one at each iteration (every); or 'each', in alternating "
         "blocks, with three more columns: median, least and greatest of the roots' own medians",
         [&s](auto& text) { return read_root(text, s); }},
        switch_option("--cached", s.cached,
                      "write the buffers only once: the caches then help the benchmark as they seldom help a program"),
        {"--no-check", "", "", "do not check the results",
         [&s](auto&) {
             s.check = false;
             return true;
         }},
        switch_option("--loop", s.loop,
                      "one more column: the time per call in a loop of calls (100 of 16 KiB or less) between two "
                      "readings of the clock, as in IMB and osu_latency. A single call, which all ranks begin "
                      "together, shows how long a call occupies the slowest rank; a loop shows how long each further "
                      "call takes if calls follow each other: ranks may run ahead, so it is closer to the throughput "
                      "of one-way operations, and to the latency of operations with a reply. Before each call, one "
                      "number in each line of the buffers is altered; the time of that is subtracted",
                      "also the time per call in a loop of calls"),
        switch_option(
            "--bytes-per-call", s.bytes_per_call,
            "make one more call, of which the bytes that all ranks load and store are counted. A tutti-bench "
            "that starts the ranks itself prints them beside the value of the algorithm's formula, which assumes "
            "buffers that all ranks can access (at least TUTTI_ARENA_THRESHOLD bytes)"),
        switch_option("--phases", s.phases,
                      "for collectives whose algorithm has phases inside nodes and between them, such as "
                      "mpich_hierarchical: five more columns, the mean time per call that the nodes' masters spend on "
                      "their nodes before they communicate, among each other, and on their nodes afterwards; the "
                      "percentage that is between nodes; and by Amdahl's law the ideal time, which the call would take "
                      "if the phases inside nodes took none. Sets TUTTI_STATS=yes; '-' if there are no phases"),
        switch_option("--model", s.model,
                      "also measure what a message takes inside a node and between nodes (on one node: between rank 0 "
                      "and rank 1, and between rank 0 and the last one): latency and time per byte, by half a round "
                      "trip of 8 bytes and of 1 MiB. A tutti-bench that starts the ranks itself, or reads results with "
                      "--from, adds a series for each algorithm whose time the model of Zhu, Goodell, Gropp and Thakur "
                      "(EuroPVM/MPI 2009, section 3.1) states"),
        switch_option("--limit", s.limit,
                      "two more columns: the least time of handwritten kernels for the same memory traffic between the "
                      "same ranks, and the ratio of the operation's time to it; with --loop, two more for the loops. "
                      "The kernels know in advance the calls, their sizes and the addresses of all buffers. Up to 16 "
                      "KiB they are: lines of 56 bytes and a flag; copying into a slot of shared memory and out of it; "
                      "one copy from the sender's buffer, by the receiver or by all ranks together. Above, one copy by "
                      "all; for a barrier, a flag from each rank to all"),
        switch_option("--overlap", s.overlap,
                      "for nonblocking and persistent operations: three more columns, the time of a computation that "
                      "takes as long as the communication, the time of both with the computation between the start and "
                      "MPI_Wait, and the percentage of the communication that it hides: 100 (1 - (both - computation) "
                      "/ communication), as in the OSU micro-benchmarks, from 0 to 100"),
        {"--tests", "N", "a whole number", "with --overlap: number of calls of MPI_Test during the computation (0)",
         [&s](auto& text) { return read_number(text, 0, max_number, s.tests); }},
        {"--computes", "R|all", "a rank or 'all'",
         "with --overlap: the rank that computes (all). If it is a single rank, the others start the operation and "
         "wait for it, and all times are those of that rank: the hidden part is the work that the others did for it",
         [&s](auto& text) { return read_computes(text, s); }},
        {"--length", "X", "a number from 0.01 on",
         "with --overlap: the computation takes X times as long as the communication (1)",
         [&s](auto& text) { return read_number(text, 0.01, 1e6, s.length); }},
    };
    for (auto&& more : {window_options(s), output_options(s), apps::information_options(s.information)})
        options.insert(options.end(), more.begin(), more.end());
    return options;
}

std::string unknown_operation(std::string const& word) {
    std::vector<std::string> known;
    for (Group const& group : groups()) {
        known.push_back(group.name);
        for (Operation const& operation : group.operations) known.push_back(operation.name);
    }
    const std::string hint = tutti::topo::nearest_hint(word, known);
    return "there is no operation " + word + (hint.empty() ? "; --help lists them" : hint);
}

std::string add_operation(std::string const& word, Settings& settings) {
    auto const& all = groups();
    if (!find_operation(word) && std::none_of(all.begin(), all.end(), [&](auto& g) { return g.name == word; }))
        return unknown_operation(word);
    settings.operations.push_back(word);
    return "";
}

std::string check(Settings const& settings) {
    if (!settings.overlap)
        return settings.tests                    ? "--tests goes with --overlap"
               : settings.computes != every_rank ? "--computes goes with --overlap"
               : settings.length != 1            ? "--length goes with --overlap"
                                                 : "";
    if (settings.limit || settings.loop || settings.root_by_root)
        return "--overlap goes with none of --limit, --loop and --root each";
    for (Operation const* operation : chosen_operations(settings.operations, settings))
        if (operation->run)
            return "--overlap is for nonblocking and persistent operations, such as ibcast, not for " + operation->name;
    return "";
}

std::string check_ranks(Settings const& settings, int ranks) {
    const std::string number = std::to_string(ranks);
    if (settings.root >= ranks) return "--root must be a rank below " + number + ", 'every' or 'each'";
    if (settings.computes >= ranks) return "--computes must be a rank below " + number + " or 'all'";
    for (std::string const& name : settings.operations)
        if (Operation const* operation = find_operation(name); operation && operation->least_ranks > ranks)
            return name + " (" + operation->description + ") needs " + std::to_string(operation->least_ranks) +
                   " ranks; write -n " + std::to_string(operation->least_ranks) + " instead of -n " + number;
    return "";
}

std::vector<std::size_t> sizes_of(Operation const& operation, Settings const& settings) {
    if (operation.only_size) return {operation.only_size};
    if (operation.send == Blocks::none && operation.receive == Blocks::none) return {0};
    std::vector<std::size_t> sizes;
    for (std::size_t bytes = settings.smallest; bytes <= settings.largest; bytes *= 2) sizes.push_back(bytes);
    return sizes;
}

std::vector<Operation const*> chosen_operations(std::vector<std::string> const& names, Settings const& settings) {
    const std::vector<std::string> defaults{settings.overlap ? "nonblocking" : "blocking"};
    auto const& wanted = names.empty() ? defaults : names;
    auto named = [&](std::string const& name) { return std::find(wanted.begin(), wanted.end(), name) != wanted.end(); };
    std::vector<Operation const*> all;
    for (Group const& group : groups())
        for (Operation const& operation : group.operations)
            if (named(group.name) || named(operation.name)) all.push_back(&operation);
    return all;
}

std::string parse(std::vector<std::string> const& words, Settings& settings) {
    auto const options = options_of(settings);
    for (std::size_t at = 0; at < words.size();) {
        if (words[at].empty() || (words[at][0] != '-' && !apps::typographic_dash(words[at]))) {
            std::string error = add_operation(words[at++], settings);
            if (!error.empty()) return error;
            continue;
        }
        bool known = false;
        std::string error = apps::parse_option(options, words, at, known);
        if (!known) return apps::unknown_option(words[at], names_of(options));
        if (!error.empty()) return error;
    }
    return check(settings);
}

}   // namespace bench
