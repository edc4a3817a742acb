// SPDX-License-Identifier: BSD-3-Clause
#include "tests/coll/world/calls.hpp"

#include <gtest/gtest.h>

#include "coll/call/drive.hpp"
#include "coll/call/running_operation.hpp"

namespace tutti::coll::test {
namespace {

template <class Args>
void expect_call_suits(CommState const& state, AlgorithmRow const& algorithm, Args const& args) {
    CallTraits traits = traits_of(state, args);
    traits.intercommunicator = args.first_group_size > 0;
    EXPECT_TRUE(traits.suits(algorithm)) << name_of(algorithm.collective) << " " << algorithm.name << ", "
                                         << traits.bytes << " bytes";
}

template <class Args>
void force_call(Comm const& comm, AlgorithmRow const& algorithm, Args args, Setting& setting) {
    setting = {};
    setting.algorithm = &algorithm;
    for (std::size_t p = 0; p < setting.algorithm->parameters.size(); ++p)
        for (int level = 0; level < max_levels; ++level) setting.values.set(p, args.parameters.at(p, level), level);
    CommState& state = state_of(comm);
    complete(args);
    expect_call_suits(state, algorithm, args);
    Fragments<Args> const cut(args, comm.process.variables.fragment);
    for (unsigned k : {0u, cut.count() - 1, 0u}) {
        Args const part = cut.count() == 1 ? args : cut.cut(args, k);
        state.decisions.at(setting.algorithm->collective, traits_of(state, part)) = {
            setting.algorithm, &setting, &state.trees, nullptr, &state.counters_of(setting.algorithm->collective)};
    }
    Args const& whole = args;   // a blocking call is not split into fragments
    state.decisions.at(setting.algorithm->collective, traits_of(state, whole)) = {
        setting.algorithm, &setting, &state.trees, nullptr, &state.counters_of(setting.algorithm->collective)};
}

template <class Args>
Ref<Request> start_bound(Comm& comm, Collective collective, Args const& args, Call form) {
    if (form == Call::blocking) {
        Args own = args;
        execute(BoundCall{comm, collective, own});
        return {};
    }
    if (form == Call::nonblocking) return start(BoundCall{comm, collective, args});
    Ref<Request> request = init(BoundCall{comm, collective, args});
    request->start();
    return request;
}

}   // namespace

void expect_suits(CommState const& state, AlgorithmRow const& algorithm, AnyArgs any) {
    std::visit([&](auto const* args) { expect_call_suits(state, algorithm, *args); }, any);
}

void force(Comm const& comm, AlgorithmRow const& algorithm, AnyArgs any, Setting& setting) {
    std::visit([&](auto const* args) { force_call(comm, algorithm, *args, setting); }, any);
}

Ref<Request> start_call(Comm& comm, AlgorithmRow const& algorithm, AnyArgs any, Call form, Setting& setting) {
    force(comm, algorithm, any, setting);
    return std::visit([&](auto const* args) { return start_bound(comm, algorithm.collective, *args, form); }, any);
}

Ref<Request> init_call(Comm& comm, Collective collective, AnyArgs any) {
    return std::visit([&](auto const* args) { return init(BoundCall{comm, collective, *args}); }, any);
}

void drive_algorithm(Comm const& comm, AlgorithmRow const& row, AnyArgs any) {
    std::visit(
        [&]<class Args>(Args const* args) {
            CommState& state = state_of(comm);
            Decision const decision{&row, nullptr, &state.trees, nullptr, &state.counters_of(row.collective)};
            drive(comm, row.name, [&](ShmEnv& env) { return run_in(env, Chosen<Args>{comm, decision}, *args); });
        },
        any);
}

}   // namespace tutti::coll::test
