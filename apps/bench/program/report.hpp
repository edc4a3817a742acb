// SPDX-License-Identifier: BSD-3-Clause
// The output of rank 0: the table or CSV on the terminal, the JSON file, messages about wrong results.
#pragma once

#include "measure.hpp"

namespace bench {

/// Only rank 0 calls the member functions other than the constructor. The JSON file is rewritten after every call.
class Report {
public:
    Report(Settings const& settings, Variants const& variants, MPI_Comm comm);

    void add(std::vector<Outcome> const& outcomes);       ///< of one operation at one size, as measure() returns them
    void add_unsupported(std::string const& operation);   ///< this MPI does not have the operation

private:
    void print_head() const;
    void print(Point const& point, std::string const& name, Point const* limit) const;
    void print_rate(Point const& point) const;
    void save() const;

    Settings const& settings_;
    Results results_;   ///< one series per variant, then the limit's
    std::size_t variants_;
};

}   // namespace bench
