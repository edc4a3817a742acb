// SPDX-License-Identifier: BSD-3-Clause
// Merges and compares results, and reads result files.
#include "results.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

namespace bench {
namespace {

/// Returns how these results were measured.
Results without_series(Results results) {
    results.series.clear();
    return results;
}

/// Algorithms of different collectives may have the same name.
bool same_series(Series const& a, Series const& b) {
    if (a.name != b.name || a.family != b.family) return false;
    return !is_algorithm(a) || a.points.empty() || b.points.empty() || a.points[0].operation == b.points[0].operation;
}

Series& series_like(std::vector<Series>& all, Series const& like) {
    auto const found = std::find_if(all.begin(), all.end(), [&](Series const& s) { return same_series(s, like); });
    if (found != all.end()) return *found;
    all.push_back({like.name, like.library, like.family, {}, like.lacks});
    return all.back();
}

/// Merges the points of all runs at one operation and size.
Point merged(std::vector<Point> const& points) {
    Point all = points[0];
    auto const median = [&points](auto value) {
        std::vector<double> values;
        for (Point const& point : points)
            if (double const* one = value(point)) values.push_back(*one);
        return median_of(values);
    };
    for (double Point::*member : {&Point::median, &Point::tenth, &Point::ninetieth, &Point::computation, &Point::both,
                                  &Point::hidden, &Point::loop, &Point::before, &Point::between, &Point::after})
        all.*member = median([&](Point const& point) { return &(point.*member); });
    for (std::size_t root = 0; root < all.roots.size(); ++root)
        all.roots[root] =
            median([&](Point const& point) { return root < point.roots.size() ? &point.roots[root] : nullptr; });
    all.iterations = 0;
    for (Point const& point : points) {
        all.iterations += point.iterations;
        all.least = std::min(all.least, point.least);
        all.greatest = std::max(all.greatest, point.greatest);
    }
    return all;
}

/// `points` contains the points of all runs, concatenated.
std::vector<Point> merged_by_size(std::vector<Point> const& points) {
    std::vector<Point> all;
    for (Point const& first : points) {
        auto same = [&](Point const& p) { return p.operation == first.operation && p.bytes == first.bytes; };
        if (std::any_of(all.begin(), all.end(), same)) continue;
        std::vector<Point> these;
        std::copy_if(points.begin(), points.end(), std::back_inserter(these), same);
        all.push_back(merged(these));
    }
    return all;
}

}   // namespace

Results merge(std::vector<Results> const& runs) {
    Results all;
    std::vector<Results> messages;   // runs that measured them
    for (Results const& run : runs) {
        if (all.series.empty()) all = without_series(run);
        if (run.inside.latency >= 0) messages.push_back(run);
        for (Series const& series : run.series) {
            auto& points = series_like(all.series, series).points;
            points.insert(points.end(), series.points.begin(), series.points.end());
        }
    }
    for (Series& series : all.series) series.points = merged_by_size(series.points);
    for (MessageTime Results::*which : {&Results::inside, &Results::between})
        for (double MessageTime::*part : {&MessageTime::latency, &MessageTime::per_byte}) {
            std::vector<double> values;
            for (Results const& run : messages) values.push_back(run.*which.*part);
            if (!values.empty()) all.*which.*part = median_of(values);
        }
    std::stable_partition(all.series.begin(), all.series.end(), [](Series const& s) { return !is_limit(s); });
    return all;
}

Point const* find(Series const& series, std::string const& operation, std::size_t bytes) {
    for (Point const& point : series.points)
        if (point.operation == operation && point.bytes == bytes) return &point;
    return nullptr;
}

std::vector<std::string> operations_in(Results const& results) {
    std::vector<std::string> all;
    for (Series const& series : results.series)
        for (Point const& point : series.points)
            if (std::find(all.begin(), all.end(), point.operation) == all.end()) all.push_back(point.operation);
    return all;
}

std::vector<std::size_t> sizes_in(Results const& results, std::string const& operation) {
    std::vector<std::size_t> all;
    for (Series const& series : results.series)
        for (Point const& point : series.points)
            if (point.operation == operation) all.push_back(point.bytes);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<std::string> algorithms_in(Series const& series, std::string const& operation) {
    std::vector<Point const*> points;
    for (Point const& point : series.points)
        if (point.operation == operation && !point.algorithm.empty()) points.push_back(&point);
    std::sort(points.begin(), points.end(), [](auto* a, auto* b) { return a->bytes < b->bytes; });
    std::vector<std::string> all;
    for (Point const* point : points)
        if (std::find(all.begin(), all.end(), point->algorithm) == all.end()) all.push_back(point->algorithm);
    return all;
}

// Fields that a file lacks, such as those of options that were not given, keep their defaults.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Point, operation, bytes, iterations, median, least, greatest, tenth,
                                                ninetieth, roots, computation, both, hidden, algorithm, loop, kernel,
                                                loop_kernel, moved, before, between, after)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(MessageTime, latency, per_byte)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Series, name, library, family, points, lacks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Results, ranks, cached, overlap, processor, loop, one_sided, per_sync,
                                                clock, nodes, inside, between, alpha, series)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Growth, cores, runs)

namespace {

using nlohmann::json;

Results results_of(json const& from) {
    for (json const& series : from.at("series"))
        for (json const& point : series.at("points")) point.at("median");   // throws if it is another kind of file
    return from;
}

Growth growth_of(json const& from) {
    if (!from.contains("runs")) return {0, {results_of(from)}};
    return from;
}

template <class Make>
auto read(std::string const& file, Make make) {
    std::ifstream in(file);
    if (!in) throw BenchError("cannot read " + file + ": " + std::strerror(errno));
    try {
        return make(json::parse(in));
    } catch (json::exception const&) { throw BenchError(file + " is not what tutti-bench --json writes"); }
}

/// The results of a file at one number of ranks.
struct FromFile {
    std::string file;
    Results results;
};

/// Makes one comparison: series of the same name are distinguished by their file's name.
Results compared(std::vector<FromFile>& all_files) {
    Results all;
    for (auto& [file, results] : all_files) {
        std::string const& first_file = all_files[0].file;
        if (all.series.empty()) all = without_series(results);
        if (results.ranks != all.ranks || results.cached != all.cached)
            throw BenchError(file + " was measured on " + std::to_string(results.ranks) + " ranks with buffers " +
                             (results.cached ? "left as they were" : "altered") + ", " + first_file + " was not");
        if (results.overlap != all.overlap)
            throw BenchError("of " + file + " and " + first_file + " only one has overlap");
        if (results.one_sided != all.one_sided)
            throw BenchError(file + " and " + first_file +
                             " were not measured with the same windows and synchronisation");
        if (results.loop != all.loop) throw BenchError("of " + file + " and " + first_file + " only one has loops");
        const std::size_t before = all.series.size();
        for (Series& series : results.series) {
            auto const same_name = [&](Series const& s) { return s.name == series.name; };
            if (std::any_of(all.series.begin(), all.series.begin() + long(before), same_name))
                series.name = std::filesystem::path(file).stem().string() + " " + series.name;
            all.series.push_back(std::move(series));
        }
    }
    return all;
}

}   // namespace

Results read_results(std::string const& file) { return read(file, results_of); }

Growth read_all(std::vector<std::string> const& files) {
    Growth all;
    std::vector<std::pair<std::string, Growth>> contents;
    for (std::string const& file : files) {
        contents.push_back({file, read(file, growth_of)});
        int const cores = contents.back().second.cores;
        if (all.cores && cores && all.cores != cores)
            throw BenchError(file + " was measured on " + std::to_string(cores) + " cores, others on " +
                             std::to_string(all.cores));
        all.cores = std::max(all.cores, cores);
    }
    std::map<int, std::vector<FromFile>> by_ranks;   // a single entry if no file has several numbers of ranks
    for (auto& [file, growth] : contents)
        for (Results& results : growth.runs)
            by_ranks[all.cores ? results.ranks : 0].push_back({file, std::move(results)});
    for (auto& [ranks, same_ranks] : by_ranks) all.runs.push_back(compared(same_ranks));
    return all;
}

}   // namespace bench
