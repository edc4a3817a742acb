// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup: each member says what it brings when it calls, all hear of it while they do something else, and the
// communicator comes to life when that is known.
#include <cstring>
#include <optional>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/messages.hpp"
#include "coll/call/request.hpp"
#include "coll/comm/create.hpp"
#include "coll/comm/derive.hpp"
#include "runtime/base/error.hpp"

namespace tutti::coll {

namespace algorithms::allgather {
extern const Algorithm<AllgatherArgs> bruck_algorithm;
}

namespace {

/// The first member's part will do.
Task hear(ShmEnv& env, std::vector<ContextAllocation>& parts) {
    ContextAllocation& first = parts.front();
    if (env.rank() == 0) {
        std::memcpy(env.slot(sizeof first), &first, sizeof first);
        env.publish();
    } else {
        co_await env.until(0);
        std::memcpy(&first, env.slot(0, sizeof first), sizeof first);
    }
}

Task hear(NetEnv& env, std::vector<ContextAllocation>& parts) {
    ContextAllocation mine = parts[static_cast<std::size_t>(env.rank())];
    AllgatherArgs const all = bytes_of_all(&mine, sizeof mine, parts.data());
    co_await algorithms::allgather::bruck_algorithm.net(env, all);
}

class Duplication final : public CollectiveRequest {
public:
    Duplication(Comm& parent, Ref<Comm> child)
        : CollectiveRequest(parent, 1, 1), child_(std::move(child)),
          parts_(state_of(parent).multi_node ? static_cast<std::size_t>(parent.union_group->size()) : 1) {
        std::size_t const me = state_of(parent).multi_node ? static_cast<std::size_t>(parent.union_group->rank()) : 0;
        parts_[me] = allocate_context(parent.process, *parent.union_group);
    }

private:
    RunningOperation& begin(unsigned, unsigned) override {
        flight_.emplace(*comm, sequence(), state_of(*comm).trees, "MPI_Comm_idup", Numbers{first(), 0, 0});
        flight_->begin([this](auto& env) { return hear(env, parts_); });
        return *flight_;
    }
    void leave(unsigned) override { flight_.reset(); }
    void finished() override {
        if (status.error != ErrorClass::success) return take_back();
        try {
            agree(child_->process, parts_);
        } catch (Error const& error) {
            status.error = error.error_class;
            error_text = error.what();
            return;
        }
        attach(*child_, parts_);
        std::vector<std::string> told_before;
        if (child_->info) take_hints(*child_, told_before);
    }

    /// Nothing has come of it: what this rank has brought goes back.
    void take_back() {
        for (ContextAllocation const& part : parts_)
            if (part.area != 0 && part.owner == child_->process.rank()) child_->process.heap.release(part.area);
    }

    Ref<Comm> child_;
    std::vector<ContextAllocation> parts_;   ///< the first member's; on several nodes all members'
    std::optional<RunningOperation> flight_;
};

}   // namespace

std::pair<Ref<Comm>, Ref<Request>> duplicate_later(Comm& parent, Ref<Info> hints) {
    auto child = Ref<Comm>::adopt(new Comm(parent.process, parent, 0));
    child->errhandler = parent.errhandler;
    if (parent.topology) child->topology = std::make_unique<VirtualTopology>(*parent.topology);
    child->info = std::move(hints);
    auto request = Ref<Request>::adopt(new (parent.process) Duplication(parent, child));
    request->start();
    return {std::move(child), std::move(request)};
}

}   // namespace tutti::coll
