// SPDX-License-Identifier: BSD-3-Clause
#include "other_mpi.hpp"

#include "../complaint.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace bench {
namespace {

struct KnownMpi {
    const char *word, *name, *packages;
};
constexpr KnownMpi known_mpis[] = {{"mpich", "MPICH", "mpich and libmpich-dev"},
                                   {"openmpi", "Open MPI", "openmpi-bin and libopenmpi-dev"}};

// The measuring program's sources: installed beside the executable, or where it was built from.
std::vector<std::string> sources()
{
    const std::filesystem::path folders[] = {(own_folder() / TUTTI_SOURCES_FROM_PROGRAMS).lexically_normal(),
                                             TUTTI_BENCH_SOURCES};
    for (auto &folder : folders) {
        std::vector<std::string> files;
        std::error_code none;
        std::filesystem::recursive_directory_iterator entry(folder, none);
        for (; !none && entry != std::filesystem::recursive_directory_iterator(); entry.increment(none))
            if (entry->path().extension() == ".cpp")
                files.push_back(entry->path());
        std::sort(files.begin(), files.end());
        if (!files.empty())
            return files;
    }
    throw Complaint("the benchmark's sources are neither installed nor at " TUTTI_BENCH_SOURCES
                    ", so it cannot be built with another MPI");
}

} // namespace

OtherMpi find_mpi(const std::string &word)
{
    if (word.find('/') != std::string::npos) {
        const std::filesystem::path wrapper = word;
        OtherMpi mpi{word, find_in_path(word), find_in_path(wrapper.parent_path() / "mpiexec")};
        if (mpi.wrapper.empty())
            throw Complaint(word + " is no executable file");
        if (mpi.launcher.empty())
            throw Complaint("there is no mpiexec beside " + word);
        return mpi;
    }
    OtherMpi mpi{word, find_in_path("mpicxx." + word), find_in_path("mpiexec." + word)};
    const auto found = std::find_if(std::begin(known_mpis), std::end(known_mpis),
                                    [&](const KnownMpi &known) { return word == known.word; });
    if (found != std::end(known_mpis))
        mpi.name = found->name;
    if (!mpi.wrapper.empty() && !mpi.launcher.empty())
        return mpi;
    const std::string missing = (mpi.wrapper.empty() ? "mpicxx." : "mpiexec.") + word;
    throw Complaint("there is no " + missing + " in PATH; " +
                    (found == std::end(known_mpis) ? "name its mpicxx by the path"
                                                   : std::string("Debian's packages ") + found->packages + " have it"));
}

std::string build_with(const OtherMpi &mpi, const std::string &executable, const TemporaryFolder &folder)
{
    const std::vector<std::string> files = sources();
    const auto program = std::filesystem::path(files[0]).parent_path().parent_path();
    std::fprintf(stderr, "Building %s with %s ...\n", program.c_str(), mpi.wrapper.c_str());
    // All as one: a third of the time that it takes file by file.
    const std::string all = executable + ".cpp";
    {
        std::ofstream out(all);
        for (const std::string &file : files)
            out << "#include \"" << file << "\"\n";
    }
    const Ending ending = run({{mpi.wrapper, "-std=c++20", "-O2", all, "-o", executable}, {}}, 600, folder);
    if (ending.late)
        throw Complaint(mpi.wrapper + " had not built the benchmark after ten minutes");
    if (ending.code != 0) {
        std::string needs;
        for (const KnownMpi &known : known_mpis)
            if (mpi.name == known.name)
                needs = std::string(" (it needs Debian's packages ") + known.packages + ")";
        throw Complaint(mpi.wrapper + " could not build the benchmark" + needs + ":\n" + last_lines(ending.errors, 10));
    }
    return executable;
}

std::vector<std::string> environment_for_any_mpi()
{
    return {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
            "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"};
}

} // namespace bench
