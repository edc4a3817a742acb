// SPDX-License-Identifier: BSD-3-Clause
// New groups and communicators on their way out: objects to handles, likeness to the ABI's numbers.
#pragma once

#include "coll/comm/create.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/info_env.hpp"
#include "runtime/objects/group_calculus.hpp"

namespace tutti {

inline int number_of(Likeness likeness) {
    switch (likeness) {
    case Likeness::identical: return MPI_IDENT;
    case Likeness::congruent: return MPI_CONGRUENT;
    case Likeness::similar: return MPI_SIMILAR;
    case Likeness::unequal: break;
    }
    return MPI_UNEQUAL;
}

/// Every empty group is MPI_GROUP_EMPTY.
inline MPI_Group handle_of(Ref<Group> group) {
    return group->size() == 0 ? MPI_GROUP_EMPTY : library().tables.groups.add(group.detach());
}

/// Null, for a process outside the new communicator, is MPI_COMM_NULL.
inline MPI_Comm handle_of(Ref<Comm> comm) { return comm ? library().tables.comms.add(comm.detach()) : MPI_COMM_NULL; }

/// A copy of the program's info, with a handle of its own.
inline MPI_Info handle_of(Ref<Info> info) { return library().tables.infos.add(info.detach()); }

/// What MPI_Comm_get_info and MPI_Win_get_info return: the hints in use, if there are any, and what the library says.
inline MPI_Info info_used(Info const* hints) {
    auto info = Ref<Info>::adopt(new Info);
    if (hints) info->entries = hints->entries;
    info->set(memory_kinds_key, memory_kinds);
    return handle_of(std::move(info));
}

/// Adds to a communicator's hints those of `given` that mean something: assertions, on which any implementation may
/// rely (MPI 4.0, 7.4.4), and Tutti's own. Others are ignored, so that MPI_Comm_get_info does not promise them.
inline void keep_hints(Info& hints, Info const& given) {
    for (auto const& [key, value] : given.entries)
        if (key.starts_with("mpi_assert_") || key.starts_with("tutti_")) hints.set(key, value);
}

inline void take_hints(Comm& comm, Info const& given) {
    if (!comm.info) comm.info = Ref<Info>::adopt(new Info);
    keep_hints(*comm.info, given);
    std::vector<std::string> complaints;
    coll::take_hints(comm, complaints);
    if (comm.union_group->rank() != 0) return;
    for (std::string const& c : complaints) comm.process.warn(c);
}

/// A list of `n` values that the user gave; throws when there should be one and is none.
template <class T>
std::span<T const> list(Call const& call, int n, T const* values, char const* count_name, char const* list_name) {
    if (n < 0) fail(ErrorClass::arg, count_name, " is ", n, " but must be at least 0");
    if (n > 0) call.pointer(values, list_name);
    return {values, static_cast<std::size_t>(n)};
}

}   // namespace tutti
