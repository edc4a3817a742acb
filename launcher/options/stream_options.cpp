// SPDX-License-Identifier: BSD-3-Clause
// Options for input, output and mpiexec's own messages, with the directives of --output, --display and
// --runtime-options.
#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "topo/text.hpp"

namespace tutti::launcher::groups {
namespace {

InputTarget parse_input_target(std::string const& text) {
    if (text == "all") return {InputTarget::Kind::all, 0};
    if (text == "none") return {InputTarget::Kind::none, 0};
    auto const rank = topo::parse_number(text, 0, 1'000'000);
    if (!rank) throw LaunchError(join("-stdin must be all, none or the number of a rank, not '", printable(text), "'"));
    return {InputTarget::Kind::one, *rank};
}

void set_output_folder(Job& job, std::string folder) {
    folder = folder.substr(0, folder.find(':'));   // Open MPI's :nojobid and :nocopy request what is done anyway
    job.out_pattern = folder + "/rank.%r/stdout";
    job.err_pattern = folder + "/rank.%r/stderr";
}

void set_keep_going(Job& job, std::string_view directive, Values values) {
    job.keep_going = values.empty() || parse_boolean(directive, values[0]);
}

void require(bool accepted, std::string_view directive, std::string_view value, std::string_view reason) {
    if (!accepted) throw LaunchError(join("--runtime-options ", directive, "=", printable(value), ": ", reason));
}

/// Throws LaunchError unless the directive is given as false.
void require_false(std::string_view directive, Values values, std::string_view reason) {
    bool const wanted = values.empty() || parse_boolean(directive, values[0]);
    require(!wanted, directive, values.empty() ? "true" : std::string_view(values[0]), reason);
}

constexpr Option stream_options[] = {
    {"-l -prepend-rank --tag-output", "", "HOP", "Begin each line with its rank in brackets.",
     [](Target t, Values) { t.job.prefix = "[%r] "; }, Effect::applied, "Begin each output line with its rank"},
    {"-prepend-pattern", "TEXT", "H",
     "Begin each line with TEXT; %r in it is the rank, %h the host, %t the seconds since 1970, %% a per cent sign.",
     [](Target t, Values v) { t.job.prefix = v[0]; }},
    {"--timestamp-output", "", "OP", "Begin each line with the date and time at which it arrived.",
     [](Target t, Values) { t.job.timestamps = true; }},
    {"--output", "LIST", "P",
     "Any of tag, timestamp, merge-stderr-to-stdout, dir=FOLDER (as --output-filename) and file=NAME, separated by "
     "commas.",
     [](Target t, Values v) { apply_directives(t, directives_of("--output"), v[0]); }},
    {"-stdin -s", "RANK|all|none", "OP", "The rank that reads mpiexec's standard input (default: 0).",
     [](Target t, Values v) { t.job.input = parse_input_target(v[0]); }},
    {"-output-from", "RANK", "H", "Show only the output of this rank.",
     [](Target t, Values v) { t.job.output_from = parse_number("-output-from", v[0], 0); }},
    {"-outfile-pattern -outfile", "NAME", "H",
     "Write the standard output of ranks to files, each on the node of its rank; %r is the rank, %h the host, %t the "
     "seconds since 1970, %% a per cent sign.",
     [](Target t, Values v) { t.job.out_pattern = v[0]; }},
    {"-errfile-pattern -errfile", "NAME", "H", "The same for standard error.",
     [](Target t, Values v) { t.job.err_pattern = v[0]; }},
    {"--output-filename --output-directory", "FOLDER", "OP",
     "Write both to FOLDER/rank.R/stdout and FOLDER/rank.R/stderr.",
     [](Target t, Values v) { set_output_folder(t.job, v[0]); }},
    {"--merge-stderr-to-stdout", "", "OP", "Send the ranks' standard error where their standard output goes.",
     [](Target t, Values) { t.job.merge_errors = true; }},
    {"--report-pid", "WHERE", "OP",
     "Write mpiexec's process number to standard output (-), standard error (+) or a file.",
     [](Target t, Values v) { t.job.report_pid = v[0]; }},
    {"--strict", "", "",
     "Refuse to start if a setting is unknown or invalid (TUTTI_ variables, a tuning file, --coll); for scripts that "
     "measure. The same as TUTTI_STRICT=yes.",
     [](Target t, Values) { t.job.environment.set.emplace_back("TUTTI_STRICT", "yes"); }},
    {"-q --quiet", "", "O", "Print neither warnings nor the reason why the job ended.",
     [](Target t, Values) { t.job.quiet = true; }},
    {"--stats", "[json|json:FILE]", "",
     "At the end, print tables on standard error: bytes that each rank accessed in its peers' memory, by access path; "
     "bytes, messages and waits of each rank, and how it waited; the NUMA nodes of its memory; and calls, bytes and "
     "time of each collective, by communicator and algorithm, and of the calls of each window. With =json print them "
     "as JSON; with =json:FILE write that to a file.",
     [](Target t, Values v) {
         std::string const what = v.empty() ? "" : v[0];
         t.job.statistics = true;
         t.job.statistics_as_json = what.starts_with("json");
         if (what.starts_with("json:")) t.job.statistics_file = what.substr(5);
         if (!v.empty() && what != "json" && t.job.statistics_file.empty())
             throw LaunchError(join("--stats needs json or json:FILE after =, not '", what, "'"));
         t.job.environment.set.emplace_back("TUTTI_STATS", "yes");
     }},
    {"--report", "FILE", "",
     "Record the ranks' MPI calls and write them at the end, even if the job fails, as a page for any browser: "
     "timelines, messages, collectives, the use of time, waits and their causes, and errors.",
     [](Target t, Values v) { t.job.report_file = v[0]; }, Effect::applied,
     "Write a page about all MPI calls, for any browser"},
    {"--trace", "FILE", "",
     "The same events as a file for https://ui.perfetto.dev (Trace Event format), or, if the name ends in .otf2, as an "
     "OTF2 archive. The job does not start if a file of --report or --trace cannot be written, or if a file of that "
     "name exists that these options have not written.",
     [](Target t, Values v) { t.job.trace_file = v[0]; }},
    {"--report-events", "N", "O",
     "Record the last N events of each rank (default: 262144); an event takes 48 bytes of shared memory. Open MPI 4's "
     "form, with the address of a server, is refused.",
     [](Target t, Values v) {
         t.job.traced_events = static_cast<std::uint64_t>(parse_number("--report-events", v[0], 16));
     }},
    {"-v --verbose", "", "HOP", "Print what is started where, how each rank ended, and which options have no effect.",
     [](Target t, Values) { t.job.verbose = true; }},
};

constexpr Option output_directive_rows[] = {
    {"tag tag-fullname rank", "", "P", "The same as --tag-output.", [](Target t, Values) { t.job.prefix = "[%r] "; }},
    {"tag-detailed", "", "P", "Begin each line with its rank and host.",
     [](Target t, Values) { t.job.prefix = "[%r on %h] "; }},
    {"timestamp", "", "P", "The same as --timestamp-output.", [](Target t, Values) { t.job.timestamps = true; }},
    {"merge-stderr-to-stdout", "", "P", "The same as --merge-stderr-to-stdout.",
     [](Target t, Values) { t.job.merge_errors = true; }},
    {"directory", "FOLDER", "P", "The same as --output-filename.",
     [](Target t, Values v) { set_output_folder(t.job, v[0]); }},
    {"filename", "NAME", "P", "Write a rank's standard output and error to NAME.R.",
     [](Target t, Values v) { t.job.out_pattern = t.job.err_pattern = v[0] + ".%r"; }},
    {"nocopy", "", "P", "Output that goes to a file is never printed as well.", nullptr, Effect::ignored},
    {"raw", "", "P", "Output arrives in whole, unchanged lines.", nullptr, Effect::ignored},
    {"pattern", "", "P", "The file name of -outfile-pattern may contain the rank anywhere.", nullptr, Effect::refused},
    {"xml", "", "P", "--output dir=FOLDER keeps the output of ranks apart.", nullptr, Effect::refused},
};

constexpr Option display_directive_rows[] = {
    {"allocation", "", "P", "The same as --display-allocation.",
     [](Target t, Values) { t.job.show_allocation = true; }},
    {"bindings", "", "P", "The same as --report-bindings.", [](Target t, Values) { t.job.report_bindings = true; }},
    {"map map-devel", "", "P", "The same as --display-map.", [](Target t, Values) { t.job.show_map = true; }},
    {"topo cpus", "[NODES]", "P", "The same as --show-hierarchy, for all nodes.",
     [](Target t, Values) { t.job.show_hierarchy = true; }},
    {"parseable parsable", "", "P", "The output has one form, for people and programs.", nullptr, Effect::ignored},
};

constexpr Option runtime_directive_rows[] = {
    {"donotlaunch", "", "P", "The same as --do-not-launch.", [](Target t, Values) { t.job.do_not_launch = true; }},
    {"recoverable", "[BOOL]", "P", "The same as --enable-recovery, or --disable-recovery.",
     [](Target t, Values v) { set_keep_going(t.job, "recoverable", v); }},
    {"continuous", "[BOOL]", "P", "The same as --continuous.",
     [](Target t, Values v) { set_keep_going(t.job, "continuous", v); }},
    {"fwd-environment", "[BOOL]", "P", "The same as --fwd-environment.",
     [](Target t, Values v) { find_option("--fwd-environment")->apply(t, v); }},
    {"timeout", "TIME", "P", "The same as -timeout; also days:hours:minutes:seconds.",
     [](Target t, Values v) { t.job.timeout = parse_clock_time("--runtime-options timeout", v[0]); }},
    {"spawn-timeout", "TIME", "P", "The same as --start-timeout; also hours:minutes:seconds.",
     [](Target t, Values v) {
         auto const time = parse_clock_time("--runtime-options spawn-timeout", v[0]);
         std::string const seconds = std::to_string(time.count() / 1000);
         find_option("--start-timeout")->apply(t, {&seconds, 1});
     }},
    {"error-nonzero-status", "[BOOL]", "P", "True: a rank that fails ends the job. False is refused.",
     [](Target, Values v) {
         bool const ends = v.empty() || parse_boolean("error-nonzero-status", v[0]);
         require(ends, "error-nonzero-status", "false",
                 "an exit code that is not 0 is an error; --enable-recovery lets "
                 "the other ranks go on");
     }},
    {"autorestart", "[BOOL]", "P", "True is refused.",
     [](Target, Values v) { require_false("autorestart", v, "ranks are not started again"); }},
    {"notifyerrors", "[BOOL]", "P", "True is refused.",
     [](Target, Values v) {
         require_false("notifyerrors", v, "ranks get no events; --enable-recovery lets them go on");
     }},
    {"max-restarts", "N", "P", "0: ranks are not started again. More is refused.",
     [](Target, Values v) { require(v[0] == "0", "max-restarts", v[0], "ranks are not started again"); }},
    {"show-progress", "[BOOL]", "P", "-v prints what is started where.", nullptr, Effect::ignored},
    {"report-state-on-timeout", "[BOOL]", "P", "-timeout reports what each rank is waiting for, and where.", nullptr,
     Effect::ignored},
    {"get-stack-traces", "[BOOL]", "P", "-timeout reports each rank's MPI call, with its source line.", nullptr,
     Effect::ignored},
    {"report-child-jobs-separately", "[BOOL]", "P", "Ranks cannot start other ranks.", nullptr, Effect::ignored},
    {"aggregate-help-messages", "[BOOL]", "P", "Messages that several ranks report are printed once.", nullptr,
     Effect::ignored},
    {"default-exec-agent", "", "P", "Ranks are started by the system.", nullptr, Effect::ignored},
    {"exec-agent", "COMMAND", "P", "A command in front of the program does the same.", nullptr, Effect::refused},
    {"output-proctable", "[WHERE]", "P", "-v prints each rank's process id.", nullptr, Effect::refused},
    {"stop-on-exec stop-in-init stop-in-app", "[BOOL]", "P", "-gdb starts each rank under a debugger.", nullptr,
     Effect::refused},
};

}   // namespace

std::span<Option const> streams() { return stream_options; }
std::span<Option const> output_directives() { return output_directive_rows; }
std::span<Option const> display_directives() { return display_directive_rows; }
std::span<Option const> runtime_directives() { return runtime_directive_rows; }

}   // namespace tutti::launcher::groups
