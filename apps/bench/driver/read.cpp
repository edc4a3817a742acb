// SPDX-License-Identifier: BSD-3-Clause
#include "read.hpp"

#include "complaint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
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

} // namespace

Results read_results(const std::string &file)
{
    std::ifstream in(file);
    if (!in)
        throw Complaint("cannot read " + file + ": " + std::strerror(errno));
    try {
        const json from = json::parse(in);
        Results results{from.at("ranks"),           from.at("cached"),         from.value("overlap", false),
                        from.at("processor"),       from.value("loop", false), from.value("clock", 0.0),
                        {}};
        for (auto &series : from.at("series"))
            results.series.push_back(series_of(series));
        return results;
    } catch (const json::exception &) {
        throw Complaint(file + " is not what tutti-bench --json writes");
    }
}

Results read_all(const std::vector<std::string> &files)
{
    Results all;
    for (const std::string &file : files) {
        Results results = read_results(file);
        if (all.series.empty())
            all = {results.ranks, results.cached, results.overlap, results.processor, results.loop, results.clock, {}};
        if (results.ranks != all.ranks || results.cached != all.cached)
            throw Complaint(file + " was measured on " + std::to_string(results.ranks) + " ranks with buffers " +
                            (results.cached ? "left as they were" : "altered") + ", " + files[0] + " was not");
        if (results.overlap != all.overlap)
            throw Complaint("of " + file + " and " + files[0] + " only one has overlap");
        if (results.loop != all.loop)
            throw Complaint("of " + file + " and " + files[0] + " only one has loops");
        for (Series &series : results.series)
            all.series.push_back(std::move(series));
        const std::size_t first = all.series.size() - results.series.size();
        for (std::size_t i = first; i < all.series.size(); ++i) {
            const std::string name = all.series[i].name;
            if (std::any_of(all.series.begin(), all.series.begin() + long(first),
                            [&](const Series &s) { return s.name == name; }))
                all.series[i].name = std::filesystem::path(file).stem().string() + " " + name;
        }
    }
    return all;
}

} // namespace bench
