// SPDX-License-Identifier: BSD-3-Clause
// tutti-tune: measures the machine for a while and writes the choice table that every job reads from then on.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "launcher/base/print.hpp"
#include "launcher/tune/options.hpp"
#include "launcher/tune/report.hpp"
#include "launcher/tune/search.hpp"
#include "topo/machine/detect.hpp"

extern char** environ;

namespace {

using namespace tutti;
using namespace tutti::tune;

/// Only what is said here may choose: not the environment, and no older file.
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
    std::vector<Contest> contests;   // the smallest numbers of ranks first: theirs are the lines that must be there
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
