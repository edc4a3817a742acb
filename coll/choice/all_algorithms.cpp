// SPDX-License-Identifier: BSD-3-Clause
// The list of algorithms as rows. No other file of the library includes coll/algorithms/algorithms.def, so a new line
// recompiles only this file.
#include "coll/choice/choose.hpp"

namespace tutti::coll {

#define ALGORITHM(folder, name)                                                \
    namespace algorithms::folder {                                             \
    extern const Algorithm<ArgsOf<Collective::folder>::type> name##_algorithm; \
    }
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM

std::span<AlgorithmRow const> all_algorithms() {
    static AlgorithmRow const rows[] = {
#define ALGORITHM(folder, algorithm)                           \
    {Collective::folder,                                       \
     algorithms::folder::algorithm##_algorithm.name,           \
     algorithms::folder::algorithm##_algorithm.description,    \
     algorithms::folder::algorithm##_algorithm.family,         \
     algorithms::folder::algorithm##_algorithm.source,         \
     algorithms::folder::algorithm##_algorithm.requirements,   \
     algorithms::folder::algorithm##_algorithm.parameters,     \
     algorithms::folder::algorithm##_algorithm.shm != nullptr, \
     algorithms::folder::algorithm##_algorithm.net != nullptr, \
     algorithms::folder::algorithm##_algorithm.file,           \
     algorithms::folder::algorithm##_algorithm.cost,           \
     &algorithms::folder::algorithm##_algorithm},
#include "coll/algorithms/algorithms.def"
#undef ALGORITHM
    };
    return rows;
}

}   // namespace tutti::coll
