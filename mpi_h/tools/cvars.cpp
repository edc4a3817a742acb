// SPDX-License-Identifier: BSD-3-Clause
// Control variables (MPI 3.1, 14.3.6): the settings of variables.def under their names in the environment. Most can be
// set before MPI_Init, which reads them; none can be set later. A value outside of its range is refused.
#include <cstdlib>

#include <unistd.h>

#include "mpi_h/entry/entry.hpp"
#include "mpi_h/tools/tool.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"

namespace tutti::tool {
namespace {

using CvarHandle = MPIR_T_cvar_handle_s;

constexpr std::size_t text_room = 1024;   ///< size of a text setting in characters, unless its value is longer

/// The MPI datatype of a setting's type.
MPI_Datatype type_of(bool) { return MPI_INT; }
MPI_Datatype type_of(long) { return MPI_COUNT; }
MPI_Datatype type_of(std::size_t) { return MPI_UNSIGNED_LONG; }
MPI_Datatype type_of(std::string const&) { return MPI_CHAR; }

std::size_t elements(std::string const& text) { return std::max(text_room, text.size() + 1); }
template <class T>
std::size_t elements(T) {
    return 1;
}

void store_value(bool value, void* to) { *static_cast<int*>(to) = value; }
void store_value(long value, void* to) { *static_cast<MPI_Count*>(to) = value; }
void store_value(std::size_t value, void* to) { *static_cast<unsigned long*>(to) = value; }
void store_value(std::string const& value, void* to) { std::memcpy(to, value.c_str(), value.size() + 1); }

/// Returns the setting's text for the environment; numbers that are not valid values are written, too.
void load_text(bool, void const* from, std::string& text) { text = std::to_string(*static_cast<int const*>(from)); }
void load_text(long, void const* from, std::string& text) {
    text = std::to_string(*static_cast<MPI_Count const*>(from));
}
void load_text(std::size_t, void const* from, std::string& text) {
    text = std::to_string(*static_cast<unsigned long const*>(from));
}
void load_text(std::string const&, void const* from, std::string& text) { text = static_cast<char const*>(from); }

/// Calls `use` with the setting of that index, in its own type.
template <class Use>
void with(int index, Use use) {
    std::vector<std::string> ignored;
    bool const started = library().process != nullptr;
    Variables const values = started ? library().process->variables : read_variables(environ, ignored);
    int number = 0;
#define VAR(group, type, name, ...) \
    if (number++ == index) use(values.name);
#include "runtime/settings/variables.def"
#undef VAR
}

/// Returns true if the setting was read before the program could write it: by the loader's constructors, or by mpiexec.
bool was_read(VariableRow const& row) {
    if (row.scope == VariableScope::before_main) return true;
    return row.scope == VariableScope::launcher && std::getenv(launch::segment_variable);
}

int scope_of(VariableRow const& row) {
    if (was_read(row)) return MPI_T_SCOPE_READONLY;
    return row.scope == VariableScope::local ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_ALL_EQ;
}

CvarHandle* find_handle(MPI_T_cvar_handle handle) {
    auto const found = find_owner(state().cvar_handles, handle);
    return found == state().cvar_handles.end() ? nullptr : found->get();
}

}   // namespace

std::vector<VariableRow> const& cvars() {
    static std::vector<VariableRow> const all = describe_variables(nullptr);
    return all;
}

}   // namespace tutti::tool

using namespace tutti;

TUTTI_FUNCTION(T_cvar_get_num);
int PMPI_T_cvar_get_num(int* num_cvar) {
    return tool::enter([&] {
        tool::store(num_cvar, static_cast<int>(tool::cvars().size()));
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_cvar_get_info);
int PMPI_T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                         MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
    return tool::enter([&] {
        VariableRow const* const row = tool::at(tool::cvars(), cvar_index);
        if (!row) return MPI_T_ERR_INVALID_INDEX;
        tool::store(row->name, name, name_len);
        tool::store(verbosity, row->group == "check" ? MPI_T_VERBOSITY_USER_BASIC : MPI_T_VERBOSITY_TUNER_BASIC);
        tool::with(cvar_index, [&](auto const& value) { tool::store(datatype, tool::type_of(value)); });
        tool::store(enumtype, MPI_T_ENUM_NULL);
        tool::store(join(row->description, " Values: ", row->range, "."), desc, desc_len);
        tool::store(bind, MPI_T_BIND_NO_OBJECT);
        tool::store(scope, tool::scope_of(*row));
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_cvar_get_index);
int PMPI_T_cvar_get_index(char const* name, int* cvar_index) {
    return tool::enter([&] {
        if (!tool::address(name) || !tool::address(cvar_index)) return MPI_T_ERR_INVALID;
        int const index = tool::index_of(tool::cvars(), name);
        if (index < 0) return MPI_T_ERR_INVALID_NAME;
        *cvar_index = index;
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_cvar_handle_alloc);
int PMPI_T_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
    return tool::enter([&] {
        if (!tool::at(tool::cvars(), cvar_index)) return MPI_T_ERR_INVALID_INDEX;
        if (!tool::address(handle)) return MPI_T_ERR_INVALID;
        tool::address(count);
        tool::state().cvar_handles.push_back(std::make_unique<MPIR_T_cvar_handle_s>(cvar_index));
        *handle = tool::state().cvar_handles.back().get();
        tool::with(cvar_index, [&](auto const& value) { tool::store(count, static_cast<int>(tool::elements(value))); });
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_cvar_handle_free);
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
    return tool::enter([&] {
        if (!tool::address(handle) || !tool::find_handle(*handle)) return MPI_T_ERR_INVALID_HANDLE;
        tool::state().cvar_handles.erase(tool::find_owner(tool::state().cvar_handles, *handle));
        *handle = MPI_T_CVAR_HANDLE_NULL;
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_cvar_read);
int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
    return tool::enter([&] {
        MPIR_T_cvar_handle_s const* const h = tool::find_handle(handle);
        if (!h) return MPI_T_ERR_INVALID_HANDLE;
        if (!tool::address(buf)) return MPI_T_ERR_INVALID;
        tool::with(h->index, [&](auto const& value) { tool::store_value(value, buf); });
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_cvar_write);
int PMPI_T_cvar_write(MPI_T_cvar_handle handle, void const* buf) {
    return tool::enter([&] {
        MPIR_T_cvar_handle_s const* const h = tool::find_handle(handle);
        if (!h) return MPI_T_ERR_INVALID_HANDLE;
        VariableRow const& row = *tool::at(tool::cvars(), h->index);
        if (library().stage != Stage::before_init || tool::was_read(row)) return MPI_T_ERR_CVAR_SET_NEVER;
        std::string text;
        if (!tool::address(buf)) return MPI_T_ERR_INVALID;
        tool::with(h->index, [&](auto const& value) { tool::load_text(value, buf, text); });
        if (!is_valid_setting(row.name, text)) return MPI_T_ERR_INVALID;
        return setenv(row.name.c_str(), text.c_str(), 1) == 0 ? MPI_SUCCESS : MPI_T_ERR_MEMORY;
    });
}
