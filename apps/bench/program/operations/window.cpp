// SPDX-License-Identifier: BSD-3-Clause
#include "window.hpp"

#include <algorithm>
#include <set>

namespace bench {
namespace {

MPI_Group group_of(const std::set<int> &ranks, MPI_Comm comm)
{
    const std::vector<int> members(ranks.begin(), ranks.end());
    MPI_Group all, some;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, int(members.size()), members.data(), &some);
    MPI_Group_free(&all);
    return some;
}

} // namespace

Window::Window(const Settings &settings, const Room &room, MPI_Comm comm)
    : flavor_(room.operation.access == Access::load_store ? Flavor::shared : settings.window)
{
    const bool loads_and_stores = room.operation.access == Access::load_store;
    access_.target = room.ranks > 1 ? 1 : 0;
    access_.operations = settings.per_sync;
    access_.sync = settings.sync;
    access_.locked = loads_and_stores || (room.operation.accesses() && settings.sync == Sync::flush);
    access_.own = make(flavor_, MPI_Aint(room.window * sizeof(double)), comm);
    find_target(flavor_, loads_and_stores, comm);
    make_groups(comm);
    if (access_.locked)
        MPI_Win_lock_all(0, access_.win);
}

Window::~Window()
{
    if (access_.locked)
        MPI_Win_unlock_all(access_.win);
    if (flavor_ == Flavor::dynamic)
        MPI_Win_detach(access_.win, access_.own);
    MPI_Win_free(&access_.win);
    MPI_Group_free(&access_.partner);
    MPI_Group_free(&access_.neighbors);
}

double *Window::make(Flavor flavor, MPI_Aint bytes, MPI_Comm comm)
{
    constexpr int unit = sizeof(double);
    double *own = nullptr;
    if (flavor == Flavor::create || flavor == Flavor::dynamic) {
        constexpr std::size_t least = 1 << 20; // what programs expose is seldom small
        memory_.resize(std::max(std::size_t(bytes), least) / sizeof(double));
        own = memory_.data();
    }
    switch (flavor) {
    case Flavor::create: MPI_Win_create(own, bytes, unit, MPI_INFO_NULL, comm, &access_.win); break;
    case Flavor::allocate: MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &own, &access_.win); break;
    case Flavor::shared: MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, &own, &access_.win); break;
    case Flavor::dynamic:
        MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &access_.win);
        MPI_Win_attach(access_.win, own, bytes);
    }
    return own;
}

void Window::find_target(Flavor flavor, bool loads_and_stores, MPI_Comm comm)
{
    if (flavor == Flavor::dynamic) {
        MPI_Get_address(access_.own, &access_.place);
        MPI_Bcast(&access_.place, 1, MPI_AINT, access_.target, comm);
    }
    if (loads_and_stores) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(access_.win, access_.target, &bytes, &unit, &access_.there);
    }
}

void Window::make_groups(MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    access_.partner = group_of({rank == 0 ? access_.target : 0}, comm);
    access_.neighbors = group_of({(rank + ranks - 1) % ranks, (rank + 1) % ranks}, comm);
}

} // namespace bench
