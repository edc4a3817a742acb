// SPDX-License-Identifier: BSD-3-Clause
// Collects the report of tutti-info from every layer.
#include "launcher/info/report.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "coll/choice/choose.hpp"
#include "coll/choice/comm_state.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/memory/xpmem.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "runtime/state/counters.hpp"
#include "topo/detect.hpp"
#include "topo/this_machine.hpp"

// Tests the facilities of the processor and the kernel.

namespace tutti::info {
namespace {

Facility memfd() {
    int descriptor = memfd_create("tutti-info", MFD_CLOEXEC);
    int why = errno;
    if (descriptor >= 0) close(descriptor);
    return {"memfd", descriptor >= 0, descriptor >= 0 ? "" : std::strerror(why),
            "the shared memory of a job; required"};
}

/// Reads the memory of a sibling process, as one rank reads that of another: Yama may permit a parent what it denies a
/// sibling.
bool read_from(pid_t peer, int const* address, int expected, std::string& why) {
    int got = 0;
    iovec here{&got, sizeof got}, remote{const_cast<int*>(address), sizeof got};
    bool ok = process_vm_readv(peer, &here, 1, &remote, 1, 0) == sizeof got && got == expected;
    if (!ok) why = std::strerror(errno);
    return ok;
}

pid_t sleeping_child() {
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()));   // as a rank does for mpiexec
#endif
    while (true) pause();
}

Facility cma() {
    std::signal(SIGCHLD, SIG_DFL);   // if the parent ignored it, waitpid would not report how the reader ended
    static int number;               // at the same address in the parent and its children
    number = 4711;
    pid_t peer = sleeping_child();
    int answer[2];
    if (peer < 0 || pipe(answer) != 0) return {"CMA", false, "no process to test it with", ""};
    pid_t reader = fork();
    std::string why;
    if (reader == 0) {
        usleep(20'000);   // the peer has to permit it first
        bool ok = read_from(peer, &number, 4711, why);
        if (write(answer[1], why.data(), why.size()) < 0) _exit(2);
        _exit(ok ? 0 : 1);
    }
    int status = 1;
    waitpid(reader, &status, 0);
    close(answer[1]);
    char text[128] = {};
    if (read(answer[0], text, sizeof text - 1) < 0) text[0] = 0;
    close(answer[0]);
    kill(peer, SIGKILL);
    waitpid(peer, nullptr, 0);
    return {"CMA", status == 0, status == 0 ? "" : text,
            "copies large messages directly between processes (process_vm_readv)"};
}

Facility xpmem() {
    bool const device = access("/dev/xpmem", R_OK | W_OK) == 0;
    void* const library = dlopen(xpmem_library, RTLD_LAZY | RTLD_LOCAL);
    if (library) dlclose(library);
    std::string const why = !device    ? std::string("/dev/xpmem is not accessible")
                            : !library ? join("there is no ", xpmem_library)
                                       : std::string();
    return {"XPMEM", device && library, why, "attaches to memory outside of arenas"};
}

Facility huge_pages() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    std::string all, word;
    std::getline(file, all);
    std::size_t open = all.find('['), end = all.find(']');
    if (open != std::string::npos && end != std::string::npos) word = all.substr(open + 1, end - open - 1);
    bool available = word == "always" || word == "advise" || word == "within_size" || word == "force";
    return {"huge pages for shared memory", available,
            word.empty() ? "not reported by the kernel" : join("shmem_enabled is ", word), "requested for arenas"};
}

Facility numa() {
    PlacementTest test = test_placement(kernel_numa());
    return {"placing memory on NUMA nodes", test.succeeded, std::move(test.message),
            "each rank's memory is on the NUMA node where the rank runs"};
}

Facility vector_extension(char const* name, bool available, char const* use) { return {name, available, "", use}; }

}   // namespace

std::vector<Facility> facilities() {
    std::vector<Facility> all{memfd(), cma(), xpmem(), huge_pages(), numa()};
#ifdef __x86_64__
    __builtin_cpu_init();
    all.push_back(
        vector_extension("AVX2", __builtin_cpu_supports("avx2"), "reductions and copies, 32 bytes at a time"));
    all.push_back(vector_extension("AVX-512", __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"),
                                   "reductions and copies, 64 bytes at a time"));
#endif
    return all;
}

namespace {

void describe_machine(topo::Machine const& machine, Report& report) {
    report.machine = machine.cpu.empty() ? machine.name : machine.cpu;
    report.units = static_cast<int>(machine.pus.size());
    report.usable_cores = topo::usable_cores();
    struct sysinfo info {};
    if (sysinfo(&info) == 0) report.memory = std::uint64_t{info.totalram} * info.mem_unit;
}

/// The counters of a rank, followed by those of a communicator, whose names contain a placeholder for the collective.
std::vector<CounterText> counters() {
    std::vector<CounterText> all;
    for (CounterRow const& row : counter_rows) all.push_back({join("tutti_", row.name), row.description});
    all.push_back({coll::in_flight_variable, coll::in_flight_description});
    auto add = [&](char const* name, char const* description) {
        all.push_back({join("tutti_<collective>_", name), join(description, "the collective.")});
    };
    add(coll::algorithm_variable, coll::algorithm_description);
    for (coll::CollectiveCounterRow const& row : coll::collective_counter_rows) add(row.name, row.description);
    return all;
}

/// Returns the description of a parameter, with the notation of its values.
std::string description_of(coll::Parameter const& p) {
    if (p.kind == coll::ParameterKind::per_level)
        return std::string(p.description) + ", one per level from the innermost on, such as 16K+64K";
    return p.description;
}

/// Sets the size of the largest call, on doubles and among `ranks` ranks, that the algorithm accepts: its size in bytes
/// is doubled until the requirements are no longer met. Also sets whether parts may be unequal.
void describe_limits(coll::AlgorithmRow const& row, int ranks, AlgorithmText& text) {
    coll::CallTraits traits{.ranks = ranks,
                            .levels = 1,
                            .bytes = 1,
                            .slot_bytes = coll::Area(nullptr, ranks).slot_bytes(),
                            .commutative = true,
                            .commutative_or_consecutive = true,
                            .has_kernels = true,
                            .equal_parts = true,
                            .intercommunicator = (row.requirements & coll::requires_intercommunicator) != 0};
    text.intercommunicator = traits.intercommunicator;
    constexpr std::size_t beyond = std::size_t{1} << 40;
    std::size_t most = 0;
    for (; traits.bytes < beyond && traits.meets(row.requirements); traits.bytes *= 2) most = traits.bytes;
    if (traits.bytes < beyond) text.max_bytes = most;
    traits.bytes = 1;
    traits.equal_parts = false;
    text.unequal_parts = traits.meets(row.requirements);
}

/// Returns the communicators on which the algorithm runs, as text.
std::string scope_of(coll::AlgorithmRow const& row) {
    bool const everywhere = row.runs_on_one_node && row.runs_on_multiple_nodes;
    std::string const nodes = everywhere             ? "one node, several nodes"
                              : row.runs_on_one_node ? "one node"
                                                     : "several nodes";
    if (!row.runs_on(coll::CommKind::between_groups)) return nodes;
    return everywhere ? "between groups" : "between groups on " + nodes;
}

std::vector<AlgorithmText> algorithms(InfoRequest const& request) {
    std::vector<AlgorithmText> all;
    std::vector<coll::AlgorithmRow> rows(coll::all_algorithms().begin(), coll::all_algorithms().end());
    std::ranges::stable_sort(rows, {}, &coll::AlgorithmRow::collective);   // algorithms.def is ordered by family
    for (coll::AlgorithmRow const& row : rows) {
        std::string const collective = coll::name_of(row.collective);
        auto const& wanted = request.collectives;
        if (!wanted.empty() && std::ranges::find(wanted, collective) == wanted.end()) continue;
        AlgorithmText text{
            .collective = collective,
            .name = row.name,
            .description = row.description,
            .family = name_of(row.family),
            .source = row.source,
            .file = row.file,
            .parameters = {},
            .presets = {},
            .max_bytes = {},
            .requirements = coll::text_of_requirements(row.requirements & ~coll::requires_intercommunicator),
            .bytes = row.cost.bytes ? row.cost.bytes : "",
            .time = row.cost.time ? row.cost.time : "",
            .where = scope_of(row)};
        for (coll::Parameter const& p : row.parameters)
            text.parameters.push_back({p.name, coll::text_of_default(p), description_of(p), range_of(p)});
        for (coll::Preset const& preset : coll::presets())
            if (row.name == std::string_view(preset.algorithm))
                text.presets.push_back({std::string(preset.name), preset.parameters});
        text.single_node = row.runs_on_one_node;
        text.multi_node = row.runs_on_multiple_nodes;
        describe_limits(row, request.ranks, text);
        all.push_back(std::move(text));
    }
    return all;
}

/// Returns the choices that a job would make.
Table table(Variables const& variables, TuningFile const& file) {
    Table t;
    if (!file.diagnostic.empty()) t.diagnostics.push_back(file.diagnostic);
    if (!file.text.empty() && !variables.deterministic) t.tuning = file.name;
    coll::Settings const settings = coll::read_settings(variables, file.name, file.text, t.diagnostics);
    for (std::size_t c = 0; c < settings.requested.size(); ++c)
        if (settings.requested[c].algorithm)
            t.requested.push_back(
                {coll::name_of(static_cast<coll::Collective>(c)), text_of(settings.requested[c]), settings.origins[c]});
    for (coll::Rule const& rule : settings.tuned) t.tuned_rules.push_back(text_of(rule));
    for (coll::Rule const& rule : coll::default_table()) t.default_rules.push_back(text_of(rule));
    return t;
}

}   // namespace

std::vector<std::string> collective_names() {
    std::vector<std::string> all;
    for (int c = 0; c < coll::collectives; ++c) all.push_back(coll::name_of(static_cast<coll::Collective>(c)));
    return all;
}

Report collect_report(InfoRequest const& request) {
    Report report;
    report.version = TUTTI_VERSION;
    report.abi = "MPICH (libmpi.so.12, libmpich.so.12), MPI 3.1";
    report.variables = describe_variables(environ);
    Variables const variables = read_variables(environ, report.diagnostics);
    report.algorithms = algorithms(request);
    coll::read_settings(variables, {}, {}, report.diagnostics);
    report.launcher = find_launcher();
    if (request.part == ReportPart::launcher || request.part == ReportPart::variables ||
        request.part == ReportPart::algorithms)
        return report;
    topo::Machine const machine = topo::detect_machine();
    topo::Result<topo::Machine> const seen = topo::read_machine(variables.topology);   // as a job sees it
    TuningFile const tuning =
        find_tuning_file(variables.tuning, tuning_locations(TUTTI_CONFIGURATION_FROM_PROGRAMS), seen ? *seen : machine);
    report.table = table(variables, tuning);
    if (request.part == ReportPart::why) {
        if (!seen) throw std::runtime_error("TUTTI_TOPOLOGY: " + seen.error());
        report.why = explain(request.call, variables, tuning, *seen);
    }
    if (request.part != ReportPart::everything) return report;
    describe_machine(machine, report);
    report.facilities = facilities();
    report.counters = counters();
    return report;
}

}   // namespace tutti::info
