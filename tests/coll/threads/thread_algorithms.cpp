// SPDX-License-Identifier: BSD-3-Clause
// The records of threads in the order of coll's list. Weak: those on several nodes alone are not compiled.
#include "tests/coll/threads/thread_algorithms.hpp"

namespace tutti::coll {

#define ALGORITHM(folder, name)                                                                      \
    namespace thread_algorithms::folder {                                                            \
    extern const Algorithm<ArgsOf<Collective::folder>::type> name##_algorithm __attribute__((weak)); \
    }
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM

void const* thread_algorithms::find(AlgorithmRow const& row) {
    static void const* const records[] = {
#define ALGORITHM(folder, name) &folder::name##_algorithm,
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM
    };
    return records[&row - all_algorithms().data()];
}

AlgorithmRow const& row_of(Collective collective, std::string_view name) {
    for (AlgorithmRow const& row : all_algorithms())
        if (row.collective == collective && row.name == name) return row;
    throw std::invalid_argument("no algorithm " + std::string(name));
}

}   // namespace tutti::coll
