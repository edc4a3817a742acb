// SPDX-License-Identifier: BSD-3-Clause
// Starting tutti-bench and reading its lines.
#include "launcher/tune/measure.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include <sys/wait.h>

#include "runtime/base/error.hpp"

namespace tutti::tune {
namespace {

/// For the shell: ' becomes '\''.
std::string quoted(std::string const& word) {
    std::string all = "'";
    for (char c : word) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return all + "'";
}

std::string command_for(Contest const& contest, std::vector<std::string> const& settings, double seconds) {
    auto const& sizes = contest.sizes();
    double const all = seconds * static_cast<double>(sizes.size() * (settings.size() + 1));
    std::string command =
        join("exec ", quoted(program_folder() + "/mpiexec"), " -n ", contest.ranks(),
             " -genv TUTTI_QUIET yes -timeout ", static_cast<long>(60 + 10 * all), " ",
             quoted(program_folder() + "/tutti-bench"), " --csv --warmup 4 --blocks 5 --seconds ", seconds);
    if (sizes.back() > 0) command += join(" --sizes ", sizes.front(), ":", sizes.back());
    for (std::string const& setting : settings)
        command += join(" --hint ", quoted(join("tutti_coll_", contest.name(), "=", setting)));
    return command + " " + contest.name() + " < /dev/null";
}

/// operation,ranks,bytes,iterations,median,least,greatest,algorithm,setting; false: the line is none of these.
bool take_line(std::string const& line, bool alone, std::size_t& size, std::string& setting, double& median) {
    std::istringstream in(line);
    std::string operation, ranks, bytes, iterations, middle, least, greatest, algorithm;
    for (std::string* field : {&operation, &ranks, &bytes, &iterations, &middle, &least, &greatest, &algorithm})
        if (!std::getline(in, *field, ',')) return false;
    setting = by_default;
    if (!alone && !std::getline(in, setting)) return false;   // it may have commas of its own
    size = std::strtoull(bytes.c_str(), nullptr, 10);
    median = std::strtod(middle.c_str(), nullptr);
    return median > 0;
}

}   // namespace

std::string program_folder() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Measured measure(Contest const& contest, std::vector<std::string> const& settings, double seconds,
                 std::function<void(std::size_t)> const& seen) {
    Measured all;
    auto complain = [&](std::string const& what) {
        all.complaints.push_back(join(contest.name(), " among ", contest.ranks(), " ranks: ", what));
    };
    std::signal(SIGCHLD, SIG_DFL);   // with a parent that ignored it nothing would be known of mpiexec's end
    FILE* const out = popen(command_for(contest, settings, seconds).c_str(), "r");
    if (!out) return complain("mpiexec cannot be started"), all;
    char* line = nullptr;
    std::size_t room = 0, size = 0;
    for (ssize_t length; (length = getline(&line, &room, out)) > 0;) {
        std::string const text(line, static_cast<std::size_t>(length) - (line[length - 1] == '\n'));
        std::string setting;
        double median = 0;
        if (take_line(text, settings.empty(), size, setting, median)) {
            all.times[size][setting] = median;
            if (all.times[size].size() == settings.size() + 1) seen(size);
        } else if (text.find("WRONG") != std::string::npos) {   // it follows the line that it is about
            complain(text);
            if (!all.times.empty()) all.times[size].clear();
        }
    }
    std::free(line);
    int const status = pclose(out);
    if (status != 0 && all.complaints.empty()) complain(join("mpiexec ended with code ", WEXITSTATUS(status)));
    return all;
}

}   // namespace tutti::tune
