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

void take_ranks(Options& o, std::string const& text) {
    o.ranks.clear();
    for (std::string const& word : split(text)) {
        int n = 0;
        auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
        if (error != std::errc{} || end != word.data() + word.size() || n < 2 || n > 4096)
            throw Complaint(join("-n wants numbers of ranks from 2 on such as 2,4,8, not '", text, "'"));
        o.ranks.push_back(n);
    }
    std::ranges::sort(o.ranks);
}

void take_collectives(Options& o, std::string const& text) {
    o.collectives.clear();
    for (std::string const& word : split(text)) {
        coll::Collective collective;
        if (!coll::find_collective(word, collective)) throw Complaint(join(word, " is not a collective"));
        o.collectives.push_back(collective);
    }
}

void take_sizes(Options& o, std::string const& text) {
    std::size_t const colon = text.find(':');
    bool const read = colon != std::string::npos && coll::parse_bytes(text.substr(0, colon), o.smallest) &&
                      coll::parse_bytes(text.substr(colon + 1), o.largest);
    if (!read || !std::has_single_bit(o.smallest) || !std::has_single_bit(o.largest) || o.smallest < 8 ||
        o.smallest > o.largest || o.largest > (std::size_t{1} << 30))
        throw Complaint(join("--sizes wants two powers of two from 8 on such as 8:1M, not '", text, "'"));
}

void take_time(Options& o, std::string const& text) {
    char* end = nullptr;
    o.seconds = std::strtod(text.c_str(), &end);
    double const unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    bool const known = *end == 0 || (std::string_view("smh").find(*end) != std::string_view::npos && end[1] == 0);
    if (end == text.c_str() || !known || !(o.seconds > 0 && o.seconds < 1e6))
        throw Complaint(join("--time wants a time such as 90s or 5m, not '", text, "'"));
    o.seconds *= unit;
}

struct Option {
    char const *name, *argument, *sentence;
    void (*take)(Options&, std::string const&);
};
constexpr Option options[] = {
    {"-n", "LIST", "numbers of ranks; each stands for those below it (2, 4, 8 and so on, up to two for each core)",
     take_ranks},
    {"--collectives", "LIST", "only these, such as bcast,allreduce; lines of others stay in the file",
     take_collectives},
    {"--sizes", "FROM:TO", "bytes, powers of two (8:4M; where each rank has a part for each, parts are smaller)",
     take_sizes},
    {"--time", "T",
     "how long to measure, such as 90s or 20m; the longer, the surer. What has not begun by then is left out and told "
     "(about 6s for each collective and number of ranks, and all of them)",
     take_time},
    {"--output", "FILE", "where to write; - is standard output (the user's configuration folder)",
     [](Options& o, std::string const& text) { o.output = text; }},
    {"--dry-run", "", "say what would be measured, and write nothing",
     [](Options& o, std::string const&) { o.dry_run = true; }},
    {"--help", "", "this text", [](Options& o, std::string const&) { o.help = true; }},
};

void fill_in(Options& o, int cores) {
    if (o.ranks.empty())
        for (int n = 2; n <= std::max(8, 2 * cores) && n <= 4096; n *= 2) o.ranks.push_back(n);
    if (o.collectives.empty())
        for (int c = 0; c < coll::collectives; ++c) o.collectives.push_back(static_cast<coll::Collective>(c));
    if (o.output.empty()) o.output = user_tuning_name();
    if (o.output.empty() && !o.dry_run && !o.help)
        throw Complaint("there is neither HOME nor XDG_CONFIG_HOME: --output must say where to write");
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
            throw Complaint(
                join(name, " is not an option; ", near.empty() ? "--help lists them" : "did you mean " + near + "?"));
        }
        bool const inside = name.size() < words[at].size(), wants = option->argument[0] != 0;
        if (wants && !inside && at + 1 == words.size()) throw Complaint(join(name, " wants ", option->argument));
        if (!wants && inside) throw Complaint(join(name, " takes no value"));
        option->take(all, inside ? words[at].substr(name.size() + 1) : wants ? words[++at] : "");
    }
    fill_in(all, cores);
    return all;
}

std::string help_text() {
    std::string text =
        "tutti-tune measures which algorithm is the fastest for which collective, number of ranks and size on this\n"
        "machine, and writes a table that every job reads from then on. Nothing else should run meanwhile.\n\n";
    for (Option const& o : options) {
        std::string head = join("  ", o.name, o.argument[0] ? " " : "", o.argument);
        head.resize(24, ' ');
        text += head + o.sentence + "\n";
    }
    return text +
           "\nThe file is text and may be edited. tutti-info --table shows what is in force, TUTTI_TUNING=none leaves\n"
           "it out, TUTTI_TUNING=FILE takes another one. In an installation, etc/tutti/tuning is for all users.\n";
}

}   // namespace tutti::tune
