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
#include <sstream>

#include "coll/choice/tuning.hpp"
#include "launcher/base/text.hpp"
#include "launcher/tune/options.hpp"
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

std::string head(topo::Machine const& machine, Search const& search) {
    std::string const left_out =
        search.left_out().empty() ? "" : join("# not measured for lack of time: ", search.left_out(), "\n");
    return join(tuning_head, "\n# machine: ", machine_words(machine), "\n# date: ", today(), ", Tutti ", TUTTI_VERSION,
                ", measured by tutti-tune in ", std::lround(search.elapsed()), " seconds\n", left_out,
                "# collective [one_node|shared_cores|several_nodes|between_groups] [ranks<=N] [levels>=N] [bytes<=N] "
                "algorithm[:parameter=value,...]\n",
                "# Of the lines that fit a call the first holds; where none fits, the default table does.\n");
}

coll::Rule rule_of(Found const& f, std::size_t number) {
    std::vector<std::string> none;
    bool const last = number + 1 == f.stretches.size();   // the choice at the largest size also applies beyond it
    return {f.contest->collective(),
            coll::Where::one_node,
            static_cast<std::size_t>(f.contest->ranks()),
            1,
            last ? coll::no_limit : f.stretches[number].bytes,
            parse_setting(f.contest->collective(), f.stretches[number].setting, "tutti-tune", none)};
}

std::string lines_of(Found const& f) {
    std::ostringstream out;
    for (std::size_t i = 0; i < f.stretches.size(); ++i) {
        Stretch const& s = f.stretches[i];
        std::string line = text_of(rule_of(f, i));
        if (s.gain > 0) {
            line.resize(std::max<std::size_t>(line.size() + 2, 80), ' ');
            line += join("# up to ", std::lround(100 * s.gain), " % less time than ", s.standard);
        }
        out << line << "\n";
    }
    return out.str();
}

/// True if the collective's choice differs from the default for some number of ranks; otherwise its lines would be
/// useless.
bool worth_a_line(std::vector<Found> const& found, coll::Collective collective) {
    return std::ranges::any_of(
        found, [&](Found const& f) { return f.contest->collective() == collective && differs(f.stretches); });
}

/// Returns the lines of an older file for this machine about collectives that have not been measured this time.
std::string kept_lines(std::vector<Found> const& found, topo::Machine const& machine, std::string const& name) {
    std::vector<std::string> ignored;
    std::string lines;
    for (coll::Rule const& rule : coll::parse_rules(find_tuning("", {name}, machine).text, name, ignored)) {
        auto const measured = [&](Found const& f) { return f.contest->collective() == rule.collective; };
        if (std::ranges::none_of(found, measured)) lines += text_of(rule) + "\n";
    }
    return lines;
}

std::string fresh_name(std::string const& name) { return name + ".new"; }

[[noreturn]] void not_writable(std::string const& name, int why) {
    throw Complaint(join(name, " cannot be written: ", std::strerror(why)));
}

/// Creates the file anew: in a folder that everyone can write to, a link of that name might lead elsewhere. Throws
/// Complaint.
std::FILE* open_fresh(std::string const& name) {
    std::remove(fresh_name(name).c_str());
    std::FILE* const file = std::fopen(fresh_name(name).c_str(), "wxe");
    if (!file) not_writable(name, errno);
    return file;
}

/// Replaces the file atomically: a job that starts meanwhile reads the old file or the new one.
void write_whole(std::string const& name, std::string const& text) {
    std::FILE* const file = open_fresh(name);
    errno = 0;
    bool const written = std::fputs(text.c_str(), file) >= 0;
    if (std::fclose(file) != 0 || !written) not_writable(name, errno ? errno : EIO);
    std::error_code error;
    std::filesystem::rename(fresh_name(name), name, error);
    if (error) not_writable(name, error.value());
}

}   // namespace

std::string plan_text(std::vector<Contest> const& contests, topo::Machine const& machine, Options const& options) {
    std::ostringstream out;
    double const seconds = options.seconds > 0 ? options.seconds : usual_seconds * static_cast<double>(contests.size());
    out << machine_words(machine) << "\nWould measure for about " << std::lround(seconds) << " seconds:\n";
    for (Contest const& contest : contests) {
        out << "  " << contest.name() << " among " << contest.ranks() << " ranks";
        if (contest.sizes().back() > 0)
            out << ", " << coll::text_of(contest.sizes().front()) << " to " << coll::text_of(contest.sizes().back())
                << " bytes";
        char const* before = ": ";
        for (std::string const& candidate : contest.candidates()) out << before << candidate, before = ", ";
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
    if (error) not_writable(options.output, error.value());
    auto const kind = std::filesystem::status(path, error).type();
    if (kind == std::filesystem::file_type::directory) not_writable(options.output, EISDIR);
    if (std::filesystem::exists(path, error) && kind != std::filesystem::file_type::regular)
        throw Complaint(join(options.output, " is a device or a pipe; --output - writes to standard output"));
    std::fclose(open_fresh(options.output));
    std::filesystem::remove(fresh_name(options.output), error);
}

void write_table(Search const& search, topo::Machine const& machine, Options const& options) {
    std::vector<Found> const& found = search.found();
    if (found.empty()) throw Complaint("nothing was measured, so nothing is written");
    std::string text = head(machine, search);
    for (coll::Collective const c : options.collectives)
        for (Found const& f : found)
            if (f.contest->collective() == c && worth_a_line(found, c)) text += lines_of(f);
    text += kept_lines(found, machine, options.output);
    if (options.output == "-") {
        if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) not_writable("standard output", errno);
        return;
    }
    write_whole(options.output, text);
    std::printf("Written to %s; tutti-info --table shows what is in force, TUTTI_TUNING=none leaves it out.\n",
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
    char const* const pretended = std::getenv("TUTTI_TOPOLOGY");
    topo::Result<topo::Machine> const machine = topo::read_machine(pretended ? pretended : "");
    if (!machine) throw Complaint(machine.error());
    Options const options = parse_options(words, machine->core_count());
    if (options.help) return launcher::print("tutti-tune", help_text());
    std::vector<Contest> contests;   // smallest numbers of ranks first, because their lines are required
    for (int const ranks : options.ranks)
        for (coll::Collective const c : options.collectives) contests.emplace_back(c, ranks, *machine, options);
    if (options.dry_run) return launcher::print("tutti-tune", plan_text(contests, *machine, options));
    check_output(options);
    clear_choices();
    Search const search(contests, options.seconds);
    for (std::string const& complaint : search.complaints())
        std::fprintf(stderr, "tutti-tune: %s.\n", complaint.c_str());
    write_table(search, *machine, options);
    return search.found().empty();
}

}   // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (Complaint const& complaint) {
        std::fprintf(stderr, "tutti-tune: %s.\n", complaint.what());
        return 2;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "tutti-tune: %s.\n", error.what());
        return 1;
    }
}
