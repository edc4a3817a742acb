// SPDX-License-Identifier: BSD-3-Clause
// Searches the tables of handles at MPI_Finalize. Equal objects created at the same place are reported in one line.
#include "mpi_h/entry/usage_checks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "p2p/message_diagnostics.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"

namespace tutti {
namespace {

/// Lines of a report, with the number of objects in each.
class Lines {
public:
    explicit Lines(int rank) : rank_(rank) {}

    void add(std::string call, std::string remark, void const* site) {
        auto const address = reinterpret_cast<std::uintptr_t>(site);
        for (Line& one : lines_)
            if (one.site == address && one.call == call && one.remark == remark) return void(++one.times);
        lines_.push_back({std::move(call), std::move(remark), address, 1});
    }
    /// Returns the first lines; the last one states how many more there are.
    std::vector<UsageError::Call> parts() const {
        std::vector<UsageError::Call> parts;
        std::size_t const listed = std::min(lines_.size(), Diagnostic::max_locations);
        for (std::size_t i = 0; i < listed; ++i) {
            Line const& one = lines_[i];
            std::string remark = one.times == 1 ? one.remark : join(one.remark, ", ", one.times, " times");
            if (i + 1 == listed && lines_.size() > listed) remark += join(", and ", lines_.size() - listed, " others");
            parts.push_back({rank_, one.call, remark, one.site});
        }
        return parts;
    }

private:
    struct Line {
        std::string call, remark;
        std::uint64_t site;
        int times;
    };
    int rank_;
    std::vector<Line> lines_;
};

void report_requests(LibraryState& f) {
    Lines lines(f.process->rank());
    f.tables.requests.for_each([&](Request const& request) {
        if (!request.active) return;   // a persistent request that is not started, or a freed one
        BlockedCall blocked;
        request.describe(blocked);
        lines.add(blocked.call, request.complete ? "not completed by MPI_Wait or MPI_Test" : "never completed",
                  request.site);
    });
    std::vector<UsageError::Call> const parts = lines.parts();
    if (!parts.empty())
        warn(*f.process, {"T07", "requests were not completed before MPI_Finalize",
                          "complete each request with MPI_Wait or a similar call, and check that each operation has "
                          "a matching one",
                          parts});
}

template <class Table>
void add_objects(Lines& lines, Table const& table, char const* what) {
    table.for_each([&](auto const& object) { lines.add(what, "not freed", object.site); });
}

void report_objects(LibraryState& f) {
    Lines lines(f.process->rank());
    abi::Tables const& tables = f.tables;
    tables.comms.for_each([&](Comm const& comm) {
        lines.add(comm.name.empty() ? comm.description() : "communicator " + comm.name, "not freed", comm.site);
    });
    add_objects(lines, tables.wins, "window");
    add_objects(lines, tables.datatypes, "datatype");
    add_objects(lines, tables.groups, "group");
    add_objects(lines, tables.ops, "operator");
    add_objects(lines, tables.infos, "info");
    add_objects(lines, tables.keyvals, "key value");
    add_objects(lines, tables.errhandlers, "error handler");
    tables.requests.for_each([&](Request const& request) {
        if (request.persistent && !request.active) lines.add("persistent request", "not freed", request.site);
    });
    if (p2p::buffer_of(*f.process).attached()) lines.add("buffer of MPI_Buffer_attach", "not detached", nullptr);
    for (auto const& [memory, one] : f.allocated)
        lines.add(join(one.bytes, " bytes of MPI_Alloc_mem"), "not freed", one.site);
    std::vector<UsageError::Call> const parts = lines.parts();
    if (!parts.empty())
        warn(*f.process, {"T08", "objects were not freed before MPI_Finalize",
                          "free each with its function, such as MPI_Comm_free or MPI_Type_free", parts});
}

template <class Table>
void count_objects(Counter& counter, Table const& table) {
    table.for_each([&](auto const&) { counter.add(1); });
}

/// Counts objects for the launcher, which reports the numbers without positions.
void count_objects(LibraryState& f) {
    auto& objects = f.rank_state->not_freed.objects;
    abi::Tables const& tables = f.tables;
    count_objects(objects[NotFreed::comms], tables.comms);
    count_objects(objects[NotFreed::windows], tables.wins);
    count_objects(objects[NotFreed::datatypes], tables.datatypes);
    count_objects(objects[NotFreed::groups], tables.groups);
    count_objects(objects[NotFreed::operators], tables.ops);
    count_objects(objects[NotFreed::infos], tables.infos);
    count_objects(objects[NotFreed::keyvals], tables.keyvals);
    count_objects(objects[NotFreed::errhandlers], tables.errhandlers);
    tables.requests.for_each([&](Request const& request) {
        if (request.persistent && !request.active) objects[NotFreed::requests].add(1);
    });
}

}   // namespace

void check_at_finalize(LibraryState& f) {
    Process& process = *f.process;
    if (process.variables.diagnosis == "no") return;
    while (p2p::engine(process).poll()) {}
    std::vector<Comm const*> comms{process.world.get(), process.self.get()};
    f.tables.comms.for_each([&](Comm const& comm) { comms.push_back(&comm); });
    report_requests(f);
    p2p::report_unreceived_messages(process, comms);
    if (process.variables.diagnosis == "full") report_objects(f);
    else if (process.is_supervised) count_objects(f);
}

}   // namespace tutti
