// SPDX-License-Identifier: BSD-3-Clause
// What is worth measuring: which algorithms can do a call, what runs by default, which parameters may be better.
#pragma once

#include <string>
#include <vector>

#include "coll/choice/choose.hpp"
#include "launcher/tune/options.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::tune {

/// One collective among so many ranks.
class Contest {
public:
    Contest(coll::Collective collective, int ranks, topo::Machine const& machine, Options const& options);

    coll::Collective collective() const { return collective_; }
    char const* name() const { return name_of(collective_); }
    int ranks() const { return ranks_; }
    /// As tutti-bench counts them: one rank's part. A single 0 for barrier.
    std::vector<std::size_t> const& sizes() const { return sizes_; }
    /// Of the message as the choice counts it; the smallest power of two that is not less. No limit for barrier.
    std::size_t message(std::size_t size) const;

    /// Those of the list that can do at least one of the sizes.
    std::vector<std::string> candidates() const;
    bool can(std::string const& setting, std::size_t size) const;
    /// What runs without a tuning file.
    std::string standard(std::size_t size) const;
    /// The setting with half and with twice each of its sizes.
    std::vector<std::string> variants(std::string const& setting) const;

private:
    coll::CallTraits offer(std::size_t size) const;

    coll::Collective collective_;
    int ranks_;
    std::vector<std::size_t> sizes_;
    coll::Trees trees_;
};

}   // namespace tutti::tune
