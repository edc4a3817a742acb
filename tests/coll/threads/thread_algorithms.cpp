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

void run(ThreadWorld& world, int rank, std::uint64_t op, FramePool& frames, AlgorithmRow const& row,
         test::AnyArgs any) {
    static void const* const records[] = {
#define ALGORITHM(folder, name) &thread_algorithms::folder::name##_algorithm,
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM
    };
    void const* const record = records[&row - all_algorithms().data()];
    if (!record) throw std::invalid_argument(std::string(row.name) + " is not compiled for threads");
    std::visit(
        [&]<class Args>(Args const* args) {
            run(world, rank, op, frames, static_cast<thread_algorithms::Algorithm<Args> const*>(record)->thread, *args);
        },
        any);
}

AlgorithmRow const& row_of(Collective collective, std::string_view name) {
    for (AlgorithmRow const& row : all_algorithms())
        if (row.collective == collective && row.name == name) return row;
    throw std::invalid_argument("no algorithm " + std::string(name));
}

}   // namespace tutti::coll
