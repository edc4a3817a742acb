// SPDX-License-Identifier: BSD-3-Clause
// Asking every layer for what it offers.
#include "launcher/info/report.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>

#include "coll/choose.hpp"
#include "topo/detect.hpp"
#include "topo/usable.hpp"

namespace tutti::info {
namespace {

void describe_machine(Report& report) {
    topo::Machine machine = topo::detect_machine();
    report.machine = machine.cpu.empty() ? machine.name : machine.cpu;
    report.units = static_cast<int>(machine.pus.size());
    report.usable_cores = topo::usable_cores();
    struct sysinfo info {};
    if (sysinfo(&info) == 0) report.memory = std::uint64_t{info.totalram} * info.mem_unit;
}

std::vector<AlgorithmText> algorithms() {
    std::vector<AlgorithmText> all;
    for (coll::AlgorithmRow const& row : coll::all_algorithms()) {
        AlgorithmText text{coll::name_of(row.collective), row.name, row.sentence, name_of(row.family), row.source, {}};
        for (coll::Parameter const& p : row.parameters)
            text.parameters.push_back({p.name, std::to_string(p.fallback), p.sentence});
        all.push_back(std::move(text));
    }
    return all;
}

}  // namespace

Report make_report(Part part) {
    Report report;
    report.version = TUTTI_VERSION;
    report.abi = "MPICH (libmpi.so.12, libmpich.so.12), MPI 3.1";
    report.variables = describe_variables(environ);
    read_variables(environ, report.complaints);
    report.algorithms = algorithms();
    if (part != Part::everything) return report;
    describe_machine(report);
    report.facilities = facilities();
    return report;
}

}  // namespace tutti::info
