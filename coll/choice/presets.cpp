// SPDX-License-Identifier: BSD-3-Clause
// The algorithms with the parameters of papers, by name.
#include "coll/choice/choose.hpp"

namespace tutti::coll {

std::span<Preset const> presets() {
    // XHC (Katevenis, Ploumidis, Marazakis), section V, also for SMHC.
    static constexpr Preset all[] = {{"xhc-tree", "xhc", "hierarchy=numa+socket"},
                                     {"xhc-flat", "xhc", "hierarchy=flat"},
                                     {"smhc-tree", "smhc", "hierarchy=socket"},
                                     {"smhc-flat", "smhc", "hierarchy=flat"}};
    return all;
}

}   // namespace tutti::coll
