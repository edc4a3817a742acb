// SPDX-License-Identifier: BSD-3-Clause
// What the library counts and reports about its calls, in variables of the MPI_T interface (MPI 3.1, 14.3). Another MPI
// has none of these variables; then nothing is reported.
#include "measure.hpp"

#include <algorithm>

namespace bench {
namespace {

/// The MPI_T interface, initialized while this object exists.
class ToolInterface {
public:
    ToolInterface() {
        int provided;
        available_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
                     MPI_T_pvar_session_create(&session_) == MPI_SUCCESS;
    }
    ~ToolInterface() {
        if (available_) {
            MPI_T_pvar_session_free(&session_);
            MPI_T_finalize();
        }
    }
    ToolInterface(ToolInterface const&) = delete;
    ToolInterface& operator=(ToolInterface const&) = delete;

    /// Returns the name of the state that the variable has on the communicator; empty if there is no such variable.
    std::string state(std::string const& variable, MPI_Comm comm) const {
        int index, counters, value = 0;
        if (!available_ || MPI_T_pvar_get_index(variable.c_str(), MPI_T_PVAR_CLASS_STATE, &index) != MPI_SUCCESS)
            return "";
        MPI_T_pvar_handle handle;
        if (MPI_T_pvar_handle_alloc(session_, index, &comm, &handle, &counters) != MPI_SUCCESS) return "";
        bool const known = MPI_T_pvar_read(session_, handle, &value) == MPI_SUCCESS;
        MPI_T_pvar_handle_free(session_, &handle);
        return known ? item(index, value) : "";
    }

    /// Starts a variable of this process. Returns false if there is none of this name and class.
    bool start(char const* variable, int of_class, MPI_T_pvar_handle& handle) const {
        int index, counters;
        return available_ && MPI_T_pvar_get_index(variable, of_class, &index) == MPI_SUCCESS &&
               MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle, &counters) == MPI_SUCCESS &&
               MPI_T_pvar_start(session_, handle) == MPI_SUCCESS;
    }
    /// Returns the growth of a variable since its start. `Value`: its type.
    template <class Value>
    double read(MPI_T_pvar_handle handle) const {
        Value value{};
        return MPI_T_pvar_read(session_, handle, &value) == MPI_SUCCESS ? double(value) : 0;
    }
    void free(MPI_T_pvar_handle& handle) const { MPI_T_pvar_handle_free(session_, &handle); }

private:
    static std::string item(int index, int value) {
        MPI_T_enum items = MPI_T_ENUM_NULL;
        int verbosity, kind, bind, readonly, continuous, atomic, name_length = 0, text_length = 0, found;
        MPI_Datatype type;
        MPI_T_pvar_get_info(index, nullptr, &name_length, &verbosity, &kind, &type, &items, nullptr, &text_length,
                            &bind, &readonly, &continuous, &atomic);
        char name[64] = "";
        int length = sizeof name;
        for (int i = 0; items != MPI_T_ENUM_NULL; ++i, length = sizeof name)
            if (MPI_T_enum_get_item(items, i, &found, name, &length) != MPI_SUCCESS) break;
            else if (found == value) return name;
        return "";
    }

    MPI_T_pvar_session session_{};
    bool available_;
};

/// Variables of one class and type, from their start until this object is destroyed.
template <class Value, int of_class>
class StartedVariables {
public:
    explicit StartedVariables(std::initializer_list<char const*> variables) : variables_(variables.size()) {
        MPI_T_pvar_handle handle;
        for (char const* variable : variables)
            if (tool_.start(variable, of_class, handle)) handles_.push_back(handle);
    }
    ~StartedVariables() {
        for (MPI_T_pvar_handle& handle : handles_) tool_.free(handle);
    }
    StartedVariables(StartedVariables const&) = delete;
    StartedVariables& operator=(StartedVariables const&) = delete;

    bool available() const { return handles_.size() == variables_; }   ///< all of them exist
    double operator[](std::size_t i) const { return tool_.read<Value>(handles_[i]); }

private:
    const ToolInterface tool_;
    const std::size_t variables_;
    std::vector<MPI_T_pvar_handle> handles_;
};

}   // namespace

std::string algorithm_of_last_call(Operation const& operation, MPI_Comm comm) {
    return ToolInterface().state("tutti_" + operation.collective() + "_algorithm", comm);
}

double bytes_moved_in(std::function<void()> const& call) {
    const StartedVariables<unsigned long long, MPI_T_PVAR_CLASS_AGGREGATE> bytes(
        {"tutti_coll_bytes_loaded", "tutti_coll_bytes_stored"});
    call();
    return bytes.available() ? bytes[0] + bytes[1] : -1;
}

struct PhaseTimes::Variables : StartedVariables<double, MPI_T_PVAR_CLASS_TIMER> {
    Variables()
        : StartedVariables(
              {"tutti_coll_time_inside_before", "tutti_coll_time_between_nodes", "tutti_coll_time_inside_after"}) {}
    double microseconds(std::size_t phase) const { return (*this)[phase] * 1e6; }
};

PhaseTimes::PhaseTimes() : variables_(std::make_unique<Variables>()) {
    if (!variables_->available()) variables_ = nullptr;
}
PhaseTimes::~PhaseTimes() = default;

void PhaseTimes::begin() {
    for (std::size_t phase = 0; variables_ && phase < 3; ++phase) at_begin_[phase] = variables_->microseconds(phase);
}

void PhaseTimes::end(int calls) {
    for (std::size_t phase = 0; variables_ && phase < 3; ++phase)
        sum_[phase] += variables_->microseconds(phase) - at_begin_[phase];
    calls_ += calls;
}

void PhaseTimes::summarize(Point& point, MPI_Comm comm) const {
    double const masters = sum_[1] > 0 ? 1 : 0, calls = std::max(1, calls_);
    double const mine[] = {masters * sum_[0] / calls, masters * sum_[1] / calls, masters * sum_[2] / calls, masters};
    double all[4];
    MPI_Reduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, 0, comm);
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank != 0 || all[3] == 0) return;
    point.before = all[0] / all[3];
    point.between = all[1] / all[3];
    point.after = all[2] / all[3];
}

}   // namespace bench
