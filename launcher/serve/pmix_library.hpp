// SPDX-License-Identifier: BSD-3-Clause
// The server's part of libpmix, which is loaded when a job needs it: the functions that are called, arrays of values
// for them, and waiting for their callbacks. The types are those of its header.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pmix.h>
#include <pmix_server.h>

namespace tutti::launcher {

/// The library stays loaded, because it has threads.
struct PmixLibrary {
    static constexpr char file[] = "libpmix.so.2";

    /// Returns the library, which is loaded by the first call. Throws LaunchError if that is impossible.
    static PmixLibrary const& get();
    /// Throws LaunchError, naming `call`, unless `status` is a success.
    void check(pmix_status_t status, char const* call) const;

    decltype(&PMIx_server_init) init;
    decltype(&PMIx_generate_regex) generate_regex;
    decltype(&PMIx_generate_ppn) generate_ppn;
    decltype(&PMIx_server_register_nspace) register_nspace;
    decltype(&PMIx_server_deregister_nspace) deregister_nspace;
    decltype(&PMIx_server_register_client) register_client;
    decltype(&PMIx_server_deregister_client) deregister_client;
    decltype(&PMIx_server_setup_fork) setup_fork;
    decltype(&PMIx_Error_string) error_string;

private:
    PmixLibrary();
};

/// An array of named values. Texts and arrays are kept until this object is destroyed.
class PmixInfos {
public:
    PmixInfos() = default;
    PmixInfos(PmixInfos const&) = delete;
    PmixInfos& operator=(PmixInfos const&) = delete;

    void add(char const* key, std::string text);
    void add(char const* key, std::uint32_t number);
    void add_short(char const* key, std::uint16_t number);
    void add_rank(char const* key, int rank);
    void add_flag(char const* key, bool flag);
    /// Returns the new array, which is the value of `key`.
    PmixInfos& add_array(char const* key);

    /// The result is valid until the next call of a function that adds a value.
    pmix_info_t* data();
    std::size_t size() const { return infos_.size(); }

private:
    pmix_value_t& append(char const* key, pmix_data_type_t type);

    std::vector<pmix_info_t> infos_;
    std::deque<std::string> texts_;
    struct Array;
    std::deque<Array> arrays_;
};

struct PmixInfos::Array {
    explicit Array(std::size_t at) : index(at) {}
    std::size_t index;   ///< of the value
    PmixInfos infos{};
    pmix_data_array_t array{};
};

/// The callback of one call.
class PmixCompletion {
public:
    /// Waits for the callback if the call has returned that one follows. Returns the status of the operation.
    pmix_status_t wait(pmix_status_t returned);
    /// Returns false if it has not been called in this time.
    bool wait_for(std::chrono::milliseconds timeout);
    static void done(pmix_status_t status, void* completion);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<pmix_status_t> status_;
};

}   // namespace tutti::launcher
