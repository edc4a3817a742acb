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

/// Algorithms of different collectives may have the same name.
bool same_series(Series const& a, Series const& b) {
    if (a.name != b.name || a.family != b.family) return false;
    return !is_algorithm(a) || a.points.empty() || b.points.empty() || a.points[0].operation == b.points[0].operation;
}

Series& series_like(std::vector<Series>& all, Series const& like) {
    auto const found = std::find_if(all.begin(), all.end(), [&](Series const& s) { return same_series(s, like); });
    if (found != all.end()) return *found;
    all.push_back({like.name, like.library, like.family, {}, like.unsupported});
    return all.back();
}

/// Merges the points of all runs at one operation and size.
Point merged(std::vector<Point> const& points) {
    Point all = points[0];
    std::vector<double> medians, tenths, ninetieths, computations, both, hidden, loops;
    std::vector<std::vector<double>> roots(all.roots.size());
    all.iterations = 0;
    for (Point const& point : points) {
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
    for (std::size_t root = 0; root < roots.size(); ++root) all.roots[root] = median_of(roots[root]);
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
    for (Results const& run : runs) {
        if (all.series.empty())
            all = {run.ranks,    run.cached, run.overlap, run.processor, run.loop, run.one_sided,
                   run.per_sync, run.clock,  {}};
        for (Series const& series : run.series) {
            auto& points = series_like(all.series, series).points;
            points.insert(points.end(), series.points.begin(), series.points.end());
        }
    }
    for (Series& series : all.series) series.points = merged_by_size(series.points);
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

namespace {

using nlohmann::json;

Point point_of(json const& from) {
    Point point{from.at("operation"),
                from.at("bytes"),
                from.at("iterations"),
                from.at("median"),
                from.at("least"),
                from.at("greatest"),
                from.at("tenth"),
                from.at("ninetieth"),
                {},
                from.value("computation", -1.0),
                from.value("both", -1.0),
                from.value("hidden", -1.0),
                from.value("algorithm", ""),
                from.value("loop", -1.0),
                from.value("kernel", ""),
                from.value("loop_kernel", "")};
    if (from.contains("roots")) point.roots = from.at("roots").get<std::vector<double>>();
    return point;
}

Series series_of(json const& from) {
    Series series{
        from.at("name"), from.at("library"), from.at("family"), {}, from.value("lacks", std::vector<std::string>())};
    for (auto& point : from.at("points")) series.points.push_back(point_of(point));
    return series;
}

Results results_of(json const& from) {
    Results results{from.at("ranks"),          from.at("cached"),         from.value("overlap", false),
                    from.at("processor"),      from.value("loop", false), from.value("one_sided", ""),
                    from.value("per_sync", 1), from.value("clock", 0.0),  {}};
    for (auto& series : from.at("series")) results.series.push_back(series_of(series));
    return results;
}

Growth growth_of(json const& from) {
    if (!from.contains("runs")) return {0, {results_of(from)}};
    Growth growth{from.at("cores"), {}};
    for (auto& run : from.at("runs")) growth.runs.push_back(results_of(run));
    return growth;
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
        if (all.series.empty())
            all = {results.ranks,     results.cached, results.overlap,
                   results.processor, results.loop,   results.one_sided,
                   results.per_sync,  results.clock,  {}};
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
