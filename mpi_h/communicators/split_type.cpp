// SPDX-License-Identifier: BSD-3-Clause
// Hardware: splitting communicators by it (MPI 3.1, 6.4.2; MPI 4.1, 7.4.2), and which of it this process cannot leave
// (MPI 4.1, 9.1.2). Its kinds are named as hwloc names them, "hwloc://NUMANode", or as --bind-to does.
#include "coll/comm/split_type.hpp"
#include "coll/call/collectives.hpp"
#include "mpi_h/communicators/objects.hpp"
#include "runtime/restriction.hpp"

namespace tutti {
namespace {

using What = coll::Shared::What;

constexpr char hardware_key[] = "mpi_hw_resource_type", set_key[] = "mpi_pset_name";

/// The hardware that an info names; nothing where it names none that is known here.
coll::Shared named_hardware(Info const* info) {
    std::string const* name = info ? info->find(hardware_key) : nullptr;
    if (!name) return {};
    if (*name == "mpi_shared_memory") return {What::node};
    auto const unit = topo::hardware_named(*name);
    return unit ? coll::Shared{What::unit, *unit} : coll::Shared{};
}

/// Hardware, or one of the two process sets that there are without sessions.
coll::Shared named_resource(Info const* info) {
    std::string const* set = info ? info->find(set_key) : nullptr;
    if (!set || info->find(hardware_key)) return named_hardware(info);
    return {*set == "mpi://WORLD" ? What::world : *set == "mpi://SELF" ? What::itself : What::nothing};
}

coll::Shared wanted(int split_type, Info const* info) {
    switch (split_type) {
    case MPI_UNDEFINED: return {};
    case MPI_COMM_TYPE_SHARED: return {What::node};
    case MPI_COMM_TYPE_HW_GUIDED: return named_hardware(info);
    case MPI_COMM_TYPE_HW_UNGUIDED: return {What::some_unit};
    case MPI_COMM_TYPE_RESOURCE_GUIDED: return named_resource(info);
    }
    fail(ErrorClass::arg, "split_type is ", split_type,
         " but must be MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, "
         "MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED or MPI_UNDEFINED");
}

}   // namespace
}   // namespace tutti

using namespace tutti;

/// What the new communicator's members have in common is in its info, so that those who left the choice open learn it.
TUTTI_FUNCTION(Comm_split_type)
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
    return enter("MPI_Comm_split_type", given(comm, split_type, key, info, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        Info const* hints = info == MPI_INFO_NULL ? nullptr : &call.info(info);
        coll::Shared const shared = wanted(split_type, hints);
        *newcomm = MPI_COMM_NULL;
        coll::note(parent, call.name);
        auto [child, unit] = coll::split_by_type(parent, shared, key);
        if (unit) {
            child->info = Ref<Info>::adopt(new Info);
            child->info->set(hardware_key, std::string(topo::hwloc_name(*unit)));
        }
        *newcomm = handle_of(std::move(child));
    });
}

TUTTI_FUNCTION(Get_hw_resource_info)
int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
    return enter("MPI_Get_hw_resource_info", given(hw_info), [&](Call& call) {
        call.pointer(hw_info, "hw_info");
        topo::Restriction const held = restriction(*library().process);
        auto made = Ref<Info>::adopt(new Info);
        for (std::size_t i = 0; i < held.size(); ++i)
            made->set(std::string(topo::hwloc_name(topo::hardware[i])), held[i] >= 0 ? "true" : "false");
        *hw_info = handle_of(std::move(made));
    });
}
