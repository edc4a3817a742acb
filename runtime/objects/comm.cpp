// SPDX-License-Identifier: BSD-3-Clause
// The two groups of an intercommunicator in its union.
#include "runtime/objects/comm.hpp"

#include "runtime/objects/group_calculus.hpp"

namespace tutti {

Members::Members(Ref<Group> local, Ref<Group> others, bool local_first)
    : group(std::move(local)), remote(std::move(others)),
      union_group(local_first ? group_union(*group, *remote) : group_union(*remote, *group)),
      remote_at(local_first ? group->size() : 0) {}

}   // namespace tutti
