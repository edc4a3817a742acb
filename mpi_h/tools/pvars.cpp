// SPDX-License-Identifier: BSD-3-Clause
// Performance variables (MPI 3.1, 14.3.7). Variables that only grow can be started, stopped, set and reset separately
// for each handle, so that sessions do not disturb each other; all others run continuously and are read-only.
#include <cmath>

#include "coll/choice/comm_state.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/tools/tool.hpp"

// The list of performance variables: those of counters.def, and for each collective those of a communicator
// (collective_counter_rows).

namespace tutti::tool {
namespace {

/// Returns a counter of this process's rank state; 0 before MPI_Init.
std::uint64_t read_rank_state(CounterRow const& row) {
    if (!library().process) return 0;
    RankState& rank_state = library().process->rank_state();
    record_arena_use(rank_state);
    return row.read(rank_state);
}

coll::CollectiveCounters const& counters_of(Comm const& comm, coll::Collective collective) {
    return coll::state_of(comm).counters_of(collective);
}

/// Returns the index of the algorithm among those of its collective, from 1 on; 0: there was no call.
std::uint64_t algorithm_index(coll::AlgorithmRow const* algorithm) {
    std::uint64_t index = 0;
    if (!algorithm) return 0;
    for (coll::AlgorithmRow const& row : coll::all_algorithms()) {
        index += row.collective == algorithm->collective;
        if (&row == algorithm) break;
    }
    return index;
}

Pvar communicator_pvar(coll::Collective collective, std::string_view name, std::string_view description) {
    Pvar p;
    p.group = "communicator";
    p.name = join("tutti_", coll::name_of(collective), "_", name);
    p.description = join(description, coll::name_of(collective), ".");
    p.per_communicator = true;
    p.collective = collective;
    return p;
}

Pvar in_flight() {
    Pvar p;
    p.group = "coll";
    p.name = coll::in_flight_variable;
    p.description = coll::in_flight_description;
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
        p.description = row.description;
        p.kind = row.kind;
        p.read = [&row](Comm const*) { return read_rank_state(row); };
        all.push_back(std::move(p));
    }
    all.push_back(in_flight());
    for (int c = 0; c < coll::collectives; ++c) {
        auto const collective = static_cast<coll::Collective>(c);
        Pvar state = communicator_pvar(collective, coll::algorithm_variable, coll::algorithm_description);
        state.items = algorithms_of(collective);
        state.read = [collective](Comm const* comm) {
            return algorithm_index(counters_of(*comm, collective).algorithm);
        };
        all.push_back(std::move(state));
        for (coll::CollectiveCounterRow const& row : coll::collective_counter_rows) {
            Pvar p = communicator_pvar(collective, row.name, row.description);
            p.kind = row.kind;
            p.read = [collective, &row](Comm const* comm) {
                return (counters_of(*comm, collective).*row.counter).read();
            };
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

namespace {

using PvarHandle = MPIR_T_pvar_handle_s;
using Session = MPIR_T_pvar_session_s;

/// Reads the variable's value for all handles. Returns false if its communicator was freed.
bool read_value(PvarHandle const& h, std::uint64_t& value) {
    Comm const* comm = nullptr;
    if (h.variable->per_communicator) {
        comm = library().tables.comms.find(h.comm);
        if (!comm || comm->context != h.context) return false;
    }
    value = h.variable->read(comm);
    return true;
}

bool value_of(PvarHandle const& h, std::uint64_t& value) {
    value = h.before;
    if (h.variable->grows() && !h.running) return true;
    std::uint64_t now = 0;
    if (!read_value(h, now)) return false;
    value += now - h.at_start;
    return true;
}

/// Makes the handle continue to count from `value`.
bool set(PvarHandle& h, std::uint64_t value) {
    h.before = value;
    return !h.running || read_value(h, h.at_start);
}

bool start(PvarHandle& h) {
    if (h.running) return true;
    if (!read_value(h, h.at_start)) return false;
    return h.running = true;
}

bool stop(PvarHandle& h) {
    if (!value_of(h, h.before)) return false;
    h.running = false;
    return true;
}

/// Writes the value in the variable's type; times in seconds.
void store_value(Pvar const& p, std::uint64_t value, void* to) {
    if (p.items) *static_cast<int*>(to) = static_cast<int>(value);
    else if (p.kind == CounterKind::time) *static_cast<double*>(to) = static_cast<double>(value) * 1e-9;
    else *static_cast<unsigned long long*>(to) = value;
}
std::uint64_t load_value(Pvar const& p, void const* from) {
    if (p.kind == CounterKind::time)
        return static_cast<std::uint64_t>(std::llround(*static_cast<double const*>(from) * 1e9));
    return *static_cast<unsigned long long const*>(from);
}

int status_of(bool valid) { return valid ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE; }

Session* find_session(MPI_T_pvar_session session) {
    auto const found = find_owner(state().sessions, session);
    return found == state().sessions.end() ? nullptr : found->get();
}

/// Calls `act` for one handle of a session; for MPI_T_PVAR_ALL_HANDLES, for all handles of variables that grow. Returns
/// `other_error` for a single handle of another variable.
template <class Action>
int for_handles(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int other_error, Action act) {
    return enter([&] {
        Session* const s = find_session(session);
        if (!s) return MPI_T_ERR_INVALID_SESSION;
        bool valid = true;
        if (handle == MPI_T_PVAR_ALL_HANDLES) {
            for (auto const& h : s->handles)
                if (h->variable->grows()) valid = act(*h) && valid;
            return status_of(valid);
        }
        auto const found = find_owner(s->handles, handle);
        if (found == s->handles.end()) return MPI_T_ERR_INVALID_HANDLE;
        return handle->variable->grows() ? status_of(act(**found)) : other_error;
    });
}

/// Calls `act` for one handle and the program's buffer.
template <class Buffer, class Action>
int for_value(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Buffer* buf, Action act) {
    return enter([&] {
        Session* const s = find_session(session);
        if (!s) return MPI_T_ERR_INVALID_SESSION;
        auto const found = find_owner(s->handles, handle);
        if (found == s->handles.end()) return MPI_T_ERR_INVALID_HANDLE;
        return address(buf) ? act(**found) : MPI_T_ERR_INVALID;
    });
}

int allocate(Session& s, Pvar const& p, void* object, MPI_T_pvar_handle* handle, int* count) {
    address(count);
    auto made = std::make_unique<PvarHandle>(PvarHandle{&p, MPI_COMM_NULL, 0, false, 0, 0});
    if (p.per_communicator) {
        if (!address(object)) return MPI_T_ERR_INVALID;
        made->comm = *static_cast<MPI_Comm*>(object);
        Comm const* const comm = library().tables.comms.find(made->comm);
        if (!comm) return MPI_T_ERR_INVALID_HANDLE;
        made->context = comm->context;
    }
    store(count, 1);
    *handle = made.get();
    s.handles.push_back(std::move(made));
    return MPI_SUCCESS;
}

}   // namespace
}   // namespace tutti::tool

using namespace tutti;

TUTTI_FUNCTION(T_pvar_get_num);
int PMPI_T_pvar_get_num(int* num_pvar) {
    return tool::enter([&] {
        tool::store(num_pvar, static_cast<int>(tool::pvars().size()));
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_get_info);
int PMPI_T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                         MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                         int* readonly, int* continuous, int* atomic) {
    return tool::enter([&] {
        tool::Pvar const* const p = tool::at(tool::pvars(), pvar_index);
        if (!p) return MPI_T_ERR_INVALID_INDEX;
        tool::store(p->name, name, name_len);
        tool::store(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
        tool::store(var_class, p->var_class());
        tool::store(datatype, p->type());
        tool::store(enumtype, p->items);
        tool::store(p->description, desc, desc_len);
        tool::store(bind, p->per_communicator ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
        tool::store(readonly, !p->grows());
        tool::store(continuous, !p->grows());
        tool::store(atomic, p->grows());
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_get_index);
int PMPI_T_pvar_get_index(char const* name, int var_class, int* pvar_index) {
    return tool::enter([&] {
        if (!tool::address(name) || !tool::address(pvar_index)) return MPI_T_ERR_INVALID;
        int const index = tool::index_of(tool::pvars(), name);
        if (index < 0 || tool::at(tool::pvars(), index)->var_class() != var_class) return MPI_T_ERR_INVALID_NAME;
        *pvar_index = index;
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_session_create);
int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
    return tool::enter([&] {
        if (!tool::address(session)) return MPI_T_ERR_INVALID;
        tool::state().sessions.push_back(std::make_unique<MPIR_T_pvar_session_s>());
        *session = tool::state().sessions.back().get();
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_session_free);
int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
    return tool::enter([&] {
        if (!tool::address(session) || !tool::find_session(*session)) return MPI_T_ERR_INVALID_SESSION;
        tool::state().sessions.erase(tool::find_owner(tool::state().sessions, *session));
        *session = MPI_T_PVAR_SESSION_NULL;
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_handle_alloc);
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
                             int* count) {
    return tool::enter([&] {
        tool::Session* const s = tool::find_session(session);
        tool::Pvar const* const p = tool::at(tool::pvars(), pvar_index);
        if (!s) return MPI_T_ERR_INVALID_SESSION;
        if (!p) return MPI_T_ERR_INVALID_INDEX;
        return tool::address(handle) ? tool::allocate(*s, *p, obj_handle, handle, count) : MPI_T_ERR_INVALID;
    });
}

TUTTI_FUNCTION(T_pvar_handle_free);
int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
    return tool::enter([&] {
        tool::Session* const s = tool::find_session(session);
        if (!s) return MPI_T_ERR_INVALID_SESSION;
        auto const found = tool::find_owner(s->handles, tool::address(handle) ? *handle : nullptr);
        if (found == s->handles.end()) return MPI_T_ERR_INVALID_HANDLE;
        s->handles.erase(found);
        *handle = MPI_T_PVAR_HANDLE_NULL;
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_start);
int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return tool::for_handles(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, tool::start);
}

TUTTI_FUNCTION(T_pvar_stop);
int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return tool::for_handles(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, tool::stop);
}

TUTTI_FUNCTION(T_pvar_reset);
int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return tool::for_handles(session, handle, MPI_T_ERR_PVAR_NO_WRITE,
                             [](MPIR_T_pvar_handle_s& h) { return tool::set(h, 0); });
}

TUTTI_FUNCTION(T_pvar_read);
int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
    return tool::for_value(session, handle, buf, [&](MPIR_T_pvar_handle_s& h) {
        std::uint64_t value = 0;
        if (!tool::value_of(h, value)) return MPI_T_ERR_INVALID_HANDLE;
        tool::store_value(*h.variable, value, buf);
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_pvar_write);
int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void const* buf) {
    return tool::for_value(session, handle, buf, [&](MPIR_T_pvar_handle_s& h) {
        if (!h.variable->grows()) return MPI_T_ERR_PVAR_NO_WRITE;
        return tool::status_of(tool::set(h, tool::load_value(*h.variable, buf)));
    });
}

TUTTI_FUNCTION(T_pvar_readreset);
int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
    return tool::for_value(session, handle, buf, [&](MPIR_T_pvar_handle_s& h) {
        if (!h.variable->grows()) return MPI_T_ERR_PVAR_NO_WRITE;
        std::uint64_t value = 0;
        if (!tool::value_of(h, value)) return MPI_T_ERR_INVALID_HANDLE;
        tool::store_value(*h.variable, value, buf);
        return tool::status_of(tool::set(h, 0));
    });
}
