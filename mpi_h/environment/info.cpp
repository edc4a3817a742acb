// SPDX-License-Identifier: BSD-3-Clause
// Info objects (MPI 3.1, chapter 9; MPI_Info_get_string and MPI_Info_create_env: MPI 4.0, chapter 10).
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/library_state.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/text_streams.hpp"

// MPI_INFO_ENV takes its values from the system, because MPI_Init may be called without the program's arguments.

namespace tutti {
namespace {

std::string shortened(std::string const& text) { return text.substr(0, MPI_MAX_INFO_VAL); }

void set_command(Info& info) {
    FileReader file("/proc/self/cmdline", std::ios::binary);
    std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.empty()) return;
    line.pop_back();   // each argument ends with a zero
    std::size_t end = line.find('\0');
    info.set("command", shortened(line.substr(0, end)));
    if (end == std::string::npos) return;
    std::string arguments = line.substr(end + 1);
    for (char& c : arguments)
        if (c == '\0') c = ' ';
    info.set("argv", shortened(arguments));
}

char const* level_name(int level) {
    switch (level) {
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE: return "MPI_THREAD_MULTIPLE";
    default: return "MPI_THREAD_SINGLE";
    }
}

/// Before MPI_Init only the launcher's variable is known; a process that no launcher started is a world of one.
std::string world_size(LibraryState const& f) {
    if (f.process) return std::to_string(f.process->size());
    char const* size = std::getenv(launch::segment_variable) ? std::getenv("PMI_SIZE") : nullptr;
    return size ? size : "1";
}

}   // namespace

void describe_start(Info& info, LibraryState const& f) {
    set_command(info);
    info.set("maxprocs", world_size(f));
    utsname system;
    if (uname(&system) == 0) {
        info.set("host", shortened(system.nodename));
        info.set("arch", shortened(system.machine));
    }
    char folder[4096];
    if (getcwd(folder, sizeof folder)) info.set("wdir", shortened(folder));
    info.set("thread_level", level_name(f.thread_level));
    info.set(memory_kinds_key, memory_kinds);
}

void place_info_env(LibraryState& f) {
    auto* info = new Info;
    info->predefined = true;
    describe_start(*info, f);
    f.tables.infos.place(MPI_INFO_ENV, info);
}

namespace {

/// Checks a key of the program: not null, not empty, not too long.
std::string key_of(Call const& call, char const* key) {
    call.pointer(key, "key", ErrorClass::info_key);
    std::size_t length = strnlen(key, MPI_MAX_INFO_KEY + 1);
    if (length == 0) fail(ErrorClass::info_key, "key is empty");
    if (length > MPI_MAX_INFO_KEY)
        fail(ErrorClass::info_key, "key is longer than ", MPI_MAX_INFO_KEY, " characters (MPI_MAX_INFO_KEY)");
    return key;
}

std::string value_of(Call const& call, char const* value) {
    call.pointer(value, "value", ErrorClass::info_value);
    if (strnlen(value, MPI_MAX_INFO_VAL + 1) > MPI_MAX_INFO_VAL)
        fail(ErrorClass::info_value, "value is longer than ", MPI_MAX_INFO_VAL, " characters (MPI_MAX_INFO_VAL)");
    return value;
}

Info& changeable(Call& call, MPI_Info handle) {
    Info& info = call.info(handle);
    if (info.predefined) fail(ErrorClass::info, "MPI_INFO_ENV can be neither changed nor freed");
    return info;
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Info_create);
int PMPI_Info_create(MPI_Info* info) {
    return enter<When::any_time>(args(info), [&](Call& call) {
        call.pointer(info, "info");
        *info = library().tables.infos.add(new Info);
    });
}

TUTTI_FUNCTION(Info_create_env);
int PMPI_Info_create_env(int argc, char** argv, MPI_Info* info) {
    return enter<When::any_time>(args(argc, argv, info), [&](Call& call) {
        call.pointer(info, "info");
        auto* made = new Info;
        describe_start(*made, library());
        *info = library().tables.infos.add(made);
    });
}

TUTTI_FUNCTION(Info_dup);
int PMPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
    return enter<When::any_time>(args(info, newinfo), [&](Call& call) {
        Info& from = call.info(info);
        call.pointer(newinfo, "newinfo");
        auto* made = new Info;
        made->entries = from.entries;
        *newinfo = library().tables.infos.add(made);
    });
}

TUTTI_FUNCTION(Info_free);
int PMPI_Info_free(MPI_Info* info) {
    return enter<When::any_time>(args(info), [&](Call& call) {
        call.pointer(info, "info");
        changeable(call, *info);
        library().tables.infos.remove(*info);
        *info = MPI_INFO_NULL;
    });
}

TUTTI_FUNCTION(Info_set);
int PMPI_Info_set(MPI_Info info, char const* key, char const* value) {
    return enter<When::any_time>(args(info, key, value), [&](Call& call) {
        Info& to = changeable(call, info);
        std::string checked_key = key_of(call, key);
        to.set(checked_key, value_of(call, value));
    });
}

TUTTI_FUNCTION(Info_get);
int PMPI_Info_get(MPI_Info info, char const* key, int valuelen, char* value, int* flag) {
    return enter<When::any_time>(args(info, key, valuelen, value, flag), [&](Call& call) {
        Info& from = call.info(info);
        std::string const* found = from.find(key_of(call, key));
        if (valuelen < 0) fail(ErrorClass::arg, "valuelen is ", valuelen, " but must be at least 0");
        call.pointer(value, "value");
        call.pointer(flag, "flag");
        *flag = found != nullptr;
        // valuelen does not include the terminating zero
        if (found) copy_text(*found, value, static_cast<std::size_t>(valuelen) + 1);
    });
}

TUTTI_FUNCTION(Info_get_string);
int PMPI_Info_get_string(MPI_Info info, char const* key, int* buflen, char* value, int* flag) {
    return enter<When::any_time>(args(info, key, buflen, value, flag), [&](Call& call) {
        Info& from = call.info(info);
        std::string const* found = from.find(key_of(call, key));
        call.pointer(buflen, "buflen");
        call.pointer(flag, "flag");
        if (*buflen < 0) fail(ErrorClass::arg, "buflen is ", *buflen, " but must be at least 0");
        *flag = found != nullptr;
        if (!found) return;
        if (*buflen > 0) {
            call.pointer(value, "value");
            copy_text(*found, value, static_cast<std::size_t>(*buflen));   // buflen includes the terminating zero
        }
        *buflen = static_cast<int>(found->size()) + 1;
    });
}

TUTTI_FUNCTION(Info_get_valuelen);
int PMPI_Info_get_valuelen(MPI_Info info, char const* key, int* valuelen, int* flag) {
    return enter<When::any_time>(args(info, key, valuelen, flag), [&](Call& call) {
        Info& from = call.info(info);
        std::string const* found = from.find(key_of(call, key));
        call.pointer(valuelen, "valuelen");
        call.pointer(flag, "flag");
        *flag = found != nullptr;
        if (found) *valuelen = static_cast<int>(found->size());
    });
}

TUTTI_FUNCTION(Info_get_nkeys);
int PMPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
    return enter<When::any_time>(args(info, nkeys), [&](Call& call) {
        Info& from = call.info(info);
        call.pointer(nkeys, "nkeys");
        *nkeys = static_cast<int>(from.entries.size());
    });
}

TUTTI_FUNCTION(Info_get_nthkey);
int PMPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
    return enter<When::any_time>(args(info, n, key), [&](Call& call) {
        Info& from = call.info(info);
        if (n < 0 || static_cast<std::size_t>(n) >= from.entries.size())
            fail(ErrorClass::arg, "n is ", n, " but the info has ", from.entries.size(), " keys");
        call.pointer(key, "key");
        copy_text(from.entries[static_cast<std::size_t>(n)].first, key, MPI_MAX_INFO_KEY + 1);
    });
}

TUTTI_FUNCTION(Info_delete);
int PMPI_Info_delete(MPI_Info info, char const* key) {
    return enter<When::any_time>(args(info, key), [&](Call& call) {
        Info& from = changeable(call, info);
        std::string checked_key = key_of(call, key);
        if (!from.erase(checked_key)) fail(ErrorClass::info_nokey, "the info has no key \"", checked_key, "\"");
    });
}
