// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent calls: what CollectiveRequest is for each kind of arguments.
#include <array>

#include "coll/collectives.hpp"
#include "coll/decision.hpp"
#include "coll/fragments.hpp"
#include "coll/kept.hpp"
#include "coll/request.hpp"
#include "runtime/clock.hpp"

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
    Operation(Comm& on, Collective which, Args const& args, Lists lists)
        : Operation(on, which, args, std::move(lists), {args, on.process.variables.fragment}) {}

private:
    using Cut = Fragments<Args>;

    Operation(Comm& on, Collective which, Args const& args, Lists lists, Cut const& cut)
        : CollectiveRequest(on, cut.count(), static_cast<unsigned>(on.process.variables.fragments)),
          collective_(which), args_(args), kept_(args, std::move(lists)), cut_(cut),
          most_(decision_for(on, which, cut_.cut(args_, 0))),
          last_(fragments_ == 1 ? most_ : Choice<Args>(decision_for(on, which, cut_.cut(args_, fragments_ - 1)))) {}

    struct Fragment {
        Fragment(Args const& a, Comm const& comm, Choice<Args> const& choice, Collective collective, unsigned k,
                 std::uint64_t number)
            : args(a), place(k), flight(comm, *choice.decision.trees, name_of(collective), number) {}
        Args args;
        unsigned place;   ///< among the fragments
        Flight flight;
    };

    Choice<Args> const& choice(unsigned k) const { return k + 1 < fragments_ ? most_ : last_; }

    Flight& board(unsigned at, unsigned k, std::uint64_t number) override {
        if (k == 0) note_start();
        Fragment& f = under_way_[at].emplace(cut_.cut(args_, k), *comm, choice(k), collective_, k, number);
        f.args.parameters = choice(k).decision.setting->values;
        return f.flight;
    }
    Task task(unsigned at) override {
        Fragment& f = *under_way_[at];
        return cut_.task(f.flight.env(), *choice(f.place).algorithm, args_, f.args, f.place);
    }
    void leave(unsigned at) override { under_way_[at].reset(); }

    Use& use() { return state_of(*comm).uses[static_cast<std::size_t>(collective_)]; }
    void note_start() {
        use().algorithm = most_.decision.algorithm;
        use().calls.add(1);
        if (most_.decision.line) started_ = now_ns();
    }
    void finished() override {
        if (most_.decision.line) record(*most_.decision.line, use(), message_bytes(*comm, args_), started_);
    }

    Collective const collective_;
    Args const args_;
    Kept const kept_;
    Cut const cut_;
    Choice<Args> const most_, last_;   ///< of all fragments but the last, and of the last
    std::array<std::optional<Fragment>, Cut::most_at_once> under_way_;
    std::int64_t started_ = 0;         ///< by now_ns(), when calls are recorded
};

template <class Args>
Ref<Request> make(Comm& comm, Collective collective, Args args, Lists lists) {
    complete(args);
    return Ref<Request>::adopt(new (comm.process) Operation<Args>(comm, collective, args, std::move(lists)));
}

}  // namespace

template <class Args>
Ref<Request> start(Comm& comm, Collective collective, Args const& args, Lists lists) {
    Ref<Request> request = make(comm, collective, args, std::move(lists));
    request->start();
    return request;
}

template <class Args>
Ref<Request> init(Comm& comm, Collective collective, Args const& args, Lists lists) {
    Ref<Request> request = make(comm, collective, args, std::move(lists));
    request->persistent = true;
    request->active = false;
    request->complete = true;
    return request;
}

#define FORMS(Args)                                                          \
    template Ref<Request> start(Comm&, Collective, Args const&, Lists); \
    template Ref<Request> init(Comm&, Collective, Args const&, Lists);
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

}  // namespace tutti::coll
