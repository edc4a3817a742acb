// SPDX-License-Identifier: BSD-3-Clause
// Helpers of communicators, groups and topologies; and the attribute calls that communicators, datatypes and windows
// share. The number of a freed key stays valid while an attribute uses it (MPI 3.1, 6.7.2): the destructor of the key
// releases the number.
#pragma once

#include <algorithm>

#include "coll/comm/create.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/library_state.hpp"
#include "runtime/objects/group.hpp"

namespace tutti {

/// Callbacks for communicators, datatypes and windows have the same type in this ABI, because every handle is an int.
using CopyFunction = MPI_Comm_copy_attr_function;
using DeleteFunction = MPI_Comm_delete_attr_function;
static_assert(std::is_same_v<CopyFunction, MPI_Type_copy_attr_function>);
static_assert(std::is_same_v<CopyFunction, MPI_Win_copy_attr_function>);

/// Functions by which another language calls the user's functions; set by the binding that creates the key. `given_as`
/// is the binding's number for AttributeForm: 0 a pointer, 1 an integer as wide as an address, 3 a default integer.
using CopyProxy = int(CopyFunction* user, int handle, int keyval, void* extra, int given_as, void* value, void** copy,
                      int* flag);
using DeleteProxy = int(DeleteFunction* user, int handle, int keyval, int given_as, void* value, void* extra);

/// A key that the program has created, with its callbacks.
class UserKeyval final : public Keyval {
public:
    UserKeyval(ObjectKind objects, CopyFunction* copy_function, DeleteFunction* delete_function, void* extra_state);
    ~UserKeyval() override;

    int copy(Object& from, AttributeValue const& value, AttributeValue& copied, bool& wanted) override;
    int remove(Object& of, AttributeValue const& value) override;

    CopyProxy* copy_proxy = nullptr;   ///< null: called as C functions
    DeleteProxy* delete_proxy = nullptr;
    bool freed = false;   ///< by the program; attributes may still use it

private:
    CopyFunction* copy_;
    DeleteFunction* delete_;
    void* extra_;
};

/// MPI_*_create_keyval: creates a key and returns its number.
int make_keyval(Call const& call, Keyval::ObjectKind on, CopyFunction* copy, DeleteFunction* remove, void* extra_state);
/// MPI_*_free_keyval: sets the program's variable to MPI_KEYVAL_INVALID. Freeing a key in use twice is harmless.
void free_keyval(Call& call, Keyval::ObjectKind on, int* keyval);

/// Attribute calls for all languages: `handle` is that of a communicator, datatype or window, as defined by `on`.
void set_attribute(Call& call, Keyval::ObjectKind on, int handle, int keyval, AttributeValue value);
void delete_attribute(Call& call, Keyval::ObjectKind on, int handle, int keyval);
/// Writes the value to `out` in the representation of the calling language: a void* for C; for Fortran an integer as
/// wide as an address, with the same value if Fortran set it. Returns false if there is no value. Also returns
/// predefined attributes.
bool get_attribute(Call& call, Keyval::ObjectKind on, int handle, int keyval, AttributeForm form, void* out);

/// Converts between AttributeForm and the binding's number.
int attribute_kind_out(AttributeForm as);
AttributeForm attribute_kind_in(int number);

/// A predefined attribute: the pointer returned to C, and the integer returned to Fortran.
struct PredefinedAttribute {
    void const* pointer;
    std::intptr_t number;
};
/// Returns the value of a predefined attribute of a communicator (MPI_TAG_UB, …) or window (MPI_WIN_BASE, …); none if
/// it is unknown. Keys for C are odd, those for Fortran the even numbers after them. The address is valid as long as
/// `of` exists.
std::optional<PredefinedAttribute> predefined_attribute(Object const& of, int keyval);
/// If the number is a predefined key, which cannot be set, deleted or freed, returns the kind of object it belongs to.
std::optional<Keyval::ObjectKind> predefined_key(int keyval);

// Conversion of new groups, communicators and infos to handles, and of GroupComparison to the ABI's numbers.

inline int number_of(GroupComparison comparison) {
    switch (comparison) {
    case GroupComparison::identical: return MPI_IDENT;
    case GroupComparison::congruent: return MPI_CONGRUENT;
    case GroupComparison::similar: return MPI_SIMILAR;
    case GroupComparison::unequal: break;
    }
    return MPI_UNEQUAL;
}

/// Every empty group is MPI_GROUP_EMPTY.
inline MPI_Group handle_of(Ref<Group> group) {
    return group->size() == 0 ? MPI_GROUP_EMPTY : library().tables.groups.add(group.detach());
}

/// Null, for a process outside of the new communicator, becomes MPI_COMM_NULL.
inline MPI_Comm handle_of(Ref<Comm> comm) { return comm ? library().tables.comms.add(comm.detach()) : MPI_COMM_NULL; }

/// Returns a handle for an info that the program will own.
inline MPI_Info handle_of(Ref<Info> info) { return library().tables.infos.add(info.detach()); }

/// Result of MPI_Comm_get_info and MPI_Win_get_info: the hints in use, if any, and the kinds of memory.
inline MPI_Info info_used(Info const* hints) {
    auto info = Ref<Info>::adopt(new Info);
    if (hints) info->entries = hints->entries;
    info->set(memory_kinds_key, memory_kinds);
    return handle_of(std::move(info));
}

/// Adds the supported hints in `requested` to those of a communicator: assertions, which any implementation may use
/// (MPI 4.0, 7.4.4), and Tutti's own. Other hints are ignored, so MPI_Comm_get_info does not return them.
inline void store_hints(Info& hints, Info const& requested) {
    for (auto const& [key, value] : requested.entries)
        if (key.starts_with("mpi_assert_") || key.starts_with("tutti_")) hints.set(key, value);
}

/// As store_hints(), and applies Tutti's own hints. The first rank warns of values that cannot be used.
inline void set_hints(Comm& comm, Info const& requested) {
    if (!comm.info) comm.info = Ref<Info>::adopt(new Info);
    store_hints(*comm.info, requested);
    std::vector<std::string> diagnostics;
    coll::apply_hints(comm, diagnostics);
    if (comm.union_group->rank() != 0) return;
    for (std::string const& c : diagnostics) comm.process.warn(c);
}

/// Returns an array of `n` values of the program. Throws if `n` is negative or the array is missing.
template <class T>
std::span<T const> checked_array(Call const& call, int n, T const* values, char const* count_name,
                                 char const* list_name) {
    if (n < 0) fail(ErrorClass::arg, count_name, " is ", n, " but must be at least 0");
    if (n > 0) call.pointer(values, list_name);
    return {values, static_cast<std::size_t>(n)};
}

// Helpers that all virtual topologies share.

/// Returns the communicator's topology. Throws Error(topology) if it has none of this kind.
template <class T>
T& topology_of(Comm& c, char const* what) {
    T* topology = c.topology ? std::get_if<T>(c.topology.get()) : nullptr;
    if (!topology) fail(ErrorClass::topology, "comm does not have ", what);
    return *topology;
}

/// Sets the topology of a new communicator and returns its handle; null becomes MPI_COMM_NULL.
template <class T>
MPI_Comm with_topology(Ref<Comm> made, T topology) {
    if (made) made->topology = std::make_unique<VirtualTopology>(std::move(topology));
    return handle_of(std::move(made));
}

/// Returns the group of the communicator's ranks 0 to n − 1.
inline Ref<Group> first_ranks(Comm const& c, int n) {
    if (n == c.size()) return c.group;
    auto ranks = c.group->world_ranks().first(static_cast<std::size_t>(n));
    return Ref<Group>::adopt(new Group({ranks.begin(), ranks.end()}, c.group->me()));
}

/// Checks a rank of a process; MPI_PROC_NULL is not allowed.
inline void check_member(Comm const& c, int rank, char const* argument = "rank") {
    if (rank < 0 || rank >= c.size())
        fail(ErrorClass::rank, argument, " is ", rank, " but the communicator has ", c.size(), " ranks");
}

}   // namespace tutti
