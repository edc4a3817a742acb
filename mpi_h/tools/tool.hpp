// SPDX-License-Identifier: BSD-3-Clause
// MPI_T, the tool information interface (MPI 3.1, chapter 14): its state, its variables as rows, and the frame of its
// functions. They return codes and call no error handler, may be called before MPI_Init and after MPI_Finalize, and
// accept null pointers for results that the caller does not need.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coll/choice/choose.hpp"
#include "coll/choice/comm_state.hpp"
#include "mpi_h/entry/library_state.hpp"

/// The algorithms of one collective.
struct MPIR_T_enum_s {
    tutti::coll::Collective collective;
};

struct MPIR_T_cvar_handle_s {
    int index;
};

namespace tutti::tool {

/// A performance variable. Variables with an enumeration are states; levels and high watermarks have one value for all
/// handles; variables that only grow are counted separately for each handle, from its start on.
struct Pvar {
    std::string group, name, description;
    CounterKind kind = CounterKind::level;
    MPI_T_enum items = MPI_T_ENUM_NULL;
    bool per_communicator = false;
    coll::Collective collective{};
    std::function<std::uint64_t(Comm const*)> read;   ///< argument: null unless per_communicator

    bool grows() const { return kind != CounterKind::level && kind != CounterKind::highest; }
    MPI_Datatype type() const;
    int var_class() const;
};
std::vector<Pvar> const& pvars();

/// The control variables: every setting.
std::vector<VariableRow> const& cvars();

/// A category: "tutti", the groups of variables.def, and "communicator". Variables are listed by index.
struct Category {
    std::string name, description;
    std::vector<int> cvars, pvars, categories;
};
std::vector<Category> const& categories();

/// Returns the enumeration of a collective's algorithms.
MPI_T_enum algorithms_of(coll::Collective collective);

}   // namespace tutti::tool

/// A handle of a variable in a session.
struct MPIR_T_pvar_handle_s {
    tutti::tool::Pvar const* variable;
    MPI_Comm comm;   ///< if per_communicator; may be freed before the handle is
    std::uint64_t context;
    bool running;
    std::uint64_t before, at_start;   ///< count until the last start, and the variable's value at that start
};

struct MPIR_T_pvar_session_s {
    std::vector<std::unique_ptr<MPIR_T_pvar_handle_s>> handles;
};

namespace tutti::tool {

struct State {
    int users = 0;   ///< calls of MPI_T_init_thread without their MPI_T_finalize
    std::vector<std::unique_ptr<MPIR_T_pvar_session_s>> sessions;
    std::vector<std::unique_ptr<MPIR_T_cvar_handle_s>> cvar_handles;
};
State& state();

/// Returns the iterator to the owner of `object` in a list, or the list's end.
template <class List, class T>
auto find_owner(List& list, T const* object) {
    return std::ranges::find_if(list, [object](auto const& owner) { return owner.get() == object; });
}

/// Thrown for an argument that is a constant of the ABI, or another small number, instead of an address.
struct NoAddress {};
/// Returns the address of a result or value; null: the caller does not need it.
template <class T>
T* address(T* pointer) {
    if (pointer && reinterpret_cast<std::intptr_t>(pointer) < 4096) throw NoAddress();
    return pointer;
}

/// Returns a string: `*length` is the room, then the required length, both including the terminating zero.
inline void store(std::string_view text, char* to, int* length) {
    if (!address(length)) return;
    if (address(to) && *length > 0) {
        std::size_t const n = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
        std::memcpy(to, text.data(), n);
        to[n] = '\0';
    }
    *length = static_cast<int>(text.size()) + 1;
}
template <class T, class V>
void store(T* to, V const& value) {
    if (address(to)) *to = value;
}

/// Returns the row at an index; null if there is none.
template <class T>
T const* at(std::vector<T> const& rows, int index) {
    return index >= 0 && index < static_cast<int>(rows.size()) ? &rows[static_cast<std::size_t>(index)] : nullptr;
}
/// Returns the index of the row with that name, or -1.
template <class T>
int index_of(std::vector<T> const& rows, std::string_view name) {
    auto const found = std::ranges::find_if(rows, [name](T const& row) { return row.name == name; });
    return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

/// Held in every MPI_T call: one thread at a time, and none in another MPI call (which may have begun before MPI_Init,
/// when tool_lock alone is sufficient).
class ToolCallScope {
public:
    explicit ToolCallScope(LibraryState& f)
        : scope_(f.call_waiter.load(std::memory_order_acquire)), lock_(f.tool_lock) {}

private:
    CallScope scope_;
    std::lock_guard<std::recursive_mutex> lock_;
};

/// Runs the body of a function that may be called at any time.
template <class Body>
int enter_any_time(Body&& body) {
    ToolCallScope scope(library());
    try {
        return body();
    } catch (NoAddress) { return MPI_T_ERR_INVALID; } catch (std::bad_alloc const&) {
        return MPI_T_ERR_MEMORY;
    } catch (std::exception const&) { return MPI_T_ERR_INVALID; }
}

/// Runs the body of a function that may be called between MPI_T_init_thread and MPI_T_finalize only.
template <class Body>
int enter(Body&& body) {
    return enter_any_time([&]() -> int {
        if (!library().tool || state().users == 0) return MPI_T_ERR_NOT_INITIALIZED;
        return body();
    });
}

}   // namespace tutti::tool
