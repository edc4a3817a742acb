// SPDX-License-Identifier: BSD-3-Clause
// Plans the measurements and runs them.
#include "launcher/tune/plan.hpp"

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <sstream>

#include <sys/wait.h>

#include "coll/choice/choose.hpp"
#include "coll/env/area.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/files.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

// Starts tutti-bench and parses its output.

namespace tutti::tune {
namespace {

/// Quotes a word for the shell: ' becomes '\''.
std::string quoted(std::string const& word) {
    std::string all = "'";
    for (char c : word) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return all + "'";
}

std::string command_for(TuningCase const& tuning_case, std::vector<std::string> const& settings, double seconds) {
    auto const& sizes = tuning_case.sizes();
    double const all = seconds * static_cast<double>(sizes.size() * (settings.size() + 1));
    std::string command =
        join("exec ", quoted(topo::program_folder() + "/mpiexec"), " -n ", tuning_case.ranks(),
             " -genv TUTTI_QUIET yes -timeout ", static_cast<long>(60 + 10 * all), " ",
             quoted(topo::program_folder() + "/tutti-bench"), " --csv --warmup 4 --blocks 5 --seconds ", seconds);
    if (sizes.back() > 0) command += join(" --sizes ", sizes.front(), ":", sizes.back());
    for (std::string const& setting : settings)
        command += join(" --hint ", quoted(join("tutti_coll_", tuning_case.name(), "=", setting)));
    return command + " " + tuning_case.name() + " < /dev/null";
}

/// Returns the cells of a line of CSV. A cell in quotation marks may contain commas (RFC 4180).
std::vector<std::string> csv_cells(std::string const& line) {
    std::vector<std::string> cells(1);
    bool in_quotes = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && in_quotes && line[i + 1] == '"') cells.back() += line[++i];
        else if (line[i] == '"') in_quotes = !in_quotes;
        else if (line[i] == ',' && !in_quotes) cells.emplace_back();
        else cells.back() += line[i];
    }
    return cells;
}

/// The output of tutti-bench --csv.
class CsvReader {
public:
    /// Returns false for lines that are no measurement; the first line names the columns.
    bool parse(std::string const& line, std::size_t& size, std::string& setting, double& median) {
        std::vector<std::string> const cells = csv_cells(line);
        if (names_.empty()) names_ = cells;
        else if (cells.size() == names_.size()) {
            size = topo::parse_number<std::size_t>(at(cells, "bytes")).value_or(0);
            setting = at(cells, "series");
            median = std::strtod(at(cells, "median").c_str(), nullptr);
            return median > 0;
        }
        return false;
    }

private:
    std::string at(std::vector<std::string> const& cells, std::string_view name) const {
        auto const column = std::ranges::find(names_, name) - names_.begin();
        return static_cast<std::size_t>(column) < cells.size() ? cells[static_cast<std::size_t>(column)] : "";
    }

    std::vector<std::string> names_;
};

}   // namespace

Measurements measure(TuningCase const& tuning_case, std::vector<std::string> const& settings, double seconds,
                     std::function<void(std::size_t)> const& on_measured) {
    Measurements all;
    auto add_diagnostic = [&](std::string const& what) {
        all.diagnostics.push_back(join(tuning_case.name(), " among ", tuning_case.ranks(), " ranks: ", what));
    };
    std::signal(SIGCHLD, SIG_DFL);   // if our parent had set SIG_IGN, mpiexec's exit status would be lost
    FILE* const out = popen(command_for(tuning_case, settings, seconds).c_str(), "r");
    if (!out) return add_diagnostic("mpiexec cannot be started"), all;
    CsvReader reader;
    char* line = nullptr;
    std::size_t room = 0, size = 0;
    for (ssize_t length; (length = getline(&line, &room, out)) > 0;) {
        std::string const text(line, static_cast<std::size_t>(length) - (line[length - 1] == '\n'));
        std::string setting;
        double median = 0;
        if (reader.parse(text, size, setting, median)) {
            all.times[size][setting] = median;
            if (all.times[size].size() == settings.size() + 1) on_measured(size);
        } else if (text.find("WRONG") != std::string::npos) {   // follows the line that it is about
            add_diagnostic(text);
            if (!all.times.empty()) all.times[size].clear();
        }
    }
    std::free(line);
    int const status = pclose(out);
    if (status != 0 && all.diagnostics.empty()) add_diagnostic(join("mpiexec ended with code ", WEXITSTATUS(status)));
    return all;
}

namespace {

using coll::Collective;

topo::Hierarchy tree_of(topo::Machine const& machine, int ranks) {
    std::vector<int> numbers(static_cast<std::size_t>(ranks));
    std::iota(numbers.begin(), numbers.end(), 0);
    return topo::make_hierarchy(machine, topo::place_in_order(machine, ranks), numbers, {});
}

/// True if every rank has a part for, or from, each rank: buffers then hold one part per rank.
bool has_part_per_rank(Collective c) {
    return c == Collective::gather || c == Collective::scatter || c == Collective::allgather ||
           c == Collective::alltoall || c == Collective::reduce_scatter || c == Collective::neighbor_allgather ||
           c == Collective::neighbor_alltoall;
}

coll::Setting parsed(Collective collective, std::string const& setting) {
    std::vector<std::string> diagnostics;
    return parse_setting(collective, setting, "tutti-tune", diagnostics);
}

}   // namespace

TuningCase::TuningCase(Collective collective, int ranks, topo::Machine const& machine, Options const& options)
    : collective_(collective), ranks_(ranks), trees_(tree_of(machine, ranks)) {
    std::size_t const parts = has_part_per_rank(collective) ? std::bit_ceil(static_cast<unsigned>(ranks)) : 1;
    std::size_t const largest = std::max(options.smallest, options.largest / parts);
    if (collective == Collective::barrier) sizes_ = {0};
    else
        for (std::size_t size = options.smallest; size <= largest; size *= 2) sizes_.push_back(size);
}

std::size_t TuningCase::message_bytes(std::size_t size) const {
    if (collective_ == Collective::barrier) return coll::no_limit;
    return std::bit_ceil(collective_ == Collective::reduce_scatter ? size * static_cast<std::size_t>(ranks_) : size);
}

coll::CallTraits TuningCase::traits(std::size_t size) const {
    return {.ranks = ranks_,
            .levels = trees_.hierarchy.levels(),
            .bytes = collective_ == Collective::barrier ? 0 : message_bytes(size),
            .slot_bytes = coll::Area(nullptr, ranks_).slot_bytes(),
            .commutative = true,
            .commutative_or_consecutive = true,
            .has_kernels = true,
            .equal_parts = true};
}

bool TuningCase::can_execute(std::string const& setting, std::size_t size) const {
    return traits(size).suits(*parsed(collective_, setting).algorithm);
}

std::vector<std::string> TuningCase::candidates() const {
    std::vector<std::string> names;
    for (coll::AlgorithmRow const& row : coll::all_algorithms())
        if (row.collective == collective_ && can_execute(row.name, sizes_.front())) names.push_back(row.name);
    return names;
}

std::string TuningCase::default_setting(std::size_t size) const {
    auto const decision = decide(collective_, traits(size), {}, [this](auto*) -> coll::Trees const& { return trees_; });
    return text_of(*decision.setting);
}

std::vector<std::string> TuningCase::variants(std::string const& setting) const {
    std::vector<std::string> all;
    coll::Setting const base = parsed(collective_, setting);
    for (std::size_t i = 0; i < base.algorithm->parameters.size(); ++i) {
        auto const kind = base.algorithm->parameters[i].kind;
        if (kind != coll::ParameterKind::bytes && kind != coll::ParameterKind::per_level) continue;
        for (std::size_t const value : {base.values[i] / 2, base.values[i] * 2}) {
            coll::Setting other = base;
            other.values.set(i, std::max<std::size_t>(value, 64));
            all.push_back(text_of(other));
        }
    }
    return all;
}

// The options of tutti-tune's command line.

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

[[noreturn]] void throw_unknown_collective(std::string const& word) {
    std::vector<std::string> names;
    for (int c = 0; c < coll::collectives; ++c) names.push_back(name_of(static_cast<coll::Collective>(c)));
    std::string const hint = topo::nearest_hint(word, names);
    std::string all;
    for (std::string const& name : names) all += (all.empty() ? "; these are: " : ", ") + name;
    throw TuneError(join("--collectives: ", word, " is not a collective", hint.empty() ? all : hint));
}

bool read_collectives(Options& o, std::string const& text) {
    o.collectives.clear();
    for (std::string const& word : topo::split_words(text, ","))
        if (!coll::find_collective(word, o.collectives.emplace_back())) throw_unknown_collective(word);
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
    std::vector<apps::Option> all{
        {"-n", "LIST", "numbers of ranks of at least 2, such as 2,4,8",
         "numbers of ranks; each also represents the numbers below it (2, 4, 8 and so on, up to two per core)",
         reads(read_ranks), "numbers of ranks, such as 2,4,8"},
        {"--collectives", "COLLECTIVES", "collectives such as bcast,allreduce",
         "only these collectives, such as bcast,allreduce; the file keeps its lines for others",
         reads(read_collectives), "only these, such as bcast,allreduce"},
        {"--sizes", "FROM:TO", "two powers of two of at least 8, such as 8:1M",
         "bytes, powers of two (8:4M; smaller if each rank has a part for each other rank)", reads(read_sizes),
         "sizes in bytes, such as 8:1M"},
        {"--time", "T", "a time such as 90s or 5m",
         "measuring time, such as 90s or 20m; longer measurements are more reliable. Cases that have not begun by then "
         "are omitted and reported (default: about 6s per collective and number of ranks)",
         reads(read_time), "measuring time, such as 90s or 20m"},
        {"--output", "FILE", "the name of a file, or -",
         "output file; - is standard output (default: a file in the user's configuration folder)",
         [&o](std::string const& text) {
             o.output = text;
             return true;
         },
         "output file; - is standard output"},
        apps::switch_option("--quiet", o.quiet, "print neither what will be measured nor the progress"),
        apps::switch_option("--dry-run", o.dry_run, "print what would be measured, and write nothing",
                            "only print what would be measured"),
    };
    for (apps::Option& option : apps::information_options(o.information)) all.push_back(std::move(option));
    return all;
}

void set_defaults(Options& o, int cores) {
    if (o.ranks.empty())
        for (int n = 2; n <= std::max(8, 2 * cores) && n <= 4096; n *= 2) o.ranks.push_back(n);
    if (o.collectives.empty())
        for (int c = 0; c < coll::collectives; ++c) o.collectives.push_back(static_cast<coll::Collective>(c));
    if (o.output.empty()) o.output = user_tuning_path();
    if (o.output.empty() && !o.dry_run && !o.information.requested())
        throw TuneError("neither HOME nor XDG_CONFIG_HOME is set; name a file with --output");
}

}   // namespace

Options parse_options(std::vector<std::string> const& words, int cores) {
    Options all;
    std::vector<apps::Option> const options = options_of(all);
    try {
        apps::parse_options(options, words);
    } catch (std::invalid_argument const& error) { throw TuneError(error.what()); }
    set_defaults(all, cores);
    return all;
}

apps::Manual manual() {
    Options defaults;
    apps::Manual all;
    all.name = "tutti-tune";
    all.purpose =
        "measures which algorithm is the fastest for each collective, number of ranks and size on this machine, "
        "and writes a table that later jobs read";
    all.usage = {"tutti-tune [OPTION…]"};
    all.description =
        "Run nothing else at the same time. Progress is shown on standard error: a bar on a terminal, otherwise a line "
        "for each tenth of a longer measurement.";
    all.examples = {{"tutti-tune --time 20m", "measure everything in twenty minutes"},
                    {"tutti-tune -n 8 --collectives bcast,allreduce", "two collectives among up to eight ranks"},
                    {"tutti-tune --dry-run", "what would be measured, and how long that takes"}};
    all.sections = {
        {"options", "Options", "", apps::entries_of(options_of(defaults)), apps::Section::Kind::options},
        {"exit-codes", "Exit status",
         "0; 1 if nothing was measured; 2 for an invalid option, or a file that cannot be written."},
        {"files",
         "Files",
         "The file is text and may be edited. tutti-info --table shows the current choices, TUTTI_TUNING=none ignores "
         "the "
         "file, and TUTTI_TUNING=FILE selects another one.",
         {{"tutti/tuning", "", "In the user's configuration folder (XDG_CONFIG_HOME, default: .config in HOME)."},
          {"etc/tutti/tuning", "", "In an installation: for all users."}}}};
    all.see_also = "mpiexec(1), tutti-bench(1), tutti-info(1)";
    return all;
}

}   // namespace tutti::tune
