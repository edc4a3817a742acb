// SPDX-License-Identifier: BSD-3-Clause
// The records for ThreadEnv in the order of coll's list. Weak: algorithms for several nodes only are not compiled.
#include "tests/coll/threads/thread_algorithms.hpp"

#include <stdexcept>

namespace tutti::coll {

#define ALGORITHM(folder, name)                                                                      \
    namespace thread_algorithms::folder {                                                            \
    extern const Algorithm<ArgsOf<Collective::folder>::type> name##_algorithm __attribute__((weak)); \
    }
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM

namespace {

/// The thread_algorithms::Algorithm<Args> of a row; null: it was not compiled for ThreadEnv.
void const* record_of(AlgorithmRow const& row) {
    static void const* const records[] = {
#define ALGORITHM(folder, name) &thread_algorithms::folder::name##_algorithm,
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM
    };
    return records[&row - all_algorithms().data()];
}
template <class Args>
auto function_of(AlgorithmRow const& row) {
    return static_cast<thread_algorithms::Algorithm<Args> const*>(record_of(row))->thread;
}

/// The first algorithm of the list that requires no more than `refused` and nothing of the buffers.
AlgorithmRow const& replacement_of(AlgorithmRow const& refused) {
    for (AlgorithmRow const& row : all_algorithms()) {
        bool const more = (row.requirements & ~refused.requirements) || (row.requirements & buffer_requirements);
        if (row.collective == refused.collective && !more && record_of(row)) return row;
    }
    throw std::invalid_argument("no algorithm can replace " + std::string(refused.name));
}

template <class Args>
Task run_or_replace(ThreadEnv& env, ThreadWorld& world, AlgorithmRow const& row, Args const& args) {
    co_await function_of<Args>(row)(env, args);
    int const owner = env.refused_for();
    world.refused_for[static_cast<std::size_t>(env.rank())] = owner;
    if (owner < 0) co_return;
    env.begin_phase(world.trees);
    Setting const setting = defaults(replacement_of(row));
    Args again = args;
    again.parameters = setting.values;
    co_await function_of<Args> (*setting.algorithm)(env, again);
}

}   // namespace

void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, AlgorithmRow const& row,
         test::AnyArgs any) {
    if (!record_of(row)) throw std::invalid_argument(std::string(row.name) + " is not compiled for threads");
    std::visit(
        [&]<class Args>(Args const* args) {
            if (!(row.requirements & buffer_requirements))
                return run(world, rank, op, frames, function_of<Args>(row), *args);
            auto const call = [&](ThreadEnv& env) { return run_or_replace(env, world, row, *args); };
            run_operation(world, rank, op, frames, std::ref(call));
        },
        any);
}

AlgorithmRow const& row_of(Collective collective, std::string_view name) {
    for (AlgorithmRow const& row : all_algorithms())
        if (row.collective == collective && row.name == name) return row;
    throw std::invalid_argument("no algorithm " + std::string(name));
}

}   // namespace tutti::coll
