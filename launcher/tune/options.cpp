// SPDX-License-Identifier: BSD-3-Clause
// The parser of tutti-tune's command line.
#include "launcher/tune/options.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <sstream>

#include "runtime/base/error.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::tune {
namespace {

std::vector<std::string> split(std::string const& text) {
    std::vector<std::string> words;
    std::istringstream all(text);
    for (std::string word; std::getline(all, word, ',');) words.push_back(word);
    return words;
}

void parse_ranks(Options& o, std::string const& text) {
    o.ranks.clear();
    for (std::string const& word : split(text)) {
        int n = 0;
        auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
        if (error != std::errc{} || end != word.data() + word.size() || n < 2 || n > 4096)
            throw TuneError(join("-n needs numbers of ranks of at least 2, such as 2,4,8, not '", text, "'"));
        o.ranks.push_back(n);
    }
    std::ranges::sort(o.ranks);
}

void parse_collectives(Options& o, std::string const& text) {
    o.collectives.clear();
    for (std::string const& word : split(text)) {
        coll::Collective collective;
        if (!coll::find_collective(word, collective)) throw TuneError(join(word, " is not a collective"));
        o.collectives.push_back(collective);
    }
}

void parse_sizes(Options& o, std::string const& text) {
    std::size_t const colon = text.find(':');
    bool const read = colon != std::string::npos && coll::parse_bytes(text.substr(0, colon), o.smallest) &&
                      coll::parse_bytes(text.substr(colon + 1), o.largest);
    if (!read || !std::has_single_bit(o.smallest) || !std::has_single_bit(o.largest) || o.smallest < 8 ||
        o.smallest > o.largest || o.largest > (std::size_t{1} << 30))
        throw TuneError(join("--sizes needs two powers of two of at least 8, such as 8:1M, not '", text, "'"));
}

void parse_time(Options& o, std::string const& text) {
    char* end = nullptr;
    o.seconds = std::strtod(text.c_str(), &end);
    double const unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    bool const known = *end == 0 || (std::string_view("smh").find(*end) != std::string_view::npos && end[1] == 0);
    if (end == text.c_str() || !known || !(o.seconds > 0 && o.seconds < 1e6))
        throw TuneError(join("--time needs a time such as 90s or 5m, not '", text, "'"));
    o.seconds *= unit;
}

struct Option {
    char const *name, *argument, *description;
    void (*parse)(Options&, std::string const&);
};
constexpr Option options[] = {
    {"-n", "LIST",
     "numbers of ranks; each also represents the numbers below it (2, 4, 8 and so on, up to two per core)",
     parse_ranks},
    {"--collectives", "LIST", "only these collectives, such as bcast,allreduce; the file keeps its lines for others",
     parse_collectives},
    {"--sizes", "FROM:TO", "bytes, powers of two (8:4M; smaller if each rank has a part for each other rank)",
     parse_sizes},
    {"--time", "T",
     "measuring time, such as 90s or 20m; longer measurements are more reliable. Cases that have not begun by then are "
     "omitted and reported (default: about 6s per collective and number of ranks)",
     parse_time},
    {"--output", "FILE", "output file; - is standard output (default: a file in the user's configuration folder)",
     [](Options& o, std::string const& text) { o.output = text; }},
    {"--dry-run", "", "print what would be measured, and write nothing",
     [](Options& o, std::string const&) { o.dry_run = true; }},
    {"--help", "", "this text", [](Options& o, std::string const&) { o.help = true; }},
};

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
    for (std::size_t at = 0; at < words.size(); ++at) {
        std::string const name = words[at].substr(0, words[at].find('='));
        auto const* const option = std::ranges::find_if(options, [&](Option const& o) { return name == o.name; });
        if (option == std::end(options)) {
            std::vector<std::string_view> known;
            for (Option const& o : options) known.push_back(o.name);
            std::string const near = nearest(name, known);
            throw TuneError(
                join(name, " is not an option; ", near.empty() ? "--help lists them" : "did you mean " + near + "?"));
        }
        bool const has_equals = name.size() < words[at].size(), needs_value = option->argument[0] != 0;
        if (needs_value && !has_equals && at + 1 == words.size())
            throw TuneError(join(name, " needs ", option->argument));
        if (!needs_value && has_equals) throw TuneError(join(name, " takes no value"));
        option->parse(all, has_equals ? words[at].substr(name.size() + 1) : needs_value ? words[++at] : "");
    }
    set_defaults(all, cores);
    return all;
}

std::string help_text() {
    std::string text =
        "tutti-tune measures which algorithm is the fastest for each collective, number of ranks and size on this\n"
        "machine, and writes a table that later jobs read. Run nothing else at the same time.\n\n";
    for (Option const& o : options) {
        std::string head = join("  ", o.name, o.argument[0] ? " " : "", o.argument);
        head.resize(24, ' ');
        text += head + o.description + "\n";
    }
    return text +
           "\nThe file is text and may be edited. tutti-info --table shows the current choices, TUTTI_TUNING=none\n"
           "ignores the file, and TUTTI_TUNING=FILE selects another one. In an installation, etc/tutti/tuning applies\n"
           "to all users.\n";
}

}   // namespace tutti::tune
