// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/given_up.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/diagnosis/mistake.hpp"
#include "runtime/trace/call_stack.hpp"

namespace tutti::p2p {

void GivenUp::add(bool receives, Beginning const& begun, std::string call, std::uint64_t site) {
    if (!receives && (begun.lessons == order_.lessons() || order_.heard_of() >= begun.event)) return;
    std::uint64_t const freed_at = program_site(process_.call_site);
    auto const same = std::ranges::find_if(all_, [&](One const& one) {
        return one.receives == receives && one.site == site && one.freed_at == freed_at && one.call == call;
    });
    if (same == all_.end() && all_.size() == most) return;
    if (same == all_.end()) return all_.push_back({receives, begun.event, std::move(call), site, freed_at, 1});
    same->event = begun.event;   // what is known of the last one is known of those before
    ++same->times;
}

void GivenUp::finish() {
    auto const is_known = [this](One const& one) {
        return !one.receives && (order_.is_uncertain() || order_.heard_of() >= one.event);
    };
    std::erase_if(all_, is_known);
    if (all_.empty()) return;
    One const& one = all_.front();
    std::string const freed =
        one.times == 1 ? "freed while it was active" : join("freed while active, ", one.times, " times");
    Mistake::Part const parts[] = {
        {process_.rank(), one.call, "began here", one.site},
        {process_.rank(), "MPI_Request_free(request)",
         all_.size() == 1 ? freed : join(freed, ", and ", all_.size() - 1, " others"), one.freed_at}};
    warn(process_, {"T07",
                    join("the request of an active ", one.receives ? "receive" : "send",
                         " was freed, and nothing says that it is complete"),
                    one.receives ? "complete the receive (MPI_Wait): after MPI_Request_free nothing says when its "
                                   "data is there; one that is not needed any more is cancelled first (MPI_Cancel)"
                                 : "complete the send (MPI_Wait): MPI_Request_free does not, and its buffer may be "
                                   "changed only when the receiver has answered",
                    parts});
}

}   // namespace tutti::p2p
