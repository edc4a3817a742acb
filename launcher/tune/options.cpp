// SPDX-License-Identifier: BSD-3-Clause
// The options of tutti-tune's command line.
#include "launcher/tune/options.hpp"

#include <algorithm>
#include <bit>

#include "apps/options.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/text.hpp"

namespace tutti::tune {
namespace {

bool read_ranks(Options& o, std::string const& text) {
    o.ranks.clear();
    for (std::string const& word : topo::split_words(text, ",")) {
        std::optional<int> const ranks = topo::whole_number(word);
        if (!ranks || *ranks < 2 || *ranks > 4096) return false;
        o.ranks.push_back(*ranks);
    }
    std::ranges::sort(o.ranks);
    return true;
}

bool read_collectives(Options& o, std::string const& text) {
    o.collectives.clear();
    for (std::string const& word : topo::split_words(text, ","))
        if (!coll::find_collective(word, o.collectives.emplace_back())) return false;
    return true;
}

bool read_sizes(Options& o, std::string const& text) {
    std::vector<std::string> const bounds = topo::split_words(text, ":");
    auto const from = topo::parse_bytes(bounds.front()), to = topo::parse_bytes(bounds.back());
    if (bounds.size() != 2 || !from || !to || !std::has_single_bit(*from) || !std::has_single_bit(*to)) return false;
    o.smallest = *from;
    o.largest = *to;
    return o.smallest >= 8 && o.smallest <= o.largest && o.largest <= (std::size_t{1} << 30);
}

bool read_time(Options& o, std::string const& text) {
    std::size_t const unit = text.empty() ? std::string_view::npos : std::string_view("smh").find(text.back());
    bool const has_unit = unit != std::string_view::npos;
    if (!apps::read_number(text.substr(0, text.size() - has_unit), 1e-9, 1e6, o.seconds)) return false;
    for (std::size_t i = 0; has_unit && i < unit; ++i) o.seconds *= 60;
    return true;
}

std::vector<apps::Option> options_of(Options& o) {
    auto const reads = [&o](bool (*read)(Options&, std::string const&)) {
        return [&o, read](std::string const& text) { return read(o, text); };
    };
    return {
        {"-n", "LIST", "numbers of ranks of at least 2, such as 2,4,8",
         "numbers of ranks; each also represents the numbers below it (2, 4, 8 and so on, up to two per core)",
         reads(read_ranks)},
        {"--collectives", "LIST", "collectives such as bcast,allreduce",
         "only these collectives, such as bcast,allreduce; the file keeps its lines for others",
         reads(read_collectives)},
        {"--sizes", "FROM:TO", "two powers of two of at least 8, such as 8:1M",
         "bytes, powers of two (8:4M; smaller if each rank has a part for each other rank)", reads(read_sizes)},
        {"--time", "T", "a time such as 90s or 5m",
         "measuring time, such as 90s or 20m; longer measurements are more reliable. Cases that have not begun by then "
         "are omitted and reported (default: about 6s per collective and number of ranks)",
         reads(read_time)},
        {"--output", "FILE", "the name of a file, or -",
         "output file; - is standard output (default: a file in the user's configuration folder)",
         [&o](std::string const& text) {
             o.output = text;
             return true;
         }},
        apps::switch_option("--dry-run", o.dry_run, "print what would be measured, and write nothing"),
        apps::switch_option("--help", o.help, "this text"),
    };
}

[[noreturn]] void reject_unknown(std::string const& word, std::vector<apps::Option> const& options) {
    std::vector<std::string_view> known;
    for (apps::Option const& o : options) known.push_back(o.name);
    std::string const name = word.substr(0, word.find('=')), near = nearest(name, known);
    throw TuneError(
        join(name, " is not an option; ", near.empty() ? "--help lists them" : "did you mean " + near + "?"));
}

void set_defaults(Options& o, int cores) {
    if (o.ranks.empty())
        for (int n = 2; n <= std::max(8, 2 * cores) && n <= 4096; n *= 2) o.ranks.push_back(n);
    if (o.collectives.empty())
        for (int c = 0; c < coll::collectives; ++c) o.collectives.push_back(static_cast<coll::Collective>(c));
    if (o.output.empty()) o.output = user_tuning_path();
    if (o.output.empty() && !o.dry_run && !o.help)
        throw TuneError("neither HOME nor XDG_CONFIG_HOME is set; name a file with --output");
}

}   // namespace

Options parse_options(std::vector<std::string> const& words, int cores) {
    Options all;
    std::vector<apps::Option> const options = options_of(all);
    for (std::size_t at = 0; at < words.size();) {
        bool known = false;
        std::string const error = apps::parse_option(options, words, at, known);
        if (!known) reject_unknown(words[at], options);
        if (!error.empty()) throw TuneError(error);
    }
    set_defaults(all, cores);
    return all;
}

std::string help_text() {
    Options defaults;
    return "tutti-tune measures which algorithm is the fastest for each collective, number of ranks and size on this\n"
           "machine, and writes a table that later jobs read. Run nothing else at the same time.\n\n" +
           apps::help_text(options_of(defaults)) +
           "\nThe file is text and may be edited. tutti-info --table shows the current choices, TUTTI_TUNING=none\n"
           "ignores the file, and TUTTI_TUNING=FILE selects another one. In an installation, etc/tutti/tuning applies\n"
           "to all users.\n";
}

}   // namespace tutti::tune
