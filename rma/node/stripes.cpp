// SPDX-License-Identifier: BSD-3-Clause
// Finding a stripe held, or a member gone.
#include "rma/node/stripes.hpp"

#include "runtime/base/error.hpp"
#include "runtime/base/pid_namespace.hpp"
#include "runtime/base/process_identity.hpp"

namespace tutti::rma {

void HeldStripe::wait(NodeMembers const& members) {
    lock_.enter(members.me + 1, [&](std::uint64_t holder) { members.check_alive(holder - 1); });
}

void NodeMembers::check_alive(std::size_t member) const {
    Control const& control = *controls[member];
    if (control.process == 0 || !same_numbers(pid_namespace(), control.pid_namespace)) return;
    if (ProcessWatch(ProcessIdentity(control.process)).lives()) return;
    fail(ErrorClass::other, "rank ", control.world_rank,
         " has ended while it accumulated into memory of a window that this call needs");
}

}   // namespace tutti::rma
