// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup: the first member conceives the communicator when it calls, the others hear of it while they do
// something else, and the communicator comes to life when its birth is known.
#include <cstring>
#include <optional>

#include "coll/comm_create.hpp"
#include "coll/comm_derive.hpp"
#include "coll/request.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {
namespace {

Task hear(ShmEnv& env, Birth& birth) {
    if (env.rank() == 0) {
        std::memcpy(env.slot(sizeof birth), &birth, sizeof birth);
        env.publish();
    } else {
        co_await env.until(0);
        std::memcpy(&birth, env.slot(0, sizeof birth), sizeof birth);
    }
}

class Duplication final : public CollectiveRequest {
public:
    Duplication(Comm& parent, Ref<Comm> child, Birth const& birth)
        : CollectiveRequest(parent, 1, 1), child_(std::move(child)), birth_(birth) {}

private:
    Flight& begin(unsigned, unsigned) override {
        flight_.emplace(*comm, lane(), state_of(*comm).trees, "MPI_Comm_idup", first());
        flight_->begin(hear(flight_->env(), birth_));
        return *flight_;
    }
    void leave(unsigned) override { flight_.reset(); }
    void finished() override {
        if (birth_.context == 0) {
            status.error = ErrorClass::no_mem;
            error_text = join("no shared memory is left for a communicator of ", child_->united->size(), " ranks");
            return;
        }
        bear(*child_, birth_);
        std::vector<std::string> told_before;
        if (child_->info) take_hints(*child_, told_before);
    }

    Ref<Comm> child_;
    Birth birth_;
    std::optional<Flight> flight_;
};

}  // namespace

std::pair<Ref<Comm>, Ref<Request>> duplicate_later(Comm& parent, Ref<Info> hints) {
    auto child = Ref<Comm>::adopt(new Comm(parent.process, parent, 0));
    child->errhandler = parent.errhandler;
    if (parent.topology) child->topology = std::make_unique<VirtualTopology>(*parent.topology);
    if (!hints && parent.info) {
        hints = Ref<Info>::adopt(new Info);
        hints->entries = parent.info->entries;
    }
    child->info = std::move(hints);
    Birth birth{};
    if (parent.united->rank() == 0) birth = conceive_or_tell(parent.process, parent.united->size());
    auto request = Ref<Request>::adopt(new (parent.process) Duplication(parent, child, birth));
    request->start();
    return {std::move(child), std::move(request)};
}

}  // namespace tutti::coll
