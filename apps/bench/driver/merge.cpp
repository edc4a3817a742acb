// SPDX-License-Identifier: BSD-3-Clause
#include "merge.hpp"

#include <algorithm>

namespace bench {
namespace {

// Another algorithm may have the same name in another collective.
bool same_series(const Series &a, const Series &b)
{
    if (a.name != b.name || a.family != b.family)
        return false;
    return !is_algorithm(a) || a.points.empty() || b.points.empty() || a.points[0].operation == b.points[0].operation;
}

Series &series_like(std::vector<Series> &all, const Series &like)
{
    const auto found = std::find_if(all.begin(), all.end(), [&](const Series &s) { return same_series(s, like); });
    if (found != all.end())
        return *found;
    all.push_back({like.name, like.library, like.family, {}, like.lacks});
    return all.back();
}

// The points of all runs at one operation and size.
Point merged(const std::vector<Point> &points)
{
    Point all = points[0];
    std::vector<double> medians, tenths, ninetieths, computations, both, hidden, loops;
    std::vector<std::vector<double>> roots(all.roots.size());
    all.iterations = 0;
    for (const Point &point : points) {
        medians.push_back(point.median);
        tenths.push_back(point.tenth);
        ninetieths.push_back(point.ninetieth);
        computations.push_back(point.computation);
        both.push_back(point.both);
        hidden.push_back(point.hidden);
        loops.push_back(point.loop);
        all.iterations += point.iterations;
        all.least = std::min(all.least, point.least);
        all.greatest = std::max(all.greatest, point.greatest);
        for (std::size_t root = 0; root < roots.size() && root < point.roots.size(); ++root)
            roots[root].push_back(point.roots[root]);
    }
    all.median = median_of(medians);
    all.tenth = median_of(tenths);
    all.ninetieth = median_of(ninetieths);
    all.computation = median_of(computations);
    all.both = median_of(both);
    all.hidden = median_of(hidden);
    all.loop = median_of(loops);
    for (std::size_t root = 0; root < roots.size(); ++root)
        all.roots[root] = median_of(roots[root]);
    return all;
}

// `points` holds the runs' points one behind the other.
std::vector<Point> merged_by_size(const std::vector<Point> &points)
{
    std::vector<Point> all;
    for (const Point &first : points) {
        auto same = [&](const Point &p) { return p.operation == first.operation && p.bytes == first.bytes; };
        if (std::any_of(all.begin(), all.end(), same))
            continue;
        std::vector<Point> these;
        std::copy_if(points.begin(), points.end(), std::back_inserter(these), same);
        all.push_back(merged(these));
    }
    return all;
}

} // namespace

Results merge(const std::vector<Results> &runs)
{
    Results all;
    for (const Results &run : runs) {
        if (all.series.empty())
            all = {run.ranks,     run.cached,   run.overlap, run.processor, run.loop,
                   run.one_sided, run.per_sync, run.clock,   {}};
        for (const Series &series : run.series) {
            auto &points = series_like(all.series, series).points;
            points.insert(points.end(), series.points.begin(), series.points.end());
        }
    }
    for (Series &series : all.series)
        series.points = merged_by_size(series.points);
    std::stable_partition(all.series.begin(), all.series.end(), [](const Series &s) { return !is_limit(s); });
    return all;
}

const Point *find(const Series &series, const std::string &operation, std::size_t bytes)
{
    for (const Point &point : series.points)
        if (point.operation == operation && point.bytes == bytes)
            return &point;
    return nullptr;
}

std::vector<std::string> operations_in(const Results &results)
{
    std::vector<std::string> all;
    for (const Series &series : results.series)
        for (const Point &point : series.points)
            if (std::find(all.begin(), all.end(), point.operation) == all.end())
                all.push_back(point.operation);
    return all;
}

std::vector<std::size_t> sizes_in(const Results &results, const std::string &operation)
{
    std::vector<std::size_t> all;
    for (const Series &series : results.series)
        for (const Point &point : series.points)
            if (point.operation == operation)
                all.push_back(point.bytes);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<std::string> algorithms_in(const Series &series, const std::string &operation)
{
    std::vector<const Point *> points;
    for (const Point &point : series.points)
        if (point.operation == operation && !point.algorithm.empty())
            points.push_back(&point);
    std::sort(points.begin(), points.end(), [](auto *a, auto *b) { return a->bytes < b->bytes; });
    std::vector<std::string> all;
    for (const Point *point : points)
        if (std::find(all.begin(), all.end(), point->algorithm) == all.end())
            all.push_back(point->algorithm);
    return all;
}

} // namespace bench
