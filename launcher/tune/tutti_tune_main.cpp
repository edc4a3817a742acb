// SPDX-License-Identifier: BSD-3-Clause
// tutti-tune: measures the machine and writes the table of choices that later jobs read.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "apps/output_file.hpp"
#include "coll/choice/choose.hpp"
#include "launcher/base/text.hpp"
#include "launcher/tune/plan.hpp"
#include "launcher/tune/search.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "topo/detect.hpp"

// The plan as text, and the table as a file.

namespace tutti::tune {
namespace {

std::string today() {
    char text[32];
    std::time_t const now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

std::string file_header(topo::Machine const& machine, Search const& search) {
    std::string const unmeasured =
        search.unmeasured().empty() ? "" : join("# not measured for lack of time: ", search.unmeasured(), "\n");
    return join(tuning_head, "\n# machine: ", machine_summary(machine), "\n# date: ", today(), ", Tutti ",
                TUTTI_VERSION, ", measured by tutti-tune in ", std::lround(search.elapsed()), " seconds\n", unmeasured,
                "# collective [one_node|shared_cores|several_nodes|between_groups] [ranks<=N] [levels>=N] [bytes<=N] "
                "algorithm[:parameter=value,...]\n",
                "# The first matching line applies; if no line matches, the default table applies.\n");
}

coll::Rule rule_of(CaseResult const& f, std::size_t number) {
    std::vector<std::string> none;
    bool const last = number + 1 == f.size_ranges.size();   // the choice at the largest size also applies beyond it
    return {f.tuning_case->collective(),
            coll::CommKind::one_node,
            static_cast<std::size_t>(f.tuning_case->ranks()),
            1,
            last ? coll::no_limit : f.size_ranges[number].bytes,
            parse_setting(f.tuning_case->collective(), f.size_ranges[number].setting, "tutti-tune", none)};
}

std::string rule_lines(CaseResult const& f) {
    std::ostringstream out;
    for (std::size_t i = 0; i < f.size_ranges.size(); ++i) {
        SizeRange const& s = f.size_ranges[i];
        std::string line = text_of(rule_of(f, i));
        if (s.gain > 0) {
            line.resize(std::max<std::size_t>(line.size() + 2, 80), ' ');
            line += join("# up to ", std::lround(100 * s.gain), " % less time than ", s.default_setting);
        }
        out << line << "\n";
    }
    return out.str();
}

/// True if the collective's choice differs from the default for some number of ranks; otherwise its lines would be
/// useless.
bool should_write(std::vector<CaseResult> const& results, coll::Collective collective) {
    return std::ranges::any_of(results, [&](CaseResult const& f) {
        return f.tuning_case->collective() == collective && has_gain(f.size_ranges);
    });
}

/// Returns the lines of an older file for this machine about collectives that have not been measured this time.
std::string unchanged_lines(std::vector<CaseResult> const& results, topo::Machine const& machine,
                            std::string const& name) {
    std::vector<std::string> ignored;
    std::string lines;
    for (coll::Rule const& rule : coll::parse_rules(find_tuning_file("", {name}, machine).text, name, ignored)) {
        auto const measured = [&](CaseResult const& f) { return f.tuning_case->collective() == rule.collective; };
        if (std::ranges::none_of(results, measured)) lines += text_of(rule) + "\n";
    }
    return lines;
}

}   // namespace

namespace {

double expected_seconds(std::vector<TuningCase> const& tuning_cases, Options const& options) {
    return options.seconds > 0 ? options.seconds : default_seconds * static_cast<double>(tuning_cases.size());
}

}   // namespace

std::string introduction(std::vector<TuningCase> const& tuning_cases, topo::Machine const& machine,
                         Options const& options) {
    std::ostringstream out;
    out << "Measures " << options.collectives.size()
        << (options.collectives.size() == 1 ? " collective" : " collectives") << " of Tutti " << TUTTI_VERSION
        << " among ";
    for (int const& ranks : options.ranks) out << (&ranks == &options.ranks[0] ? "" : ", ") << ranks;
    out << " ranks, " << coll::text_of(options.smallest) << " to " << coll::text_of(options.largest)
        << " bytes, for about " << apps::duration_text(expected_seconds(tuning_cases, options))
        << ".\nMachine: " << machine_summary(machine)
        << "\nOutput: " << (options.output == "-" ? "standard output" : options.output) << "\n";
    return out.str();
}

std::string plan_text(std::vector<TuningCase> const& tuning_cases, topo::Machine const& machine,
                      Options const& options) {
    std::ostringstream out;
    out << machine_summary(machine) << "\nWould measure for about "
        << apps::duration_text(expected_seconds(tuning_cases, options)) << ":\n";
    for (TuningCase const& tuning_case : tuning_cases) {
        std::string line = join(tuning_case.name(), " among ", tuning_case.ranks(), " ranks");
        if (tuning_case.sizes().back() > 0)
            line += join(", ", coll::text_of(tuning_case.sizes().front()), " to ",
                         coll::text_of(tuning_case.sizes().back()), " bytes");
        char const* before = ": ";
        for (std::string const& candidate : tuning_case.candidates()) line += before + candidate, before = ", ";
        out << "  " << apps::wrapped(line, 4);
    }
    out << "and write " << options.output << "\n";
    return out.str();
}

void check_output(Options const& options) {
    if (options.output == "-") return;
    std::error_code error;
    std::filesystem::path const path(options.output);
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw TuneError(apps::not_writable(options.output, error.value()));
    std::string beginning(tuning_head.substr(0, tuning_head.rfind(' ')));   // of any version
    std::erase(beginning, ' ');
    std::string const why = apps::output_error(options.output, "tutti-tune", apps::beginning_with({beginning}));
    if (!why.empty()) throw TuneError(why);
}

void write_table(Search const& search, topo::Machine const& machine, Options const& options) {
    std::vector<CaseResult> const& results = search.results();
    if (results.empty()) throw TuneError("nothing was measured, so nothing is written");
    std::string text = file_header(machine, search);
    for (coll::Collective const c : options.collectives)
        for (CaseResult const& f : results)
            if (f.tuning_case->collective() == c && should_write(results, c)) text += rule_lines(f);
    text += unchanged_lines(results, machine, options.output);
    if (options.output == "-") {
        if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
            throw TuneError(apps::not_writable("standard output", errno));
        return;
    }
    if (std::string const why = apps::replace_file(options.output, text); !why.empty()) throw TuneError(why);
    std::printf("Written to %s; tutti-info --table shows the current choices, TUTTI_TUNING=none ignores the file.\n",
                options.output.c_str());
}

}   // namespace tutti::tune

extern char** environ;

namespace {

using namespace tutti;
using namespace tutti::tune;

/// Unsets the environment variables that choose algorithms and disables older tuning files, so that only tutti-tune's
/// choices apply.
void clear_choices() {
    for (char** entry = environ; *entry;) {
        std::string_view const name(*entry, std::string_view(*entry).find('='));
        if (name.starts_with("TUTTI_COLL")) unsetenv(std::string(name).c_str());
        else ++entry;
    }
    setenv("TUTTI_TUNING", "none", 1);
}

int run(std::vector<std::string> const& words) {
    char const* const topology = std::getenv("TUTTI_TOPOLOGY");
    topo::Result<topo::Machine> const machine = topo::read_machine(topology ? topology : "");
    if (!machine) throw TuneError(machine.error());
    Options const options = parse_options(words, machine->core_count());
    if (options.information.requested())
        return launcher::print("tutti-tune", apps::information_text(manual(), options.information));
    std::vector<TuningCase> tuning_cases;   // smallest numbers of ranks first, because their lines are required
    for (int const ranks : options.ranks)
        for (coll::Collective const c : options.collectives) tuning_cases.emplace_back(c, ranks, *machine, options);
    if (options.dry_run) return launcher::print("tutti-tune", plan_text(tuning_cases, *machine, options));
    check_output(options);
    clear_choices();
    if (!options.quiet) {   // the table has standard output for itself
        std::FILE* const out = options.output == "-" ? stderr : stdout;
        std::fputs(introduction(tuning_cases, *machine, options).c_str(), out);
        std::fflush(out);
    }
    Search const search(tuning_cases, options.seconds, options.quiet);
    for (std::string const& error : search.diagnostics()) std::fprintf(stderr, "tutti-tune: %s.\n", error.c_str());
    write_table(search, *machine, options);
    return search.results().empty();
}

}   // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (TuneError const& error) {
        return apps::print_error("tutti-tune", error.what(), 2);
    } catch (std::invalid_argument const& error) {
        return apps::print_error("tutti-tune", error.what(), 2);
    } catch (std::exception const& error) { return apps::print_error("tutti-tune", error.what(), 1); }
}
