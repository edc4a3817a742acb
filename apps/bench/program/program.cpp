// SPDX-License-Identifier: BSD-3-Clause
// The measuring program: measures the chosen operations and reports the results, from its arguments to its exit code.
#include "../../output_file.hpp"
#include "measure.hpp"
#include "settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

// The output of rank 0: the table or CSV on the terminal, the JSON file, messages about wrong results.

void print_error(std::string const& error) { apps::print_error("tutti-bench", error, 0); }

/// Only rank 0 calls the member functions other than the constructor and ranks(). The JSON file is rewritten after
/// every call of add().
class Report {
public:
    /// `results`: what has been measured before all operations.
    Report(Settings const& settings, Results results, Variants const& variants, MPI_Comm comm);

    int ranks() const { return results_.ranks; }
    void add(std::vector<Outcome> const& outcomes);       ///< of one operation at one size, as measure() returns them
    void add_unsupported(std::string const& operation);   ///< this MPI does not have the operation
    void add_too_few_ranks(Operation const& operation);
    void finish() const;   ///< names the file that was written

private:
    void print_introduction() const;
    void print_titles() const;
    void print(Point const& point, std::string const& name, Point const* limit) const;
    void print_rate(Point const& point) const;
    void print_csv(Point const& point, std::string const& series) const {
        std::printf("%s\n", as_csv(results_.ranks, series, point).c_str());
    }
    void save() const;   ///< writes the JSON file, if there is one

    Settings const& settings_;
    Results results_;   ///< one series per variant, then the limit's
    std::size_t variants_;
};

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "";
}

std::string call_of(Flavor flavor) {
    switch (flavor) {
    case Flavor::shared: return "MPI_Win_allocate_shared";
    case Flavor::dynamic: return "MPI_Win_create_dynamic";
    default: return "MPI_Win_" + name_of(flavor);
    }
}

/// Describes how one-sided operations are measured; empty if none is measured.
std::string describe_one_sided(Settings const& settings) {
    auto const chosen = chosen_operations(settings.operations, settings);
    auto is = [&](Access access) {
        return std::any_of(chosen.begin(), chosen.end(), [&](auto* o) { return o->access == access; });
    };
    std::string text;
    if (is(Access::call) || is(Access::synchronization)) text = "windows by " + call_of(settings.window);
    if (is(Access::call)) text += ", synchronised by " + name_of(settings.sync);
    if (settings.per_sync > 1 && (is(Access::call) || is(Access::load_store)))
        text += (text.empty() ? "" : ", ") + std::to_string(settings.per_sync) + " operations each time";
    return text;
}

void print_wrong_result(Point const& point, std::string const& wrong, char const* whose) {
    if (!wrong.empty())
        std::printf("%s%s of %zu bytes is WRONG: %s\n", whose, point.operation.c_str(), point.bytes, wrong.c_str());
}

Report::Report(Settings const& settings, Results results, Variants const& variants, MPI_Comm comm)
    : settings_(settings), results_(std::move(results)), variants_(variants.all().size()) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &results_.ranks);
    results_.cached = settings.cached;
    results_.overlap = settings.overlap;
    results_.loop = settings.loop;
    results_.one_sided = describe_one_sided(settings);
    results_.per_sync = settings.per_sync;
    results_.clock = clock_cost();
    results_.processor = processor_name();
    for (auto& variant : variants.all()) results_.series.push_back({variant.name, library_version(), "", {}, {}});
    if (settings.limit) results_.series.push_back({limit_name, "", "", {}, {}});
    if (rank != 0) return;
    if (settings.csv) {
        std::printf("%s\n", csv_header().c_str());
    } else {
        if (!settings.quiet) print_introduction();
        print_titles();
    }
}

void Report::print_introduction() const {
    bool const alone = settings_.computes != every_rank;
    const std::string whose = alone ? "rank " + std::to_string(settings_.computes) : "slowest rank";
    std::printf("%d %s, %s, buffers %s\n%s%s%s's time per call in microseconds, less the clock's %.3f%s%s\n",
                results_.ranks, results_.ranks == 1 ? "rank" : "ranks", results_.series[0].library.c_str(),
                settings_.cached ? "left unchanged" : "altered before each call", results_.one_sided.c_str(),
                results_.one_sided.empty() ? "" : "\n", whose.c_str(), results_.clock,
                !settings_.overlap        ? ""
                : settings_.length == 1.0 ? ", and how much of it a computation of the same length hides"
                                          : ", and how much of it a computation hides",
                alone ? " while the other ranks wait" : "");
    if (results_.inside.latency >= 0)
        std::printf("a message takes %s inside a node, %s between nodes\n", text_of(results_.inside).c_str(),
                    text_of(results_.between).c_str());
    std::size_t lines = 0;
    for (Operation const* operation : chosen_operations(settings_.operations, settings_))
        lines += sizes_of(*operation, settings_).size();
    std::printf("%zu measurement%s of at most %d iterations and %g s each%s\n\n", lines, lines == 1 ? "" : "s",
                settings_.iterations, settings_.seconds, variants_ > 1 ? ", for each series" : "");
}

void Report::print_titles() const {
    std::printf("%-26s %10s %10s %12s %12s %12s", "operation", "bytes", "iterations", "median", "least", "greatest");
    if (settings_.root_by_root) std::printf(" %13s %12s %12s", "roots' median", "least", "greatest");
    if (settings_.limit) std::printf(" %12s %8s", "limit", "ratio");
    if (settings_.loop) std::printf(" %12s", "loop");
    if (settings_.loop && settings_.limit) std::printf(" %12s %8s", "loop limit", "ratio");
    if (settings_.overlap) std::printf(" %12s %12s %9s", "computation", "both", "hidden %");
    if (settings_.phases) std::printf(" %12s %12s %12s %9s %12s", "before", "between", "after", "between %", "ideal");
    if (settings_.per_sync > 1) std::printf(" %12s %9s", "million/s", "GB/s");
    std::printf(variants_ > 1 ? "  %-19s series\n" : "  %s\n", "algorithm");
}

void Report::print(Point const& point, std::string const& name, Point const* limit) const {
    std::printf("%-26s %10zu %10d %12.2f %12.2f %12.2f", point.operation.c_str(), point.bytes, point.iterations,
                point.median, point.least, point.greatest);
    if (settings_.root_by_root && !point.roots.empty()) {
        auto const [least, greatest] = std::minmax_element(point.roots.begin(), point.roots.end());
        std::printf(" %13.2f %12.2f %12.2f", median_of(point.roots), *least, *greatest);
    } else if (settings_.root_by_root) {
        std::printf(" %13s %12s %12s", "-", "-", "-");
    }
    if (limit) std::printf(" %12.2f %8.2f", limit->median, point.median / limit->median);
    else if (settings_.limit) std::printf(" %12s %8s", "-", "-");
    if (settings_.loop) std::printf(" %12.2f", point.loop);
    if (settings_.loop && limit) std::printf(" %12.2f %8.2f", limit->loop, point.loop / limit->loop);
    else if (settings_.loop && settings_.limit) std::printf(" %12s %8s", "-", "-");
    if (settings_.overlap) std::printf(" %12.2f %12.2f %9.0f", point.computation, point.both, point.hidden);
    if (settings_.phases && point.between < 0) std::printf(" %12s %12s %12s %9s %12s", "-", "-", "-", "-", "-");
    else if (settings_.phases)
        std::printf(" %12.2f %12.2f %12.2f %9.0f %12.2f", point.before, point.between, point.after,
                    between_percent(point), ideal_time(point));
    if (settings_.per_sync > 1) print_rate(point);
    std::printf(variants_ > 1 ? "  %-19s" : "  %s", point.algorithm.empty() ? "-" : point.algorithm.c_str());
    if (variants_ > 1) std::printf(" %s", name.c_str());
    std::printf("\n");
}

void Report::print_rate(Point const& point) const {
    Operation const* operation = find_operation(point.operation);
    if (operation && operation->accesses())
        std::printf(" %12.2f %9.3f", millions_per_second(point), gigabytes_per_second(point));
    else std::printf(" %12s %9s", "-", "-");
}

void Report::save() const {
    std::fflush(stdout);
    if (settings_.json.empty()) return;
    const std::string error = apps::replace_file(settings_.json, as_json(results_));
    if (error.empty()) return;
    print_error(error);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

void Report::finish() const {
    save();
    if (!settings_.json.empty() && !settings_.quiet) std::fprintf(stderr, "Written: %s\n", settings_.json.c_str());
}

void Report::add_too_few_ranks(Operation const& operation) {
    if (!settings_.csv) std::printf("%-26s needs %d ranks\n", operation.name.c_str(), operation.least_ranks);
}

void Report::add_unsupported(std::string const& operation) {
    if (!settings_.csv) std::printf("%-26s this MPI does not have the call\n", operation.c_str());
    for (std::size_t i = 0; i < variants_; ++i) results_.series[i].lacks.push_back(operation);
    save();
}

void Report::add(std::vector<Outcome> const& outcomes) {
    bool const limited = outcomes.size() > variants_;
    for (std::size_t i = 0; i < variants_; ++i) {
        if (settings_.csv) print_csv(outcomes[i].point, results_.series[i].name);
        else print(outcomes[i].point, results_.series[i].name, limited ? &outcomes.back().point : nullptr);
        print_wrong_result(outcomes[i].point, outcomes[i].wrong, "");
    }
    if (limited && settings_.csv) print_csv(outcomes.back().point, limit_name);
    if (limited) print_wrong_result(outcomes.back().point, outcomes.back().wrong, "the limit of ");
    for (std::size_t i = 0; i < outcomes.size(); ++i)
        if (outcomes[i].wrong.empty())   // wrong results have no time
            results_.series[i].points.push_back(outcomes[i].point);
    save();
}

// The program.

/// Returns the number of wrong results.
int run(Settings const& settings, MPI_Comm comm) {
    int rank, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    SharedPage page(comm);
    Results results;
    if (settings.model) measure_messages(page, comm, results);
    const Variants variants(settings, comm);
    Report report(settings, results, variants, comm);
    for (Operation const* operation : chosen_operations(settings.operations, settings)) {
        if (operation->least_ranks > report.ranks()) {
            if (rank == 0) report.add_too_few_ranks(*operation);
            continue;
        }
        if (!operation->has_call()) {
            if (rank == 0) report.add_unsupported(operation->name);
            continue;
        }
        for (std::size_t const bytes : sizes_of(*operation, settings)) {
            auto const outcomes =
                (settings.overlap ? measure_overlap : measure)(*operation, bytes, settings, page, variants, comm);
            for (auto& outcome : outcomes) wrong += !outcome.wrong.empty();
            if (rank == 0) report.add(outcomes);
        }
    }
    if (rank == 0) report.finish();
    return wrong;
}

/// Prints the text on rank 0. Returns the exit code of the program.
int print_information(InformationText const& information_text, apps::Information const& requested, int rank) {
    try {
        const std::string text = information_text(requested);
        if (rank == 0) std::fputs(text.c_str(), stdout);
    } catch (std::invalid_argument const& error) {
        if (rank == 0) print_error(error.what());
        return 2;
    }
    return 0;
}

/// Collective. Returns an error message on rank 0, and whether there is an error on each rank.
bool find_error(Settings const& settings, int rank, int ranks, std::string& error) {
    error = check_ranks(settings, ranks);
    if (rank == 0 && error.empty() && !settings.json.empty())   // the other ranks may be on other nodes
        error = apps::output_error(settings.json, "tutti-bench", apps::beginning_with({json_beginning}));
    int found = !error.empty();
    MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return found;
}

}   // namespace

// The first line of the version string is, in most libraries, "NAME Version: 1.2.3"; further lines describe the build.
std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string line(text, std::size_t(length));
    line.resize(std::min(line.find('\n'), line.size()));
    std::replace(line.begin(), line.end(), '\t', ' ');
    const std::string label = " Version:";
    if (auto const at = line.find(label); at != std::string::npos) {
        auto const number = line.find_first_not_of(' ', at + label.size());
        if (number != std::string::npos) line = line.substr(0, at) + ' ' + line.substr(number);
    }
    return line;
}

std::string usage() { return "Usage: mpiexec -n N tutti-bench [options] [operation ...]\n\n"; }

std::string description() {
    std::ostringstream out;
    out << "Measures each operation separately: the buffers are rewritten, the ranks synchronize at a shared page\n"
           "(not with MPI's barrier), then one call is timed. The slowest rank's time counts, less the time to read\n"
           "the clock. Reports the median, the least and the greatest over the iterations. Results are checked. A\n"
           "size is the contribution of one rank (to each other rank, if that differs).\n\n";
    Settings settings;
    out << apps::help_text(options_of(settings));
    out << "\nOperations, in groups that may be named as well (default: the blocking ones, with --overlap the\n"
           "nonblocking ones):\n";
    for (Group const& group : groups()) {
        out << "\n  " << group.name << ": " << group.description << "\n";
        for (Operation const& operation : group.operations)
            out << "  " << operation.name << std::string(28 - operation.name.size(), ' ') << operation.description
                << (operation.has_call() ? "" : " (not in this MPI)") << "\n";
    }
    return out.str();
}

int program(int argc, char** argv, InformationText const& information_text) {
    Settings settings;
    std::string error = parse(std::vector<std::string>(argv + 1, argv + argc), settings);
    if (!error.empty()) return reject_arguments(argc, argv, error);
    if (settings.phases) setenv("TUTTI_STATS", "yes", 1);   // Tutti times phases only then
    MPI_Init(&argc, &argv);
    int rank, ranks, result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings.information.requested()) {
        result = print_information(information_text, settings.information, rank);
    } else if (find_error(settings, rank, ranks, error)) {
        result = 2;
        if (rank == 0) print_error(error);
    } else {
        result = run(settings, MPI_COMM_WORLD) ? 1 : 0;
    }
    MPI_Finalize();
    return result;
}

int reject_arguments(int argc, char** argv, std::string const& error) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) print_error(error);
    MPI_Finalize();
    return 2;
}

}   // namespace bench
