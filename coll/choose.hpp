// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm runs: the user's word (TUTTI_COLL), else the first row of the table that fits, else the first
// algorithm of the list that can do it. Looked up once per communicator, collective and size class, then cached.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/algorithm.hpp"

namespace tutti::coll {

/// An algorithm of any collective as a row: what lists, help and tests see.
struct AlgorithmRow {
    Collective collective;
    char const* name;
    char const* sentence;
    char const* source;
    unsigned needs;
    std::span<Parameter const> parameters;
    void const* record;   ///< the Algorithm<Args> itself; `Choices` knows the type from the collective
};
std::span<AlgorithmRow const> all_algorithms();

/// "allreduce=hierarchical:chunk=16K,bcast=slots": one user's choice per collective.
struct Setting {
    AlgorithmRow const* algorithm = nullptr;
    Chosen chosen;
};
struct Settings {
    std::array<Setting, collectives> of;
};
/// Every word that does not parse or names nothing is a sentence in `complaints` with the valid names, and is ignored.
Settings parse_settings(std::string_view text, std::vector<std::string>& complaints);

/// What a call offers, against which needs are held.
struct Offer {
    int ranks;
    int levels;              ///< of the hierarchy
    std::size_t bytes;       ///< the size that every rank knows; ~0 when there is none
    std::size_t slot_bytes;
    bool ordered;            ///< the operator commutes or teams hold consecutive ranks
    bool one_kind;
    bool equal_parts;

    bool meets(unsigned needs) const;
};

struct Decision {
    void const* record = nullptr;
    Chosen chosen;
};

/// The cache: per collective and size class (the number of bits of the size, and what the call offers besides).
class Choices {
public:
    Decision const& find(Collective collective, Offer const& offer, Settings const& settings) {
        auto& classes = cache_[static_cast<std::size_t>(collective)];
        if (!classes) [[unlikely]] classes = std::make_unique<std::array<Decision, 256>>();
        Decision& d = (*classes)[key(offer)];
        if (!d.record) [[unlikely]] d = decide(collective, offer, settings);
        return d;
    }

private:
    /// Sizes of one class must get one algorithm: the table's limits are powers of two, as are the slots.
    static std::size_t key(Offer const& o) {
        std::size_t bits = o.bytes <= 1 ? 0 : static_cast<std::size_t>(64 - __builtin_clzll(o.bytes - 1));
        return std::min<std::size_t>(bits, 31) * 8 + o.ordered * 4u + o.one_kind * 2u + o.equal_parts;
    }
    static Decision decide(Collective collective, Offer const& offer, Settings const& settings);

    /// A collective's part is made at its first use.
    std::array<std::unique_ptr<std::array<Decision, 256>>, collectives> cache_;
};

}  // namespace tutti::coll
