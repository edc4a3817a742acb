// SPDX-License-Identifier: BSD-3-Clause
// The parser of the measuring program's command line.
#include "settings.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ostream>
#include <sstream>

namespace bench {
namespace {

constexpr std::size_t column = 24, width = 110;

void print_wrapped(std::ostream& out, std::string const& text) {
    std::istringstream words(text);
    std::size_t at = column;
    for (std::string word; words >> word; at += word.size() + 1) {
        if (at + word.size() > width) {
            out << "\n" << std::string(column, ' ');
            at = column;
        } else if (at > column) {
            out << ' ';
        }
        out << word;
    }
    out << "\n";
}

}   // namespace

std::string take_option(std::vector<Option> const& options, std::vector<std::string> const& words, std::size_t& at,
                        bool& known) {
    std::string const& word = words[at];
    const std::size_t equals = word.find('=');
    for (Option const& option : options) {
        if (word.substr(0, equals) != option.name) continue;
        known = true;
        bool const joined = equals != std::string::npos, takes = option.argument[0] != 0;
        if (joined && !takes) return std::string(option.name) + " takes no argument";
        if (takes && !joined && at + 1 == words.size()) return std::string(option.name) + " needs " + option.expects;
        const std::string argument = joined ? word.substr(equals + 1) : takes ? words[at + 1] : "";
        at += takes && !joined ? 2 : 1;
        if (!option.take(argument))
            return std::string(option.name) + " needs " + option.expects + ", not '" + argument + "'";
        return "";
    }
    known = false;
    return "";
}

void print_options(std::ostream& out, std::vector<Option> const& options) {
    for (Option const& option : options) {
        const std::string head = std::string("  ") + option.name + (option.argument[0] ? " " : "") + option.argument;
        out << head
            << (head.size() + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - head.size(), ' '));
        print_wrapped(out, option.sentence);
    }
}

bool read_number(std::string const& text, double least, double most, double& number) {
    char* end = nullptr;
    double const value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value >= least && value <= most)) return false;
    number = value;
    return true;
}

bool read_number(std::string const& text, int least, int most, int& number) {
    double value;
    if (!read_number(text, double(least), double(most), value) || value != int(value)) return false;
    number = int(value);
    return true;
}

namespace {

constexpr int many = 1'000'000'000;

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
    return text == "each" || text == "every" || read_number(text, 0, many, settings.root);
}

bool read_computes(std::string const& text, Settings& settings) {
    settings.computes = every_rank;
    return text == "all" || read_number(text, 0, many, settings.computes);
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
        {"--window", "W", "create, allocate, shared or dynamic",
         "of one-sided operations: which window (create); create and dynamic are over memory of malloc",
         [&s](auto& text) { return read_choice(text, flavors, s.window); }},
        {"--sync", "S", "flush, lock, fence or pscw",
         "of one-sided operations: what is timed with them (flush). flush: MPI_Win_flush, in one epoch of "
         "MPI_Win_lock_all; lock: MPI_Win_lock, shared, and MPI_Win_unlock; fence: one before and one behind; pscw: "
         "MPI_Win_post, start, complete and wait",
         [&s](auto& text) { return read_choice(text, syncs, s.sync); }},
        {"--per-sync", "N", "a whole number from 1 to 100000",
         "so many one-sided operations, each on numbers of its own, between two synchronisations (1); times are those "
         "of one operation, and there are two columns more: millions of operations and GB per second",
         [&s](auto& text) { return read_number(text, 1, 100000, s.per_sync); }},
    };
}

/// Options for comparing series, and for the output.
std::vector<Option> output_options(Settings& s) {
    return {
        {"--hint", "KEY=VALUE", "an info key and its value",
         "measure once more on a communicator that was given this info key; may be repeated; the series alternate in "
         "blocks",
         [&s](auto& text) { return read_hint(text, s); }},
        {"--blocks", "N", "a whole number from 1 on",
         "in how many blocks series and roots take turns (10; 1 where nothing is compared)",
         [&s](auto& text) { return read_number(text, 1, many, s.blocks); }},
        {"--csv", "", "",
         "lines of operation,ranks,bytes,iterations,median,least,greatest in microseconds; then what --root each, "
         "--limit, --loop, both of these together, --overlap and --per-sync add, empty where there is nothing; then "
         "the algorithm that did it, where the library tells; then the hint's value",
         [&s](auto&) { return s.csv = true; }},
        {"--json", "FILE", "a file's name", "write the results there, anew after each line",
         [&s](auto& text) {
             s.json = text;
             return !text.empty();
         }},
        {"--help", "", "", "this text", [&s](auto&) { return s.help = true; }},
    };
}

}   // namespace

std::string name_of(Flavor flavor) { return flavors[int(flavor)]; }
std::string name_of(Sync sync) { return syncs[int(sync)]; }

std::vector<Option> options_of(Settings& s) {
    auto turn_on = [](bool& flag) { return [&flag](const std::string&) { return flag = true; }; };
    std::vector<Option> options{
        {"--sizes", "FROM:TO", "sizes in multiples of 8 bytes such as 8:1M",
         "bytes, doubling in between, all numbers being doubles; K and M are understood (8:1M)",
         [&s](auto& text) { return read_sizes(text, s); }},
        {"--iterations", "N", "a whole number from 1 on", "at most so many per line (1000)",
         [&s](auto& text) { return read_number(text, 1, many, s.iterations); }},
        {"--warmup", "N", "a whole number", "iterations before measuring (20)",
         [&s](auto& text) { return read_number(text, 0, many, s.warmup); }},
        {"--seconds", "S", "a number of seconds", "at most so long per line (1)",
         [&s](auto& text) { return read_number(text, 0.0, 1e9, s.seconds); }},
        {"--root", "R", "a rank, 'every' or 'each'",
         "of rooted operations: a rank; or 'every', another one at each iteration (every); or 'each', in blocks that "
         "alternate, with three columns more: median, least and greatest of the roots' own medians",
         [&s](auto& text) { return read_root(text, s); }},
        {"--cached", "", "",
         "write the buffers once and leave them as they are between iterations: what the caches do for a benchmark, "
         "and seldom for a program",
         turn_on(s.cached)},
        {"--no-check", "", "", "do not look at the results",
         [&s](auto&) {
             s.check = false;
             return true;
         }},
        {"--loop", "", "",
         "a column more: the time per call of a loop of calls (100 of 16 KiB or less) between two readings of the "
         "clock, as the IMB and osu_latency have it. Single calls, which the ranks begin together, say how long one "
         "call keeps the slowest rank; a loop, how long one more call takes where calls follow each other: ranks may "
         "run ahead, so it is nearer to the throughput of what goes one way, and to the latency of what comes back. "
         "Before each call a number is altered in each line of the buffers; the time of that is taken off",
         turn_on(s.loop)},
        {"--limit", "", "",
         "two columns more: the least time that kernels written by hand take for the same memory traffic between the "
         "same ranks, and the operation's time divided by it; with --loop, two more for the loops. The kernels know "
         "beforehand who calls what with which sizes and where all buffers lie. Up to 16 KiB they are: lines of 56 "
         "bytes and a flag; copying into a slot of shared memory and out of it; one copy from the sender's buffer, by "
         "the receiver or by all ranks together. Above, one copy by all; of a barrier, a flag from each rank to all",
         turn_on(s.limit)},
        {"--overlap", "", "",
         "of nonblocking and persistent operations: three columns more, the time of a computation that takes as long "
         "as the communication, that of both when the computation lies between the start and MPI_Wait, and how many "
         "percent of the communication it hides: 100 (1 - (both - computation) / communication), as the OSU "
         "micro-benchmarks have it, from 0 to 100",
         turn_on(s.overlap)},
        {"--tests", "N", "a whole number", "with --overlap: calls of MPI_Test in the course of the computation (0)",
         [&s](auto& text) { return read_number(text, 0, many, s.tests); }},
        {"--computes", "R", "a rank or 'all'",
         "with --overlap: who computes (all). Where it is one rank, the others start the operation and wait for it, "
         "and all times are those of that rank: what is hidden is what the others did in its place",
         [&s](auto& text) { return read_computes(text, s); }},
        {"--length", "X", "a number from 0.01 on",
         "with --overlap: the computation takes X times as long as the communication (1)",
         [&s](auto& text) { return read_number(text, 0.01, 1e6, s.length); }},
    };
    for (auto&& more : {window_options(s), output_options(s)}) options.insert(options.end(), more.begin(), more.end());
    return options;
}

std::string take_operation(std::string const& word, Settings& settings) {
    auto const& all = groups();
    if (!find_operation(word) && std::none_of(all.begin(), all.end(), [&](auto& g) { return g.name == word; }))
        return "there is no operation " + word + "; --help lists them";
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
        if (words[at].empty() || words[at][0] != '-') {
            std::string complaint = take_operation(words[at++], settings);
            if (!complaint.empty()) return complaint;
            continue;
        }
        bool known = false;
        std::string complaint = take_option(options, words, at, known);
        if (!known) return "there is no option " + words[at] + "; --help lists them";
        if (!complaint.empty()) return complaint;
    }
    return check(settings);
}

}   // namespace bench
