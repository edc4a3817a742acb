// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent calls: the requests (CollectiveRequest) for each type of arguments.
#include <array>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "coll/call/argument_buffers.hpp"
#include "coll/call/checked.hpp"
#include "coll/call/collectives.hpp"
#include "coll/call/drive.hpp"
#include "coll/call/request.hpp"
#include "coll/call/running_operation.hpp"
#include "coll/choice/decision.hpp"
#include "p2p/engine.hpp"

// What a request must keep because its arguments point to it. The program may free an operator or a datatype while an
// operation that uses it is in progress (MPI 3.1, 2.5.1 and 5.12). It must not modify lists of counts, displacements
// and types until the operation completes (MPI 4.0, 6.12), but other libraries copy them and callers free them early;
// therefore they are copied.

namespace tutti::coll {

/// Memory for copies of lists. Short lists are stored in the object, so that most requests allocate nothing for them.
class ListMemory {
public:
    std::byte* allocate(std::size_t bytes) {
        if (bytes <= sizeof inline_memory_) return inline_memory_;
        heap_memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        return heap_memory_.get();
    }

private:
    alignas(void*) std::byte
        inline_memory_[256];   ///< counts and displacements of 32 ranks, or of 16 in both directions
    std::unique_ptr<std::byte[]> heap_memory_;
};

/// Keeps alive the objects to which `args` point, and redirects `args` to copies of the program's lists.
template <class Args>
class ArgumentReferences {
public:
    ArgumentReferences(Comm const& comm, Args& args) { keep(args, comm.union_group->size()); }

private:
    struct None {};
    static constexpr bool lists =
        !std::is_same_v<Args, BarrierArgs> && !std::is_same_v<Args, BcastArgs> && !std::is_same_v<Args, ReduceArgs>;

    static Ref<Datatype> share(Datatype const* type) { return Ref<Datatype>::share(const_cast<Datatype*>(type)); }

    void keep(BarrierArgs&, int) {}
    void keep(BcastArgs& args, int) { first_ = share(args.data.type); }
    void keep(ReduceArgs& args, int) {
        first_ = share(args.type);
        op_ = Ref<Op>::share(const_cast<Op*>(args.op));
    }
    void keep(ReduceScatterArgs& args, int ranks) {
        keep(static_cast<ReduceArgs&>(args), ranks);
        std::span<int const> const given = args.counts;
        if (given.empty()) return;
        args.counts = {
            static_cast<int*>(std::memcpy(memory_.allocate(given.size_bytes()), given.data(), given.size_bytes())),
            given.size()};
    }
    void keep(RootedArgs& args, int ranks) { keep_sides(&args.mine, {{args.parts, ranks}}); }
    void keep(AllgatherArgs& args, int ranks) { keep_sides(&args.mine, {{args.parts, ranks}}); }
    void keep(AlltoallArgs& args, int ranks) { keep_sides(nullptr, {{args.send, ranks}, {args.receive, ranks}}); }
    void keep(NeighborAllgatherArgs& args, int) { keep_sides(&args.mine, {{args.receive, args.edges->in_degree()}}); }
    void keep(NeighborAlltoallArgs& args, int) {
        keep_sides(nullptr, {{args.send, args.edges->out_degree()}, {args.receive, args.edges->in_degree()}});
    }

    struct Side {
        Parts& parts;
        int all;
    };
    void keep_sides(Buffer const* mine, std::initializer_list<Side> sides) {
        if (mine) first_ = share(mine->type);
        std::size_t bytes = 0;
        for (Side const& side : sides) {
            bytes += side.parts.list_bytes(side.all);
            if (side.parts.type()) (first_ ? second_ : first_) = share(side.parts.type());
            for (Datatype const* type : side.parts.types(side.all)) list_types_.push_back(share(type));
        }
        std::byte* memory = bytes > 0 ? memory_.allocate(bytes) : nullptr;
        for (Side const& side : sides) {
            side.parts.copy_lists(side.all, memory);
            memory += side.parts.list_bytes(side.all);
        }
    }

    Ref<Op> op_;
    Ref<Datatype> first_, second_;
    std::vector<Ref<Datatype>> list_types_;
    [[no_unique_address]] std::conditional_t<lists, ListMemory, None> memory_;
};

namespace {

/// A copy of a decision, because the cached one may be forgotten.
template <class Args>
struct DecisionCopy {
    explicit DecisionCopy(Decision const& d)
        : decision(d), algorithm(static_cast<Algorithm<Args> const*>(d.algorithm->record)) {}
    Decision decision;
    Algorithm<Args> const* algorithm;
};

/// The request of a collective with this type of arguments.
template <class Args>
class Operation final : public CollectiveRequest {
public:
    Operation(Comm& on, Collective which, Args const& args)
        : Operation(on, which, args, {args, requested_fragment(on, which, args)}) {}
    void mark_user_call() { is_user_call_ = true; }

private:
    using Cut = Fragments<Args>;

    Operation(Comm& on, Collective which, Args const& args, Cut const& cut)
        : CollectiveRequest(on, cut.count(), in_flight(on)), collective_(which), args_(args), references_(on, args_),
          cut_(cut), main_(decide_for_fragment(on, 0)),
          last_(fragments_ == 1 ? main_ : decide_for_fragment(on, fragments_ - 1)),
          counters_(*main_.decision.counters) {
        args_.parameters = main_.decision.setting->values;
    }

    static std::size_t requested_fragment(Comm const& on, Collective which, Args const& args) {
        Decision const& decision = decision_for(on, which, args);
        if (value_of(decision, ParameterKind::own_fragment) > 0) return 0;
        std::size_t const algorithm_fragment = state_of(on).multi_node ? fragment_of(decision) : 0;
        return algorithm_fragment > 0 ? algorithm_fragment : on.process.variables.fragment;
    }
    /// Between nodes the maximum number is in flight, because most of a fragment's time is spent on the links.
    static unsigned in_flight(Comm const& on) {
        return state_of(on).multi_node ? static_cast<unsigned>(Cut::max_in_flight)
                                       : static_cast<unsigned>(on.process.variables.fragments);
    }

    DecisionCopy<Args> decide_for_fragment(Comm const& on, unsigned k) const {
        bool const is_cut_by_algorithm =
            state_of(on).multi_node && fragment_of(decision_for(on, collective_, args_)) > 0;
        if (fragments_ == 1 || is_cut_by_algorithm) return DecisionCopy<Args>(decision_for(on, collective_, args_));
        return DecisionCopy<Args>(decision_for(on, collective_, cut_.cut(args_, k)));
    }
    Chosen<Args> chosen(unsigned k) { return {run_comm(), decision_of(k).decision, &statistics_}; }
    DecisionCopy<Args> const& decision_of(unsigned k) const { return k + 1 < fragments_ ? main_ : last_; }

    /// Returns the number of operations on the node of which fragment `k` consists; the last fragment may have fewer.
    std::uint64_t node_operations_of(unsigned k) const {
        MultiNode const* multi_node = state_of(run_comm()).multi_node.get();
        Args fragment = fragments_ == 1 ? args_ : cut_.cut(args_, k);
        fragment.parameters = decision_of(k).decision.setting->values;
        return node_operations(*decision_of(k).algorithm, fragment, *multi_node);
    }
    void on_numbered() override {
        MultiNode const* multi_node = state_of(run_comm()).multi_node.get();
        fragment_node_count_ = fragments_ > 1 ? node_operations_of(0) : 0;
        last_node_count_ = node_operations_of(fragments_ - 1);
        first_node_number_ =
            state_of(*multi_node->node).allocate_numbers(fragment_node_count_ * (fragments_ - 1) + last_node_count_);
    }
    OperationNumbers numbers(unsigned k) const {
        return {first() + k, first_node_number_ + k * fragment_node_count_,
                k + 1 < fragments_ ? fragment_node_count_ : last_node_count_};
    }

    RunningOperation& begin(unsigned at, unsigned k) override {
        if (k == 0) record_start();
        if (fragments_ != 1) return begin_fragment(at, k);
        RunningOperation& operation = operation_of(at, k);
        operation.begin([this](auto& env) { return run_in(env, chosen(0), args_); });
        return operation;
    }
    /// Returns the running operation at this index of the window, restarted with the fragment's numbers; creates it if
    /// there is none.
    RunningOperation& operation_of(unsigned at, unsigned k) {
        std::optional<RunningOperation>& operation = running_[at];
        if (operation) operation->restart(numbers(k));
        else
            operation.emplace(run_comm(), sequence(), *decision_of(k).decision.trees, name_of(collective_), numbers(k),
                              frames());
        return *operation;
    }
    RunningOperation& begin_fragment(unsigned at, unsigned k) {
        DecisionCopy<Args> const& c = decision_of(k);
        RunningOperation& operation = operation_of(at, k);
        if constexpr (Cut::max_in_flight > 1) {
            Args& fragment = fragment_args_[at].emplace(cut_.cut(args_, k));
            fragment.parameters = c.decision.setting->values;
            operation.begin([&](auto& env) { return cut_.task(env, chosen(k), args_, fragment, k); });
        }
        return operation;
    }
    void on_fragment_ended(unsigned at) override {
        if (main_.decision.trees != last_.decision.trees) running_[at].reset();   // the next may use other trees
    }

    void record_start() {
        counters_.begin(main_.decision.algorithm);
        statistics_ = main_.decision.statistics;
        if (!statistics_) return;
        started_ = begin_time(*comm);
        trace(*comm, args_, main_.decision);
    }
    void on_finished() override {
        if (statistics_) record(*statistics_, counters_, message_bytes(*comm, args_), started_);
    }

    Collective const collective_;
    Args args_;
    ArgumentReferences<Args> const references_;   ///< what args_ point to
    Cut const cut_;
    DecisionCopy<Args> const main_, last_;      ///< for all fragments but the last; for the last one
    CollectiveCounters& counters_;              ///< the communicator's counters for this collective
    CallStatisticsRow* statistics_ = nullptr;   ///< of the algorithm that runs; null: calls are not recorded
    std::array<std::optional<RunningOperation>, Cut::max_in_flight> running_;
    std::array<std::optional<Args>, Cut::max_in_flight> fragment_args_;
    std::uint64_t first_node_number_ = 0, fragment_node_count_ = 0,
                  last_node_count_ = 0;   ///< first number; numbers per fragment
    std::int64_t started_ = 0;            ///< by now_ns(), if calls are recorded
};

template <class Args>
Ref<Operation<Args>> make(BoundCall<Args> call) {
    complete(call.args);
    bool const watched = call.function && p2p::engine(call.comm.process).checks();
    std::unique_ptr<p2p::OperationBuffers> buffers;
    if (watched) buffers = buffers_of(call.comm, call.collective, call.args);
    auto made =
        Ref<Operation<Args>>::adopt(new (call.comm.process) Operation<Args>(call.comm, call.collective, call.args));
    if (buffers) made->watch_buffers(std::move(buffers));
    if (call.function) made->mark_user_call();
    return made;
}

}   // namespace

template <class Args>
Ref<Request> start(BoundCall<Args> const& call) {
    record_call(call);
    if (call.function && state_of(call.comm).records.compares_each_call()) [[unlikely]]
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
    record_call(call);
    if (call.function && state_of(call.comm).records.compares_each_call()) [[unlikely]]
        check_with_members(call.comm, call.collective, call.args);
    auto request = make(call);
    request->make_persistent();
    return Ref<Request>::adopt(request.detach());
}

static void describe_request(void const* request, BlockedCall& blocked) {
    static_cast<Request const*>(request)->describe(blocked);
}

template <class Args>
void run_in_fragments(Comm& comm, Collective collective, Args const& args) {
    Ref<Request> const request = start(BoundCall<Args>{comm, collective, args});
    auto const done = [&] { return request->complete || (request->advance(), request->complete); };
    if (!done()) comm.process.waiter.wait_until(done, {name_of(collective), -1, -1, describe_request, request.get()});
    if (request->status.error != ErrorClass::success) throw Error(request->status.error, request->error_text);
}
template void run_in_fragments(Comm&, Collective, ReduceArgs const&);
template void run_in_fragments(Comm&, Collective, BcastArgs const&);

#define COLLECTIVE(name, Args)                           \
    template Ref<Request> start(BoundCall<Args> const&); \
    template Ref<Request> init(BoundCall<Args> const&);
#define SHARES_ARGUMENTS(name, Args)
#include "runtime/settings/collectives.def"

}   // namespace tutti::coll
