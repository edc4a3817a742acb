// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of KNEM-Coll have in common: from which size on they are used. Below, the paper hands the call to
// the regular component, whose messages are copied in and out (section V.A); here, to a baseline by messages. Of the v
// forms, where no rank knows all sizes, single parts below it are copied in and out.
#pragma once

#include "coll/blocks/exchange/movement.hpp"

namespace tutti::coll {

inline constexpr Parameter knem_least_parameter = {
    "least", 16384, "bytes from which single copy is used; what is smaller goes by messages"};

/// `least` and `piece`, for movements of parts.
inline constexpr Parameter knem_movement_parameters[] = {knem_least_parameter, piece_parameter};
inline Limits knem_limits(CommonArgs const& a) { return {a.parameters[0], a.parameters[1], a.parameters[0]}; }

}   // namespace tutti::coll
