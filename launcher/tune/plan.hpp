// SPDX-License-Identifier: BSD-3-Clause
// The plan of the measurements: the algorithms that can execute a call, the default, and parameters that may be
// better.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/manual.hpp"
#include "coll/choice/choose.hpp"
#include "topo/machine.hpp"

namespace tutti::tune {

// The command line of tutti-tune.

struct Options {
    std::vector<int> ranks;   ///< ascending
    std::vector<coll::Collective> collectives;
    std::size_t smallest = 8, largest = 4 << 20;   ///< bytes, powers of two
    double seconds = 0;                            ///< in total; 0: as long as a full measurement takes
    std::string output;                            ///< file name; "-": standard output
    bool dry_run = false;
    bool quiet = false;   ///< print neither the introduction nor the progress
    apps::Information information;
};

struct TuneError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Default measuring time per collective and number of ranks, in seconds.
inline constexpr double default_seconds = 6;

/// Parses the command line. Options that are not given get defaults for a machine with this many cores. Throws
/// TuneError.
Options parse_options(std::vector<std::string> const& words, int cores);
/// The description of tutti-tune: help, man page and completion are made from it.
apps::Manual manual();

/// One collective with one number of ranks.
class TuningCase {
public:
    TuningCase(coll::Collective collective, int ranks, topo::Machine const& machine, Options const& options);

    coll::Collective collective() const { return collective_; }
    char const* name() const { return name_of(collective_); }
    int ranks() const { return ranks_; }
    /// Sizes as tutti-bench counts them: one rank's part. A single 0 for barrier.
    std::vector<std::size_t> const& sizes() const { return sizes_; }
    /// Returns the size of the message as the table of choices counts it, rounded up to a power of two; for barrier,
    /// no_limit.
    std::size_t message_bytes(std::size_t size) const;

    /// Returns the algorithms of the list that can execute the smallest size, and thus at least one of the sizes.
    std::vector<std::string> candidates() const;
    /// True if the setting's algorithm can execute the call at this size.
    bool can_execute(std::string const& setting, std::size_t size) const;
    /// Returns the setting that runs without a tuning file.
    std::string default_setting(std::size_t size) const;
    /// Returns the setting with half and with twice each of its sizes.
    std::vector<std::string> variants(std::string const& setting) const;

private:
    coll::CallTraits traits(std::size_t size) const;

    coll::Collective collective_;
    int ranks_;
    std::vector<std::size_t> sizes_;
    coll::Trees trees_;
};

/// The results of one run of tutti-bench under mpiexec, which measures several settings of one collective alternately.
struct Measurements {
    /// [size][setting]: median over the calls of the slowest rank's time, in microseconds. "default": without a
    /// setting.
    std::map<std::size_t, std::map<std::string, double>> times;
    std::vector<std::string> diagnostics;   ///< about wrong results, or a failed run
};

inline constexpr char default_series[] = "default";

/// Measures each setting for `seconds` at each size. Calls `on_measured` with each size when it has been measured
/// completely.
Measurements measure(TuningCase const& tuning_case, std::vector<std::string> const& settings, double seconds,
                     std::function<void(std::size_t)> const& on_measured);

}   // namespace tutti::tune
