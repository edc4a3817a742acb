// SPDX-License-Identifier: BSD-3-Clause
// Calls libpmix. The types are those of its header; its macros and its other functions are not used.
#include "runtime/job/join_job.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pmix.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/job/lost_job.hpp"
#include "runtime/wait/other_threads.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

constexpr char library_name[] = "libpmix.so.2";

/// Loads the library that the dynamic loader finds, or else one that an ancestor has loaded: launchers that were built
/// with a PMIx of their own keep it in a folder of their own. Any version may communicate with a server of any other.
void* load_library() {
    if (void* const handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL)) return handle;
    std::string const reason = dlerror();
    for (auto const& [process, name] : ancestors_of_this_process()) {
        std::string const map = memory_map_of(process);
        std::size_t const at = map.find("/libpmix.so.");
        if (at == std::string::npos) continue;
        std::size_t const line = map.rfind('\n', at) + 1, path = map.find('/', line);
        std::string const file = map.substr(path, map.find('\n', at) - path);
        if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
    fail(ErrorClass::other, reason);
}

/// The functions of the library that are called. The library stays loaded, because it has threads.
struct Library {
    Library() : was_loaded(dlopen(library_name, RTLD_NOW | RTLD_NOLOAD) != nullptr) {
        void* const handle = load_library();
        auto find = [handle](auto& function, char const* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
            if (!function) fail(ErrorClass::other, library_name, " has no ", name);
        };
        find(init, "PMIx_Init");
        find(finalize, "PMIx_Finalize");
        find(abort, "PMIx_Abort");
        find(put, "PMIx_Put");
        find(commit, "PMIx_Commit");
        find(fence, "PMIx_Fence");
        find(get, "PMIx_Get");
        find(error_string, "PMIx_Error_string");
    }

    bool const was_loaded;   ///< by the program, which uses it as well
    decltype(&PMIx_Init) init;
    decltype(&PMIx_Finalize) finalize;
    decltype(&PMIx_Abort) abort;
    decltype(&PMIx_Put) put;
    decltype(&PMIx_Commit) commit;
    decltype(&PMIx_Fence) fence;
    decltype(&PMIx_Get) get;
    decltype(&PMIx_Error_string) error_string;
};

/// Owns a value that the library has allocated with the C library's malloc, including its contents.
class Value {
public:
    Value() = default;
    Value(Value const&) = delete;
    Value& operator=(Value const&) = delete;
    ~Value() {
        if (!value_) return;
        if (value_->type == PMIX_STRING) std::free(value_->data.string);
        if (value_->type == PMIX_BYTE_OBJECT) std::free(value_->data.bo.bytes);
        std::free(value_);
    }
    pmix_value_t** address() { return &value_; }

    /// Returns the value as text; empty if it is not text.
    std::string text() const {
        if (value_->type == PMIX_STRING) return value_->data.string ? value_->data.string : "";
        if (value_->type == PMIX_BYTE_OBJECT) return {value_->data.bo.bytes, value_->data.bo.size};
        return {};
    }
    /// Returns the value as a number; −1 if it is not a number.
    long number() const {
        switch (value_->type) {
        case PMIX_UINT32: return static_cast<long>(value_->data.uint32);
        case PMIX_INT: return value_->data.integer;
        case PMIX_UINT: return static_cast<long>(value_->data.uint);
        case PMIX_INT32: return value_->data.int32;
        case PMIX_SIZE: return static_cast<long>(value_->data.size);
        default: return -1;
        }
    }

private:
    pmix_value_t* value_ = nullptr;
};

class Pmix : public JobServer {
public:
    Pmix() {
        bool const is_single_threaded = threads_of_process() == std::vector{gettid()};
        check(pmix_.init(&self_, nullptr, 0), "PMIx_Init");
        if (is_single_threaded && !pmix_.was_loaded) find_threads();
        Value size;
        get_value(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, size);
        size_ = static_cast<int>(size.number());
        if (size_ < 1 || self_.rank >= static_cast<pmix_rank_t>(size_))
            fail(ErrorClass::other, "the server reports an invalid rank: ", self_.rank, " of ", size_);
        read_local_ranks();
        Value name;
        if (try_get(static_cast<pmix_rank_t>(self_.rank), PMIX_HOSTNAME, name) == PMIX_SUCCESS)
            node_name_ = name.text();
    }

    int rank() const override { return static_cast<int>(self_.rank); }
    int size() const override { return size_; }
    std::vector<int> const& local_ranks() const override { return local_ranks_; }
    std::string node_name() const override { return node_name_; }

    void put(Scope scope, std::string const& key, std::string const& value) override {
        pmix_value_t v{};
        v.type = PMIX_BYTE_OBJECT;
        v.data.bo = {const_cast<char*>(value.data()), value.size()};   // copied by the library
        check(pmix_.put(scope == Scope::node ? PMIX_LOCAL : PMIX_GLOBAL, key.c_str(), &v), "PMIx_Put");
    }

    void exchange() override {
        check(pmix_.commit(), "PMIx_Commit");
        pmix_info_t collect{};   // makes values of other ranks available locally
        std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
        collect.value.type = PMIX_BOOL;
        collect.value.data.flag = true;
        check(pmix_.fence(nullptr, 0, &collect, 1), "PMIx_Fence");
    }

    std::string get(int rank, std::string const& key) override {
        Value value;
        get_value(static_cast<pmix_rank_t>(rank), key.c_str(), value);
        return value.text();
    }

    std::vector<pid_t> threads() const override { return threads_; }
    void abort(int code, std::string const& message) override { pmix_.abort(code, message.c_str(), nullptr, 0); }
    void finish() override { pmix_.finalize(nullptr, 0); }

private:
    void check(pmix_status_t status, char const* what) const {
        if (status != PMIX_SUCCESS) fail(ErrorClass::other, what, ": ", pmix_.error_string(status));
    }

    pmix_status_t try_get(pmix_rank_t rank, char const* key, Value& value) const {
        pmix_proc_t process{};
        std::memcpy(process.nspace, self_.nspace, sizeof process.nspace);
        process.rank = rank;
        pmix_status_t const status = pmix_.get(&process, key, nullptr, 0, value.address());
        return status == PMIX_SUCCESS && !*value.address() ? PMIX_ERR_NOT_FOUND : status;
    }

    void get_value(pmix_rank_t rank, char const* key, Value& value) const {
        pmix_status_t const status = try_get(rank, key, value);
        if (status != PMIX_SUCCESS) fail(ErrorClass::other, "PMIx_Get of ", key, ": ", pmix_.error_string(status));
    }

    /// Determines the library's threads. The only thread was in PMIx_Init, so all others belong to the library, which
    /// calls no function of the program, because no event handler is registered. If the program loads the library
    /// later, its threads are not recognised.
    void find_threads() {
        threads_ = threads_of_process();
        std::erase(threads_, gettid());
    }

    void read_local_ranks() {
        Value peers;
        if (try_get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, peers) == PMIX_SUCCESS)
            for (std::string const& word : topo::split_words(peers.text(), ","))
                if (auto const number = topo::whole_number(word); number && *number < size_)
                    local_ranks_.push_back(*number);
        std::sort(local_ranks_.begin(), local_ranks_.end());
        if (!std::binary_search(local_ranks_.begin(), local_ranks_.end(), rank())) local_ranks_ = {rank()};
    }

    Library const pmix_;
    pmix_proc_t self_{};
    int size_ = 0;
    std::vector<int> local_ranks_;
    std::string node_name_;
    std::vector<pid_t> threads_;
};

}   // namespace

std::unique_ptr<JobServer> connect_pmix() { return std::make_unique<Pmix>(); }

}   // namespace tutti
