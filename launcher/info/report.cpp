// SPDX-License-Identifier: BSD-3-Clause
// Asking every layer for what it offers.
#include "launcher/info/report.hpp"

#include <algorithm>

#include <sys/sysinfo.h>
#include <unistd.h>

#include "coll/choice/tuning.hpp"
#include "coll/choice/use.hpp"
#include "runtime/base/error.hpp"
#include "runtime/counters/counters.hpp"
#include "runtime/settings/tuning_file.hpp"
#include "topo/machine/detect.hpp"
#include "topo/machine/usable.hpp"

namespace tutti::info {
namespace {

void describe_machine(topo::Machine const& machine, Report& report) {
    report.machine = machine.cpu.empty() ? machine.name : machine.cpu;
    report.units = static_cast<int>(machine.pus.size());
    report.usable_cores = topo::usable_cores();
    struct sysinfo info {};
    if (sysinfo(&info) == 0) report.memory = std::uint64_t{info.totalram} * info.mem_unit;
}

/// Those of the rank, and with a word in the collective's place those of a communicator.
std::vector<CounterText> counters() {
    std::vector<CounterText> all;
    for (CounterRow const& row : counter_rows) all.push_back({join("tutti_", row.name), row.sentence});
    all.push_back({coll::in_flight_variable, coll::in_flight_sentence});
    auto add = [&](char const* name, char const* sentence) {
        all.push_back({join("tutti_<collective>_", name), join(sentence, "the collective.")});
    };
    add(coll::algorithm_variable, coll::algorithm_sentence);
    for (coll::UseRow const& row : coll::use_rows) add(row.name, row.sentence);
    return all;
}

/// With what may be written for it.
std::string sentence_of(coll::Parameter const& p) {
    if (p.kind == coll::ParameterKind::per_level)
        return std::string(p.sentence) + "; one for each level from the innermost on, as 16K+64K";
    return p.sentence;
}

/// The most that a call of doubles among so many ranks may offer to the algorithm.
void describe_limits(coll::AlgorithmRow const& row, int ranks, AlgorithmText& text) {
    coll::CallTraits offer{.ranks = ranks,
                           .levels = 1,
                           .bytes = 1,
                           .slot_bytes = coll::Area(nullptr, ranks).slot_bytes(),
                           .commutes = true,
                           .ordered = true,
                           .one_kind = true,
                           .equal_parts = true,
                           .two_groups = (row.requirements & coll::requires_two_groups) != 0};
    text.two_groups = offer.two_groups;
    constexpr std::size_t beyond = std::size_t{1} << 40;
    std::size_t most = 0;
    for (; offer.bytes < beyond && offer.meets(row.requirements); offer.bytes *= 2) most = offer.bytes;
    if (offer.bytes < beyond) text.most_bytes = most;
    offer.bytes = 1;
    offer.equal_parts = false;
    text.unequal_parts = offer.meets(row.requirements);
}

/// On which communicators it runs, in words.
std::string places_of(coll::AlgorithmRow const& row) {
    bool const everywhere = row.on_node && row.on_nodes;
    std::string const nodes = everywhere ? "one node, several nodes" : row.on_node ? "one node" : "several nodes";
    if (!row.runs(coll::Where::between_groups)) return nodes;
    return everywhere ? "between groups" : "between groups on " + nodes;
}

std::vector<AlgorithmText> algorithms(Question const& question) {
    std::vector<AlgorithmText> all;
    std::vector<coll::AlgorithmRow> rows(coll::all_algorithms().begin(), coll::all_algorithms().end());
    std::ranges::stable_sort(rows, {}, &coll::AlgorithmRow::collective);   // the list goes by family
    for (coll::AlgorithmRow const& row : rows) {
        std::string const collective = coll::name_of(row.collective);
        auto const& wanted = question.collectives;
        if (!wanted.empty() && std::ranges::find(wanted, collective) == wanted.end()) continue;
        AlgorithmText text{.collective = collective,
                           .name = row.name,
                           .sentence = row.sentence,
                           .family = name_of(row.family),
                           .source = row.source,
                           .parameters = {},
                           .most_bytes = {},
                           .requirements = coll::text_of_requirements(row.requirements & ~coll::requires_two_groups),
                           .where = places_of(row)};
        for (coll::Parameter const& p : row.parameters)
            text.parameters.push_back({p.name, coll::text_of_fallback(p), sentence_of(p), range_of(p)});
        text.on_node = row.on_node;
        text.on_nodes = row.on_nodes;
        describe_limits(row, question.ranks, text);
        all.push_back(std::move(text));
    }
    return all;
}

/// As mpiexec finds it for a job.
Table table(topo::Machine const& machine, std::string const& wish) {
    Table t;
    TuningFile const file = find_tuning(wish, tuning_places(TUTTI_CONFIGURATION_FROM_PROGRAMS), machine);
    if (!file.complaint.empty()) t.complaints.push_back(file.complaint);
    if (!file.text.empty()) t.tuning = file.name;
    for (coll::Rule const& rule : coll::parse_rules(file.text, file.name, t.complaints))
        t.measured.push_back(text_of(rule));
    for (coll::Rule const& rule : coll::default_table()) t.fallback.push_back(text_of(rule));
    return t;
}

}   // namespace

std::vector<std::string> collective_names() {
    std::vector<std::string> all;
    for (int c = 0; c < coll::collectives; ++c) all.push_back(coll::name_of(static_cast<coll::Collective>(c)));
    return all;
}

Report make_report(Question const& question) {
    Report report;
    report.version = TUTTI_VERSION;
    report.abi = "MPICH (libmpi.so.12, libmpich.so.12), MPI 3.1";
    report.variables = describe_variables(environ);
    Variables const variables = read_variables(environ, report.complaints);
    report.algorithms = algorithms(question);
    if (question.part != Part::everything && question.part != Part::table) return report;
    topo::Machine const machine = topo::detect_machine();
    topo::Result<topo::Machine> const seen = topo::read_machine(variables.topology);   // by a job
    report.table = table(seen ? *seen : machine, variables.tuning);
    if (question.part != Part::everything) return report;
    describe_machine(machine, report);
    report.facilities = facilities();
    report.counters = counters();
    return report;
}

}   // namespace tutti::info
