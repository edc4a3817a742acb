// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup: the first member conceives the communicator when it calls, the others hear of it while they do
// something else, and the communicator comes to life when its birth is known.
#include <cstring>
#include <optional>

#include "coll/binomial.hpp"
#include "coll/comm_create.hpp"
#include "coll/comm_derive.hpp"
#include "coll/on_node.hpp"
#include "coll/request.hpp"
#include "runtime/error.hpp"

namespace tutti::coll {
namespace {

Task hear(ShmEnv& env, Birth& birth, Birth&, Comm const&) {
    if (env.rank() == 0) {
        std::memcpy(env.slot(sizeof birth), &birth, sizeof birth);
        env.publish();
    } else {
        co_await env.until(0);
        std::memcpy(&birth, env.slot(0, sizeof birth), sizeof birth);
    }
}

/// Between nodes the lowest member of each also conceives for those there.
Task hear(NetEnv& env, Birth& birth, Birth& on_node, Comm const& child) {
    BcastArgs const news = bytes_from(&birth, sizeof birth, 0);
    co_await binomial_bcast(env, news);
    if (birth.context == 0) co_return;
    NodeMap const& map = env.map();
    if (map.master(map.here()) == env.rank()) on_node = conceive_on_node(child, birth.context);
    co_await coll::on_node(env, Collective::bcast, bytes_from(&on_node, sizeof on_node, 0));
}

class Duplication final : public CollectiveRequest {
public:
    Duplication(Comm& parent, Ref<Comm> child, Birth const& birth)
        : CollectiveRequest(parent, 1, 1), child_(std::move(child)), birth_(birth) {}

private:
    Flight& begin(unsigned, unsigned) override {
        flight_.emplace(*comm, lane(), state_of(*comm).trees, "MPI_Comm_idup", Numbers{first(), first_on_node_, 1});
        flight_->begin([this](auto& env) { return hear(env, birth_, on_node_, *child_); });
        return *flight_;
    }
    void leave(unsigned) override { flight_.reset(); }
    void numbered() override {
        if (Across const* across = state_of(*comm).across.get()) first_on_node_ = state_of(*across->node).issue(1);
    }
    void finished() override {
        bool const across = state_of(*comm).across != nullptr;
        if (birth_.context == 0 || (across && on_node_.context == 0)) {
            status.error = ErrorClass::no_mem;
            error_text = join("no shared memory is left for a communicator of ", child_->united->size(), " ranks");
            return;
        }
        bear(*child_, birth_, across ? on_node_ : birth_);
        std::vector<std::string> told_before;
        if (child_->info) take_hints(*child_, told_before);
    }

    Ref<Comm> child_;
    Birth birth_, on_node_{};
    std::uint64_t first_on_node_ = 0;
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
    if (parent.united->rank() == 0) birth = conceive_or_tell(parent.process, *parent.united);
    auto request = Ref<Request>::adopt(new (parent.process) Duplication(parent, child, birth));
    request->start();
    return {std::move(child), std::move(request)};
}

}  // namespace tutti::coll
