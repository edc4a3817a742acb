// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 tells: the table or CSV on the screen, the JSON file, complaints about wrong results.
#pragma once

#include "../measure/measure.hpp"

namespace bench {

class Report {
public:
    Report(const Settings &settings, const Variants &variants, MPI_Comm comm);

    void add(const std::vector<Outcome> &outcomes); // of one operation at one size, as measure() returns them
    void lacks(const std::string &operation);         // this MPI does not have it

private:
    void print_head() const;
    void print(const Point &point, const std::string &name, const Point *limit) const;
    void print_rate(const Point &point) const;
    void keep() const;

    const Settings &settings_;
    Results results_; // a series for each variant, then the limit's
    std::size_t variants_;
};

} // namespace bench
