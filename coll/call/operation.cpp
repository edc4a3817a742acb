// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent calls: what CollectiveRequest is for each kind of arguments.
#include <array>
#include <new>

#include "coll/call/argument_buffers.hpp"
#include "coll/call/argument_references.hpp"
#include "coll/call/checked.hpp"
#include "coll/call/collectives.hpp"
#include "coll/call/drive.hpp"
#include "coll/call/fragments.hpp"
#include "coll/call/noting.hpp"
#include "coll/call/request.hpp"
#include "coll/choice/decision.hpp"
#include "p2p/engine.hpp"

namespace tutti::coll {
namespace {

/// A decision with a copy of what may change under it.
template <class Args>
struct Choice {
    explicit Choice(Decision const& d)
        : decision(d), algorithm(static_cast<Algorithm<Args> const*>(d.algorithm->record)) {}
    Decision decision;
    Algorithm<Args> const* algorithm;
};

template <class Args>
class Operation final : public CollectiveRequest {
public:
    Operation(Comm& on, Collective which, Args const& args)
        : Operation(on, which, args, {args, wished_fragment(on, which, args)}) {}
    void be_of_program() { is_of_program_ = true; }

private:
    using Cut = Fragments<Args>;

    Operation(Comm& on, Collective which, Args const& args, Cut const& cut)
        : CollectiveRequest(on, cut.count(), in_flight(on)), collective_(which), args_(args), kept_(on, args_),
          cut_(cut), most_(choose(on, 0)), last_(fragments_ == 1 ? most_ : choose(on, fragments_ - 1)),
          use_(*most_.decision.use) {
        args_.parameters = most_.decision.setting->values;
    }

    static std::size_t wished_fragment(Comm const& on, Collective which, Args const& args) {
        std::size_t const of_algorithm = state_of(on).multi_node ? fragment_of(decision_for(on, which, args)) : 0;
        return of_algorithm > 0 ? of_algorithm : on.process.variables.fragment;
    }
    /// Between nodes most of a fragment's time is spent on the links.
    static unsigned in_flight(Comm const& on) {
        return state_of(on).multi_node ? static_cast<unsigned>(Cut::most_at_once)
                                       : static_cast<unsigned>(on.process.variables.fragments);
    }

    Choice<Args> choose(Comm const& on, unsigned k) const {
        bool const by_algorithm = state_of(on).multi_node && fragment_of(decision_for(on, collective_, args_)) > 0;
        if (fragments_ == 1 || by_algorithm) return Choice<Args>(decision_for(on, collective_, args_));
        return Choice<Args>(decision_for(on, collective_, cut_.cut(args_, k)));
    }
    Choice<Args> const& choice(unsigned k) const { return k + 1 < fragments_ ? most_ : last_; }

    /// Operations on the node that fragment `k` is made of; the last one's may be fewer.
    std::uint64_t on_node(unsigned k) const {
        MultiNode const* multi_node = state_of(home()).multi_node.get();
        Args fragment = fragments_ == 1 ? args_ : cut_.cut(args_, k);
        fragment.parameters = choice(k).decision.setting->values;
        return node_operations(*choice(k).algorithm, fragment, *multi_node);
    }
    void numbered() override {
        MultiNode const* multi_node = state_of(home()).multi_node.get();
        each_on_node_ = fragments_ > 1 ? on_node(0) : 0;
        last_on_node_ = on_node(fragments_ - 1);
        first_on_node_ = state_of(*multi_node->node).take_numbers(each_on_node_ * (fragments_ - 1) + last_on_node_);
    }
    Numbers numbers(unsigned k) const {
        return {first() + k, first_on_node_ + k * each_on_node_, k + 1 < fragments_ ? each_on_node_ : last_on_node_};
    }

    RunningOperation& begin(unsigned at, unsigned k) override {
        if (k == 0) note_start();
        if (fragments_ != 1) return begin_fragment(at, k);
        RunningOperation& operation = operation_of(at, k);
        operation.begin([this](auto& env) { return run_in(env, *most_.algorithm, args_); });
        return operation;
    }
    /// The one that was at this place before, if there was one, with the fragment's numbers.
    RunningOperation& operation_of(unsigned at, unsigned k) {
        std::optional<RunningOperation>& operation = running_[at];
        if (operation) operation->restart(numbers(k));
        else
            operation.emplace(home(), sequence(), *choice(k).decision.trees, name_of(collective_), numbers(k),
                              frames());
        return *operation;
    }
    RunningOperation& begin_fragment(unsigned at, unsigned k) {
        Choice<Args> const& c = choice(k);
        RunningOperation& operation = operation_of(at, k);
        if constexpr (Cut::most_at_once > 1) {
            Args& fragment = fragment_args_[at].emplace(cut_.cut(args_, k));
            fragment.parameters = c.decision.setting->values;
            operation.begin([&](auto& env) { return cut_.task(env, *c.algorithm, args_, fragment, k); });
        }
        return operation;
    }
    void leave(unsigned at) override {
        if (most_.decision.trees != last_.decision.trees) running_[at].reset();   // the next may be on other trees
    }

    void note_start() {
        use_.begin(most_.decision.algorithm);
        if (!most_.decision.line) return;
        started_ = begin_of(*comm);
        trace(*comm, args_, most_.decision);
    }
    void finished() override {
        if (most_.decision.line) record(*most_.decision.line, use_, message_bytes(*comm, args_), started_);
    }

    Collective const collective_;
    Args args_;
    ArgumentReferences<Args> const kept_;   ///< what args_ point to
    Cut const cut_;
    Choice<Args> const most_, last_;   ///< of all fragments but the last, and of the last
    Use& use_;                         ///< the communicator's of this collective
    std::array<std::optional<RunningOperation>, Cut::most_at_once> running_;
    std::array<std::optional<Args>, Cut::most_at_once> fragment_args_;
    std::uint64_t first_on_node_ = 0, each_on_node_ = 0, last_on_node_ = 0;   ///< numbers there
    std::int64_t started_ = 0;                                                ///< by now_ns(), when calls are recorded
};

template <class Args>
Ref<Operation<Args>> make(BoundCall<Args> call) {
    complete(call.args);
    bool const watched = call.function != 0 && p2p::engine(call.comm.process).checks();
    std::unique_ptr<p2p::OperationBuffers> buffers;
    if (watched) buffers = buffers_of(call.comm, call.collective, call.args);
    auto made =
        Ref<Operation<Args>>::adopt(new (call.comm.process) Operation<Args>(call.comm, call.collective, call.args));
    if (buffers) made->watch(std::move(buffers));
    if (call.function != 0) made->be_of_program();
    return made;
}

}   // namespace

template <class Args>
Ref<Request> start(BoundCall<Args> const& call) {
    note(call);
    if (call.function != 0 && state_of(call.comm).records.compares_each_call()) [[unlikely]]
        exchange_amounts(call.comm, call.collective, call.args);
    Ref<Operation<Args>> request;
    try {
        request = make(call);
    } catch (std::bad_alloc const&) {
        std::size_t const fragment = call.comm.process.variables.fragment;
        fail_to_begin(call.comm, name_of(call.collective), Fragments<Args>(call.args, fragment).count());
        throw;
    }
    request->start();
    return Ref<Request>::adopt(request.detach());
}

template <class Args>
Ref<Request> init(BoundCall<Args> const& call) {
    note(call);
    if (call.function != 0 && state_of(call.comm).records.compares_each_call()) [[unlikely]]
        check_with_others(call.comm, call.collective, call.args);
    auto request = make(call);
    request->make_persistent();
    return Ref<Request>::adopt(request.detach());
}

static void tell_request(void const* request, Blockage& blockage) {
    static_cast<Request const*>(request)->tell(blockage);
}

template <class Args>
void run_in_fragments(Comm& comm, Collective collective, Args const& args) {
    Ref<Request> const request = start(BoundCall<Args>{comm, collective, args});
    auto const done = [&] { return request->complete || (request->advance(), request->complete); };
    if (!done()) comm.process.waiter.until(done, {name_of(collective), -1, -1, tell_request, request.get()});
    if (request->status.error != ErrorClass::success) throw Error(request->status.error, request->error_text);
}
template void run_in_fragments(Comm&, Collective, ReduceArgs const&);
template void run_in_fragments(Comm&, Collective, BcastArgs const&);

#define FORMS(Args)                                      \
    template Ref<Request> start(BoundCall<Args> const&); \
    template Ref<Request> init(BoundCall<Args> const&);
FORMS(BarrierArgs)
FORMS(BcastArgs)
FORMS(ReduceArgs)
FORMS(ReduceScatterArgs)
FORMS(RootedArgs)
FORMS(AllgatherArgs)
FORMS(AlltoallArgs)
FORMS(NeighborAllgatherArgs)
FORMS(NeighborAlltoallArgs)
#undef FORMS

}   // namespace tutti::coll
