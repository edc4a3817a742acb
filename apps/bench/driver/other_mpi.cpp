// SPDX-License-Identifier: BSD-3-Clause
// The other MPIs that the driver compares with: finds them, and builds the measuring program with each. The programs
// are kept in the user's cache folder, because building one takes longer than many measurements.
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "../../output_file.hpp"
#include "results.hpp"
#include "rounds.hpp"

namespace bench {
namespace {

struct KnownMpi {
    char const *word, *name, *packages;
};
constexpr KnownMpi known_mpis[] = {{"mpich", "MPICH", "mpich and libmpich-dev"},
                                   {"openmpi", "Open MPI", "openmpi-bin and libopenmpi-dev"}};

/// Returns the sources of the measuring program: those installed beside the executable, or those it was built from.
std::vector<std::string> sources() {
    std::filesystem::path folder;
    for (const char* place : {TUTTI_BENCH_SOURCES_FROM_PROGRAMS, TUTTI_BENCH_SOURCES_FROM_BUILD}) {
        folder = (own_folder() / place).lexically_normal();
        std::vector<std::string> files;
        std::error_code none;
        std::filesystem::recursive_directory_iterator entry(folder, none);
        for (; !none && entry != std::filesystem::recursive_directory_iterator(); entry.increment(none))
            if (entry->path().extension() == ".cpp") files.push_back(entry->path());
        std::sort(files.begin(), files.end());
        if (!files.empty()) return files;
    }
    throw BenchError("the benchmark's sources are neither installed nor at " + folder.string() +
                     ", so it cannot be built with another MPI");
}

}   // namespace

OtherMpi find_mpi(std::string const& word) {
    if (word.find('/') != std::string::npos) {
        const std::filesystem::path wrapper = word;
        OtherMpi mpi{word, find_in_path(word), find_in_path(wrapper.parent_path() / "mpiexec")};
        std::error_code absent;
        if (mpi.wrapper.empty())
            throw BenchError("--against " + word +
                             (std::filesystem::exists(wrapper, absent) ? ": this file is not executable"
                                                                       : ": there is no such file"));
        if (mpi.launcher.empty()) throw BenchError("there is no mpiexec beside " + word);
        return mpi;
    }
    OtherMpi mpi{word, find_in_path("mpicxx." + word), find_in_path("mpiexec." + word)};
    auto const found = std::find_if(std::begin(known_mpis), std::end(known_mpis),
                                    [&](KnownMpi const& known) { return word == known.word; });
    if (found != std::end(known_mpis)) mpi.name = found->name;
    if (!mpi.wrapper.empty() && !mpi.launcher.empty()) return mpi;
    const std::string missing = (mpi.wrapper.empty() ? "mpicxx." : "mpiexec.") + word;
    throw BenchError("there is no " + missing + " in PATH; " +
                     (found == std::end(known_mpis)
                          ? "name its mpicxx by the path"
                          : std::string("Debian's packages ") + found->packages + " have it"));
}

namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

const Words flags{"-std=c++20", "-O2"};

/// Returns the folder of the kept programs, or an empty path if the user has none.
fs::path cache_folder() {
    char const *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && cache[0] == '/') return fs::path(cache) / "tutti/bench";   // relative paths are invalid there
    return home && home[0] == '/' ? fs::path(home) / ".cache/tutti/bench" : fs::path();
}

std::string hexadecimal(std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

/// FNV-1a.
void hash(std::string const& text, std::uint64_t& sum) {
    for (unsigned char c : text) sum = (sum ^ c) * 0x100000001b3;
    sum = (sum ^ 256) * 0x100000001b3;   // no character: texts must not run into each other
}
constexpr std::uint64_t no_text = 0xcbf29ce484222325;

/// The place in the cache of the program that one wrapper has built from one folder of sources. "STEM.inputs" has the
/// sum over everything that the program depends on, and the names of the files among that; "STEM-SUM" is the program.
/// Several processes may read and write: each file is complete when it gets its name, and a program never changes.
class CacheEntry {
public:
    CacheEntry(OtherMpi const& mpi, Words const& sources, TemporaryFolder const& folder) {
        std::error_code error;
        wrapper_ = fs::canonical(mpi.wrapper, error);
        std::uint64_t name = no_text;
        hash(mpi.wrapper, name);
        hash(sources[0], name);
        folder_ = cache_folder();
        stem_ = fs::path(mpi.wrapper).filename().string() + "-" + hexadecimal(name).substr(8);
        // Wrappers pass --version on to their compiler.
        for (std::string const& word : flags) context_ += word + " ";
        context_ += mpi.wrapper + "\n" + run({{mpi.wrapper, "--version"}, {}}, 60, folder).output;
    }

    /// Copies the program to `executable`, if it was built from what is there now. Returns its name in the cache, or an
    /// empty path.
    fs::path fetch(std::string const& executable) const {
        std::ifstream list(folder_ / (stem_ + ".inputs"));
        Words inputs;
        std::string sum, line;
        std::getline(list, sum);
        while (std::getline(list, line)) inputs.push_back(line);
        if (inputs.empty() || sum_of(inputs) != sum) return {};
        std::error_code error;
        fs::copy_file(program(sum), executable, error);
        return error ? fs::path() : program(sum);
    }

    /// Keeps the program that was built from these files. Throws BenchError, naming the reason.
    fs::path keep(std::string const& executable, Words inputs) const {
        if (folder_.empty()) throw BenchError("neither XDG_CACHE_HOME nor HOME is set");
        std::error_code error;
        fs::create_directories(folder_, error);
        if (error) throw BenchError(folder_.string() + ": " + error.message());
        inputs.push_back(wrapper_);
        std::sort(inputs.begin(), inputs.end());
        inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
        const std::optional<std::string> sum = sum_of(inputs);
        if (!sum) throw BenchError("a file that it was built from is gone");
        std::string list = *sum + "\n";
        for (std::string const& input : inputs) list += input + "\n";
        const fs::path fresh = folder_ / (stem_ + "." + std::to_string(getpid()) + ".new");
        fs::copy_file(executable, fresh, fs::copy_options::overwrite_existing, error);
        if (!error) fs::rename(fresh, program(*sum), error);
        if (error) throw BenchError(folder_.string() + ": " + error.message());
        if (const std::string message = apps::replace_file(folder_ / (stem_ + ".inputs"), list); !message.empty())
            throw BenchError(message);
        remove_others(program(*sum));
        return program(*sum);
    }

private:
    fs::path program(std::string const& sum) const { return folder_ / (stem_ + "-" + sum); }

    /// Returns the sum over the contents of these files, and the context; none if one cannot be read.
    std::optional<std::string> sum_of(Words const& files) const {
        std::uint64_t sum = no_text;
        hash(context_, sum);
        for (std::string const& file : files) {
            std::ifstream in(file);
            std::ostringstream contents;
            if (!in) return std::nullopt;
            contents << in.rdbuf();
            hash(file, sum);
            hash(contents.str(), sum);
        }
        return hexadecimal(sum);
    }

    /// Removes what this wrapper built from earlier sources.
    void remove_others(fs::path const& program) const {
        std::error_code error;
        fs::directory_iterator entry(folder_, error);
        for (; !error && entry != fs::directory_iterator(); entry.increment(error))
            if (entry->path() != program && entry->path().filename().string().starts_with(stem_ + "-")) {
                std::error_code ignored;   // another process may have removed it
                fs::remove(entry->path(), ignored);
            }
    }

    fs::path folder_, wrapper_;
    std::string stem_, context_;
};

/// Returns the files that the compiler has read, as its -MD lists them, and those that the linker names with --trace.
Words files_read(std::string const& dependencies, std::string const& trace, TemporaryFolder const& folder) {
    std::ifstream in(dependencies);
    std::ostringstream text;
    text << in.rdbuf();
    std::string list = text.str() + "\n" + trace;
    for (std::size_t at = 0; (at = list.find("\\\n", at)) != std::string::npos;) list.replace(at, 2, "  ");
    for (char& c : list)
        if (c == '(' || c == ')') c = ' ';   // "/path/of.a(member.o)", "-lname (/path)"
    Words files;
    std::istringstream words(list);
    for (std::string word; words >> word;) {
        std::error_code error;
        if (word[0] == '/' && !word.starts_with(folder.path().string()) && fs::is_regular_file(word, error))
            files.push_back(word);
    }
    return files;
}

}   // namespace

std::string build_with(OtherMpi const& mpi, std::string const& executable, TemporaryFolder const& folder) {
    const Words files = sources();
    const CacheEntry entry(mpi, files, folder);
    if (const fs::path kept = entry.fetch(executable); !kept.empty())
        return "used again, as " + mpi.wrapper + " built it earlier: " + kept.string();
    std::fprintf(stderr, "Building %s with %s ...\n", fs::path(files[0]).parent_path().c_str(), mpi.wrapper.c_str());
    // Compiled as one file, which takes a third of the time.
    const std::string all = executable + ".cpp", dependencies = executable + ".d";
    {
        std::ofstream out(all);
        for (std::string const& file : files) out << "#include \"" << file << "\"\n";
    }
    Command command{{mpi.wrapper}, {}};
    command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
    for (std::string const& word : {std::string("-MD"), std::string("-MF"), dependencies, std::string("-Wl,--trace"),
                                    all, std::string("-o"), executable})
        command.arguments.push_back(word);
    const ProcessResult result = run(command, 600, folder);
    if (result.timed_out) throw BenchError(mpi.wrapper + " had not built the benchmark after ten minutes");
    if (result.code != 0) {
        std::string needs;
        for (KnownMpi const& known : known_mpis)
            if (mpi.name == known.name) needs = std::string(" (it needs Debian's packages ") + known.packages + ")";
        throw BenchError(mpi.wrapper + " could not build the benchmark" + needs + ":\n" +
                         last_lines(result.errors, 10));
    }
    Words inputs = files_read(dependencies, result.output, folder);
    inputs.insert(inputs.end(), files.begin(), files.end());
    try {
        return "built with " + mpi.wrapper + " and kept: " + entry.keep(executable, inputs).string();
    } catch (BenchError const& error) { return "built with " + mpi.wrapper + ", but not kept: " + error.what(); }
}

std::vector<std::string> environment_for_any_mpi() {
    return {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
            "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"};
}

}   // namespace bench
