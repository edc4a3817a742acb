// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: initialization, finalization and enumerations (MPI 3.1, 14.3.4 and 14.3.5).
#include "mpi_h/tools/tool.hpp"

#include "mpi_h/entry/entry.hpp"

namespace tutti::tool {
namespace {

MPIR_T_enum_s enumerations[coll::collectives];

/// Returns the names of an enumeration's items; the value of an item is its index. The first one means that there was
/// no call.
std::vector<std::string_view> items_of(coll::Collective collective) {
    std::vector<std::string_view> names = {"none"};
    for (coll::AlgorithmRow const& row : coll::all_algorithms())
        if (row.collective == collective) names.push_back(row.name);
    return names;
}

bool known(MPI_T_enum items) {
    return items && std::ranges::any_of(enumerations, [items](MPIR_T_enum_s const& e) { return &e == items; });
}

}   // namespace

State& state() { return *library().tool; }

MPI_T_enum algorithms_of(coll::Collective collective) {
    MPIR_T_enum_s& items = enumerations[static_cast<int>(collective)];
    items.collective = collective;
    return &items;
}

}   // namespace tutti::tool

using namespace tutti;

TUTTI_FUNCTION(T_init_thread);
int PMPI_T_init_thread(int required, int* provided) {
    return tool::enter_any_time([&] {
        tool::address(provided);
        if (!library().tool) library().tool = std::make_shared<tool::State>();
        if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) return MPI_T_ERR_INVALID;
        ++tool::state().users;
        tool::store(provided, required);
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_finalize);
int PMPI_T_finalize() {
    return tool::enter([] {
        if (--tool::state().users == 0) tool::state() = {};   // including all handles and sessions
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_enum_get_info);
int PMPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
    return tool::enter([&] {
        if (!tool::known(enumtype)) return MPI_T_ERR_INVALID_HANDLE;
        tool::store(num, static_cast<int>(tool::items_of(enumtype->collective).size()));
        tool::store(join("tutti_", coll::name_of(enumtype->collective), "_algorithms"), name, name_len);
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_enum_get_item);
int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len) {
    return tool::enter([&] {
        if (!tool::known(enumtype)) return MPI_T_ERR_INVALID_HANDLE;
        std::vector<std::string_view> const items = tool::items_of(enumtype->collective);
        std::string_view const* const item = tool::at(items, indx);
        if (!item) return MPI_T_ERR_INVALID_ITEM;
        tool::store(value, indx);
        tool::store(*item, name, name_len);
        return MPI_SUCCESS;
    });
}
