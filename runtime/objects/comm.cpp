// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/objects/comm.hpp"

#include <string>

#include "runtime/objects/group.hpp"

namespace tutti {

Members::Members(Ref<Group> local, Ref<Group> others, bool local_first)
    : group(std::move(local)), remote(std::move(others)),
      union_group(local_first ? group_union(*group, *remote) : group_union(*remote, *group)),
      remote_at(local_first ? group->size() : 0) {}

int Comm::reported_rank(int member) const {
    if (told_as) return told_as->reported_rank(told_as->union_group->rank_of(union_group->world_rank(member)));
    int const first = first_group_size();
    return member < first ? member : member - first;
}

std::string Comm::words() const {
    if (told_as) return told_as->words();
    if (!described_as.empty()) return described_as;
    if (!name.empty()) return name;
    return inter() ? "an intercommunicator of " + std::to_string(group->size()) + " and " +
                         std::to_string(remote->size()) + " ranks"
                   : "a communicator of " + std::to_string(group->size()) + (group->size() == 1 ? " rank" : " ranks");
}

void Comm::tell_call(void const* about, Blockage& blockage) {
    auto const& comm = *static_cast<Comm const*>(about);
    if (comm.told_as) return tell_call(comm.told_as, blockage);
    std::string const call = comm.collectives ? comm.collectives->call_in_words() : "";
    blockage.call = call.empty() ? blockage.call + "(" + comm.words() + ")" : call;
}

}   // namespace tutti
