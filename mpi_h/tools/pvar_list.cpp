// SPDX-License-Identifier: BSD-3-Clause
// Which performance variables there are: counters.def's, and for each collective those of a communicator (use_rows).
#include "coll/choice/state.hpp"
#include "mpi_h/tools/tool.hpp"

namespace tutti::tool {
namespace {

/// What is on this process's rank state; 0 before MPI_Init.
std::uint64_t read_rank_state(CounterRow const& row) {
    if (!library().process) return 0;
    RankState& rank_state = library().process->rank_state();
    note_arena_use(rank_state);
    return row.read(rank_state);
}

coll::Use const& use_of(Comm const& comm, coll::Collective collective) {
    return coll::state_of(comm).use_of(collective);
}

/// The place of the algorithm among its collective's, from 1 on; 0: there was no call.
std::uint64_t place_of(coll::AlgorithmRow const* algorithm) {
    std::uint64_t place = 0;
    if (!algorithm) return 0;
    for (coll::AlgorithmRow const& row : coll::all_algorithms()) {
        place += row.collective == algorithm->collective;
        if (&row == algorithm) break;
    }
    return place;
}

Pvar of_communicator(coll::Collective collective, std::string_view name, std::string_view sentence) {
    Pvar p;
    p.group = "communicator";
    p.name = join("tutti_", coll::name_of(collective), "_", name);
    p.sentence = join(sentence, coll::name_of(collective), ".");
    p.of_communicator = true;
    p.collective = collective;
    return p;
}

Pvar in_flight() {
    Pvar p;
    p.group = "coll";
    p.name = coll::in_flight_variable;
    p.sentence = coll::in_flight_sentence;
    p.read = [](Comm const*) {
        Process const* process = library().process.get();
        return process ? static_cast<std::uint64_t>(coll::state_of(*process).progress.in_flight()) : 0;
    };
    return p;
}

std::vector<Pvar> make_pvars() {
    std::vector<Pvar> all;
    for (CounterRow const& row : counter_rows) {
        Pvar p;
        p.group = row.group;
        p.name = join("tutti_", row.name);
        p.sentence = row.sentence;
        p.kind = row.kind;
        p.read = [&row](Comm const*) { return read_rank_state(row); };
        all.push_back(std::move(p));
    }
    all.push_back(in_flight());
    for (int c = 0; c < coll::collectives; ++c) {
        auto const collective = static_cast<coll::Collective>(c);
        Pvar state = of_communicator(collective, coll::algorithm_variable, coll::algorithm_sentence);
        state.items = algorithms_of(collective);
        state.read = [collective](Comm const* comm) { return place_of(use_of(*comm, collective).algorithm); };
        all.push_back(std::move(state));
        for (coll::UseRow const& row : coll::use_rows) {
            Pvar p = of_communicator(collective, row.name, row.sentence);
            p.kind = row.kind;
            p.read = [collective, &row](Comm const* comm) { return (use_of(*comm, collective).*row.counter).read(); };
            all.push_back(std::move(p));
        }
    }
    return all;
}

}   // namespace

std::vector<Pvar> const& pvars() {
    static std::vector<Pvar> const all = make_pvars();
    return all;
}

MPI_Datatype Pvar::type() const {
    if (items) return MPI_INT;
    return kind == CounterKind::time ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG;
}

int Pvar::var_class() const {
    if (items) return MPI_T_PVAR_CLASS_STATE;
    switch (kind) {
    case CounterKind::count: return MPI_T_PVAR_CLASS_COUNTER;
    case CounterKind::bytes: return MPI_T_PVAR_CLASS_AGGREGATE;
    case CounterKind::time: return MPI_T_PVAR_CLASS_TIMER;
    case CounterKind::highest: return MPI_T_PVAR_CLASS_HIGHWATERMARK;
    case CounterKind::level: break;
    }
    return MPI_T_PVAR_CLASS_LEVEL;
}

}   // namespace tutti::tool
