// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: initialization, finalization, enumerations (MPI 3.1, 14.3.4 and 14.3.5) and categories.
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

// Categories of variables (MPI 3.1, 14.3.8): one contains all others, the groups of settings and counters; the group of
// collectives contains that of counters per communicator. They never change.

namespace tutti::tool {
namespace {

char const* description_of(std::string_view group) {
    static constexpr std::pair<std::string_view, char const*> descriptions[] = {
        {"wait", "How ranks wait for each other, and for how long."},
        {"memory", "Memory shared by the ranks of a node, and access paths to it."},
        {"p2p", "Messages from rank to rank."},
        {"network", "Connections between nodes."},
        {"coll", "Collective operations."},
        {"rma", "One-sided communication."},
        {"check", "Checks, warnings and records."},
        {"communicator", "Collectives of a communicator, and their algorithms."},
    };
    for (auto const& [name, description] : descriptions)
        if (name == group) return description;
    return "";
}

/// Returns the category of a group; creates it as part of its parent if necessary.
Category& category_of(std::vector<Category>& all, std::string_view group) {
    std::string const name = join("tutti_", group);
    if (int const index = index_of(all, name); index >= 0) return all[static_cast<std::size_t>(index)];
    bool const below_coll = group == "communicator";
    Category& parent = below_coll ? category_of(all, "coll") : all.front();
    parent.categories.push_back(static_cast<int>(all.size()));
    return all.emplace_back(Category{name, description_of(group), {}, {}, {}});
}

std::vector<Category> make_categories() {
    std::vector<Category> all = {{"tutti", "All variables of Tutti.", {}, {}, {}}};
    for (std::size_t i = 0; i < cvars().size(); ++i)
        category_of(all, cvars()[i].group).cvars.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < pvars().size(); ++i)
        category_of(all, pvars()[i].group).pvars.push_back(static_cast<int>(i));
    return all;
}

/// Copies up to `len` indices of a category.
int list(int cat_index, int len, int* indices, std::vector<int> Category::*which) {
    return enter([&] {
        Category const* const c = at(categories(), cat_index);
        if (!c) return MPI_T_ERR_INVALID_INDEX;
        if (len < 0 || (len > 0 && !address(indices))) return MPI_T_ERR_INVALID;
        std::vector<int> const& all = c->*which;
        std::copy_n(all.begin(), std::min(all.size(), static_cast<std::size_t>(len)), indices);
        return MPI_SUCCESS;
    });
}

}   // namespace

std::vector<Category> const& categories() {
    static std::vector<Category> const all = make_categories();
    return all;
}

}   // namespace tutti::tool

TUTTI_FUNCTION(T_category_get_num);
int PMPI_T_category_get_num(int* num_cat) {
    return tool::enter([&] {
        tool::store(num_cat, static_cast<int>(tool::categories().size()));
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_category_get_info);
int PMPI_T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
                             int* num_pvars, int* num_categories) {
    return tool::enter([&] {
        tool::Category const* const c = tool::at(tool::categories(), cat_index);
        if (!c) return MPI_T_ERR_INVALID_INDEX;
        tool::store(c->name, name, name_len);
        tool::store(c->description, desc, desc_len);
        tool::store(num_cvars, static_cast<int>(c->cvars.size()));
        tool::store(num_pvars, static_cast<int>(c->pvars.size()));
        tool::store(num_categories, static_cast<int>(c->categories.size()));
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_category_get_index);
int PMPI_T_category_get_index(char const* name, int* cat_index) {
    return tool::enter([&] {
        if (!tool::address(name) || !tool::address(cat_index)) return MPI_T_ERR_INVALID;
        int const index = tool::index_of(tool::categories(), name);
        if (index < 0) return MPI_T_ERR_INVALID_NAME;
        *cat_index = index;
        return MPI_SUCCESS;
    });
}

TUTTI_FUNCTION(T_category_get_cvars);
int PMPI_T_category_get_cvars(int cat_index, int len, int indices[]) {
    return tool::list(cat_index, len, indices, &tool::Category::cvars);
}

TUTTI_FUNCTION(T_category_get_pvars);
int PMPI_T_category_get_pvars(int cat_index, int len, int indices[]) {
    return tool::list(cat_index, len, indices, &tool::Category::pvars);
}

TUTTI_FUNCTION(T_category_get_categories);
int PMPI_T_category_get_categories(int cat_index, int len, int indices[]) {
    return tool::list(cat_index, len, indices, &tool::Category::categories);
}

TUTTI_FUNCTION(T_category_changed);
int PMPI_T_category_changed(int* update_number) {
    return tool::enter([&] {
        tool::store(update_number, 1);
        return MPI_SUCCESS;
    });
}
