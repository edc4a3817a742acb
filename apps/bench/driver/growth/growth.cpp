// SPDX-License-Identifier: BSD-3-Clause
#include "growth.hpp"

#include "../merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

bool same_name(const Series &a, const Series &b) { return a.name == b.name && a.family == b.family; }

bool has(const Series &series, const std::string &operation, std::size_t bytes)
{
    return find(series, operation, bytes) != nullptr;
}

// The first series of each name that has the operation at this size.
std::vector<const Series *> different_series(const Growth &growth, const std::string &operation, std::size_t bytes)
{
    std::vector<const Series *> all;
    for (const Results &run : growth.runs)
        for (const Series &series : run.series)
            if (has(series, operation, bytes) &&
                std::none_of(all.begin(), all.end(), [&](const Series *s) { return same_name(*s, series); }))
                all.push_back(&series);
    return all;
}

template <class Item>
void add_new(std::vector<Item> &all, const std::vector<Item> &more)
{
    for (const Item &item : more)
        if (std::find(all.begin(), all.end(), item) == all.end())
            all.push_back(item);
}

} // namespace

std::string as_json(const Growth &growth)
{
    std::string out = "{\n\"program\": \"tutti-bench\",\n\"cores\": " + std::to_string(growth.cores) + ",\n\"runs\": [";
    for (std::size_t i = 0; i < growth.runs.size(); ++i)
        out += (i ? ",\n" : "\n") + as_json(growth.runs[i]);
    return out + "]\n}\n";
}

double work_of(double time, int ranks, int cores) { return time * std::min(ranks, cores) / ranks; }

double slope_of_p_log_p(int from, int to)
{
    return 1 + std::log(std::log2(to) / std::log2(from)) / std::log(double(to) / from);
}

std::vector<Curve> curves_of(const Growth &growth, const std::string &operation, std::size_t bytes,
                             double Point::*time)
{
    std::vector<Curve> curves;
    for (const Series *like : different_series(growth, operation, bytes)) {
        Curve curve{like->name, {}};
        for (const Results &run : growth.runs)
            for (const Series &series : run.series) {
                const Point *point = same_name(series, *like) ? find(series, operation, bytes) : nullptr;
                if (!point || point->*time <= 0)
                    continue;
                Step step{run.ranks, point, point->*time, work_of(point->*time, run.ranks, growth.cores),
                          std::numeric_limits<double>::quiet_NaN()};
                if (!curve.steps.empty()) {
                    const Step &before = curve.steps.back();
                    step.slope = std::log(step.time / before.time) / std::log(double(step.ranks) / before.ranks);
                }
                curve.steps.push_back(step);
            }
        if (!curve.steps.empty())
            curves.push_back(curve);
    }
    return curves;
}

std::vector<std::string> operations_in(const Growth &growth)
{
    std::vector<std::string> all;
    for (const Results &run : growth.runs)
        add_new(all, operations_in(run));
    return all;
}

std::vector<std::size_t> sizes_in(const Growth &growth, const std::string &operation)
{
    std::vector<std::size_t> all;
    for (const Results &run : growth.runs)
        add_new(all, sizes_in(run, operation));
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace bench
