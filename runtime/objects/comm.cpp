// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/objects/comm.hpp"

#include <string>

#include "runtime/objects/group.hpp"

namespace tutti {

Members::Members(Ref<Group> local, Ref<Group> others, bool local_first)
    : group(std::move(local)), remote(std::move(others)),
      union_group(local_first ? group_union(*group, *remote) : group_union(*remote, *group)),
      remote_offset(local_first ? group->size() : 0) {}

int Comm::reported_rank(int member) const {
    if (reported_as)
        return reported_as->reported_rank(reported_as->union_group->rank_of(union_group->world_rank(member)));
    int const first = first_group_size();
    return member < first ? member : member - first;
}

std::string Comm::description() const {
    if (reported_as) return reported_as->description();
    if (!report_name.empty()) return report_name;
    if (!name.empty()) return name;
    return is_inter()
               ? "an intercommunicator of " + std::to_string(group->size()) + " and " + std::to_string(remote->size()) +
                     " ranks"
               : "a communicator of " + std::to_string(group->size()) + (group->size() == 1 ? " rank" : " ranks");
}

void Comm::describe_blocked_call(void const* about, BlockedCall& blocked) {
    auto const& comm = *static_cast<Comm const*>(about);
    if (comm.reported_as) return describe_blocked_call(comm.reported_as, blocked);
    blocked.kind = CallKind::collective;
    std::string const call = comm.collectives ? comm.collectives->describe_call() : "";
    blocked.call = call.empty() ? blocked.call + "(" + comm.description() + ")" : call;
}

}   // namespace tutti
