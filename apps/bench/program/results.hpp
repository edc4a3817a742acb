// SPDX-License-Identifier: BSD-3-Clause
// The results as data: the contents of JSON files, and the input of tables and plots.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Point {   // one operation at one size
    std::string operation;
    std::size_t bytes = 0;
    int iterations = 0;
    double median = 0, least = 0, greatest = 0;   ///< microseconds, of the slowest rank
    double tenth = 0, ninetieth = 0;              ///< percentiles: four calls out of five lie between them
    std::vector<double> roots{};                  ///< the median of each root, if every rank was one
    /// If overlap was measured: medians of a computation alone and of both together, and the percentage of the
    /// communication that did not add to the computation; otherwise negative.
    double computation = -1, both = -1, hidden = -1;
    std::string algorithm{};   ///< the algorithm that ran, if the library reports it; otherwise empty
    double loop = -1;          ///< a call's median time in loops of calls back to back, if measured
    double moved = -1;         ///< bytes that all ranks load and store in one call, if counted
    /// If the library times them: a master's mean time per call in the phases of a hierarchical algorithm, on its node
    /// before the masters communicate, among the masters, and on its node afterwards; otherwise negative.
    double before = -1, between = -1, after = -1;
    std::string kernel{}, loop_kernel{};   ///< of the limit: the fastest kernels for single calls and in loops
};

/// Returns the percentage of the phases' time that is between nodes, and by Amdahl's law the time that a call would
/// take if the phases inside nodes took none; negative if the phases were not timed.
double between_percent(Point const& point);
double ideal_time(Point const& point);

/// Returns the overlap as defined by the OSU micro-benchmarks, between 0 and 100.
double hidden_percent(Point const& point);

struct Series {   // measured in the same way: with one library, by one algorithm, or by the limit's kernels
    std::string name;
    std::string library;   ///< name and version of the MPI library
    std::string family;    ///< the origin of the algorithm, if the series is a particular one
    std::vector<Point> points;
    std::vector<std::string> lacks;   ///< requested operations that the library does not have
};

/// What a message takes: the latency, and the time per byte, in microseconds.
struct MessageTime {
    double latency = -1, per_byte = 0;   ///< negative: not measured
};

std::string text_of(MessageTime const& time);   ///< "0.31 us + 0.052 ns per byte"

struct Results {
    int ranks = 0;
    bool cached = false;
    bool overlap = false;   ///< all points have it
    std::string processor;
    bool loop = false;         ///< all points have it
    std::string one_sided{};   ///< description of how one-sided operations were measured
    int per_sync = 1;          ///< number of one-sided operations between two synchronizations
    double clock = 0;          ///< time to read the clock, in microseconds; not contained in the times of points
    int nodes = 1;             ///< nodes of the ranks, if messages were measured
    MessageTime inside{}, between{};   ///< messages inside nodes and between them, for models; if measured
    double alpha = 0;                  ///< with which the driver has computed the series of models; 0: there is none
    std::vector<Series> series;        ///< the others are compared with the first one
};

inline constexpr char limit_name[] = "limit";   // the series of the kernels written by hand

std::string as_json(Results const& results);
inline std::string const json_beginning = "{\"program\":\"tutti-bench\"";   ///< of JSON files, without blanks

/// The lines of --csv, of which all have the same columns; a column is empty if its value was not measured. A cell with
/// a comma or a quotation mark is in quotation marks (RFC 4180).
std::string csv_header();
std::string as_csv(int ranks, std::string const& series, Point const& point);

/// Rates of one-sided operations between two synchronizations, whose point has the time of one: millions of
/// operations, and 10^9 bytes, per second.
double millions_per_second(Point const& point);
double gigabytes_per_second(Point const& point);

double median_of(std::vector<double> values);   ///< of at least one value

}   // namespace bench
