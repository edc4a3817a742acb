// SPDX-License-Identifier: BSD-3-Clause
// tutti-tune: measures the machine and writes the table of choices that later jobs read.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

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

std::string temporary_name(std::string const& name) { return name + ".new"; }

[[noreturn]] void throw_not_writable(std::string const& name, int why) {
    throw TuneError(join(name, " cannot be written: ", std::strerror(why)));
}

/// Returns true if the file is empty or a tuning file, of whatever version.
bool may_replace(std::string const& name) {
    std::string_view const head = tuning_head.substr(0, tuning_head.rfind(' ') + 1);
    std::string begin(head.size(), '\0');
    std::ifstream file(name, std::ios::binary);
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return file.is_open() && (file.gcount() == 0 || begin == head);
}

/// Creates the file anew: in a folder that everyone can write to, a link of that name might lead elsewhere. Throws
/// TuneError.
std::FILE* create_new_file(std::string const& name) {
    std::remove(temporary_name(name).c_str());
    std::FILE* const file = std::fopen(temporary_name(name).c_str(), "wxe");
    if (!file) throw_not_writable(name, errno);
    return file;
}

/// Replaces the file atomically: a job that starts meanwhile reads the old file or the new one.
void write_atomically(std::string const& name, std::string const& text) {
    std::FILE* const file = create_new_file(name);
    errno = 0;
    bool const written = std::fputs(text.c_str(), file) >= 0;
    if (std::fclose(file) != 0 || !written) throw_not_writable(name, errno ? errno : EIO);
    std::error_code error;
    std::filesystem::rename(temporary_name(name), name, error);
    if (error) throw_not_writable(name, error.value());
}

}   // namespace

std::string plan_text(std::vector<TuningCase> const& tuning_cases, topo::Machine const& machine,
                      Options const& options) {
    std::ostringstream out;
    double const seconds =
        options.seconds > 0 ? options.seconds : default_seconds * static_cast<double>(tuning_cases.size());
    out << machine_summary(machine) << "\nWould measure for about " << std::lround(seconds) << " seconds:\n";
    for (TuningCase const& tuning_case : tuning_cases) {
        out << "  " << tuning_case.name() << " among " << tuning_case.ranks() << " ranks";
        if (tuning_case.sizes().back() > 0)
            out << ", " << coll::text_of(tuning_case.sizes().front()) << " to "
                << coll::text_of(tuning_case.sizes().back()) << " bytes";
        char const* before = ": ";
        for (std::string const& candidate : tuning_case.candidates()) out << before << candidate, before = ", ";
        out << "\n";
    }
    out << "and write " << options.output << "\n";
    return out.str();
}

void check_output(Options const& options) {
    if (options.output == "-") return;
    std::error_code error;
    std::filesystem::path const path(options.output);
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw_not_writable(options.output, error.value());
    auto const kind = std::filesystem::status(path, error).type();
    if (kind == std::filesystem::file_type::directory) throw_not_writable(options.output, EISDIR);
    if (std::filesystem::exists(path, error) && kind != std::filesystem::file_type::regular)
        throw TuneError(join(options.output, " is a device or a pipe; --output - writes to standard output"));
    if (kind == std::filesystem::file_type::regular && !may_replace(options.output))
        throw TuneError(
            join(options.output, " exists and is not a tuning file; remove it or choose another name with --output"));
    std::fclose(create_new_file(options.output));
    std::filesystem::remove(temporary_name(options.output), error);
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
            throw_not_writable("standard output", errno);
        return;
    }
    write_atomically(options.output, text);
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
    if (options.short_help) return launcher::print("tutti-tune", apps::short_help(manual()));
    if (options.help) return launcher::print("tutti-tune", apps::help_on(manual(), *options.help));
    std::vector<TuningCase> tuning_cases;   // smallest numbers of ranks first, because their lines are required
    for (int const ranks : options.ranks)
        for (coll::Collective const c : options.collectives) tuning_cases.emplace_back(c, ranks, *machine, options);
    if (options.dry_run) return launcher::print("tutti-tune", plan_text(tuning_cases, *machine, options));
    check_output(options);
    clear_choices();
    Search const search(tuning_cases, options.seconds);
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
