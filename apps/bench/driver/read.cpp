// SPDX-License-Identifier: BSD-3-Clause
#include "read.hpp"

#include "complaint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using nlohmann::json;

Point point_of(const json &from)
{
    Point point{from.at("operation"), from.at("bytes"), from.at("iterations"), from.at("median"),    from.at("least"),
                from.at("greatest"),  from.at("tenth"), from.at("ninetieth"),  {},
                from.value("computation", -1.0), from.value("both", -1.0), from.value("hidden", -1.0),
                from.value("algorithm", ""), from.value("loop", -1.0),
                from.value("kernel", ""), from.value("loop_kernel", "")};
    if (from.contains("roots"))
        point.roots = from.at("roots").get<std::vector<double>>();
    return point;
}

Series series_of(const json &from)
{
    Series series{from.at("name"), from.at("library"), from.at("family"), {},
                  from.value("lacks", std::vector<std::string>())};
    for (auto &point : from.at("points"))
        series.points.push_back(point_of(point));
    return series;
}

Results results_of(const json &from)
{
    Results results{from.at("ranks"),           from.at("cached"),         from.value("overlap", false),
                    from.at("processor"),       from.value("loop", false), from.value("one_sided", ""),
                    from.value("per_sync", 1),  from.value("clock", 0.0),  {}};
    for (auto &series : from.at("series"))
        results.series.push_back(series_of(series));
    return results;
}

Growth growth_of(const json &from)
{
    if (!from.contains("runs"))
        return {0, {results_of(from)}};
    Growth growth{from.at("cores"), {}};
    for (auto &run : from.at("runs"))
        growth.runs.push_back(results_of(run));
    return growth;
}

template <class Make>
auto read(const std::string &file, Make make)
{
    std::ifstream in(file);
    if (!in)
        throw Complaint("cannot read " + file + ": " + std::strerror(errno));
    try {
        return make(json::parse(in));
    } catch (const json::exception &) {
        throw Complaint(file + " is not what tutti-bench --json writes");
    }
}

// What a file has at one number of ranks.
struct FromFile {
    std::string file;
    Results results;
};

// As one comparison: series of one name carry their file's name as well.
Results compared(std::vector<FromFile> &all_files)
{
    Results all;
    for (auto &[file, results] : all_files) {
        const std::string &first_file = all_files[0].file;
        if (all.series.empty())
            all = {results.ranks, results.cached, results.overlap, results.processor, results.loop,
                   results.one_sided, results.per_sync, results.clock, {}};
        if (results.ranks != all.ranks || results.cached != all.cached)
            throw Complaint(file + " was measured on " + std::to_string(results.ranks) + " ranks with buffers " +
                            (results.cached ? "left as they were" : "altered") + ", " + first_file + " was not");
        if (results.overlap != all.overlap)
            throw Complaint("of " + file + " and " + first_file + " only one has overlap");
        if (results.one_sided != all.one_sided)
            throw Complaint(file + " and " + first_file +
                            " were not measured with the same windows and synchronisation");
        if (results.loop != all.loop)
            throw Complaint("of " + file + " and " + first_file + " only one has loops");
        const std::size_t before = all.series.size();
        for (Series &series : results.series) {
            const auto same_name = [&](const Series &s) { return s.name == series.name; };
            if (std::any_of(all.series.begin(), all.series.begin() + long(before), same_name))
                series.name = std::filesystem::path(file).stem().string() + " " + series.name;
            all.series.push_back(std::move(series));
        }
    }
    return all;
}

} // namespace

Results read_results(const std::string &file) { return read(file, results_of); }

Growth read_all(const std::vector<std::string> &files)
{
    Growth all;
    std::vector<std::pair<std::string, Growth>> contents;
    for (const std::string &file : files) {
        contents.push_back({file, read(file, growth_of)});
        const int cores = contents.back().second.cores;
        if (all.cores && cores && all.cores != cores)
            throw Complaint(file + " was measured on " + std::to_string(cores) + " cores, others on " +
                            std::to_string(all.cores));
        all.cores = std::max(all.cores, cores);
    }
    std::map<int, std::vector<FromFile>> by_ranks; // where no file has several numbers of ranks, all in one
    for (auto &[file, growth] : contents)
        for (Results &results : growth.runs)
            by_ranks[all.cores ? results.ranks : 0].push_back({file, std::move(results)});
    for (auto &[ranks, same_ranks] : by_ranks)
        all.runs.push_back(compared(same_ranks));
    return all;
}

} // namespace bench
