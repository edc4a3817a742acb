// SPDX-License-Identifier: BSD-3-Clause
// The addresses that arguments.cpp passes: buffers, lists, results, functions and strings. Also frees the handles that
// a call has stored there.
#pragma once

#include "tests/ranks/errors/argument_values.hpp"

inline Value Values::buffer(Function const& f, Parameter const& p, bool spoil) {
    bool const sent = p.is(" sendbuf inbuf compare_addr ") || (p.is(" origin_addr ") && !f.ends("et"));   // no (R)get
    if (!spoil) return {word(data_[sent ? 0 : 1] + data_room / 2), Quality::fine};
    bool const in_place = p.is(" sendbuf recvbuf ");   // allowed in some collectives
    bool const insignificant = f.name.find("xscan") != f.name.npos && p.is(" recvbuf ");
    Word const none = below(2) ? word(MPI_IN_PLACE) : no_address(Quality::bad).word;
    return {none, insignificant || (in_place && none == word(MPI_IN_PLACE)) ? Quality::odd : Quality::bad};
}

inline Value Values::text(Parameter const& p, bool spoil) {
    if (!spoil) return {word(p.is(" datarep ") ? "external32" : p.is(" name ") ? "TUTTI_WAIT" : "key"), Quality::fine};
    if (below(2)) return no_address(Quality::bad);
    return {word(one_of({"", "no such thing", static_cast<char const*>(long_text_.c_str())})), Quality::odd};
}

inline Value Values::function(Parameter const& p, bool spoil) {
    bool const attribute = p.name.find("copy") != p.name.npos || p.name.find("delete") != p.name.npos;
    if (spoil) return no_address(attribute ? Quality::odd : Quality::bad);
    if (p.is(" query_fn ")) return {word(answer_query), Quality::fine};
    if (p.is(" free_fn ")) return {word(free_nothing), Quality::fine};
    if (p.is(" cancel_fn ")) return {word(cancel_nothing), Quality::fine};
    if (p.is(" user_fn ")) return {word(do_nothing), Quality::fine};
    return {attribute ? 0 : word(ignore_error), Quality::fine};
}

inline Value Values::status(Function const& f, std::size_t index, bool spoil) {
    bool const read = f.parameters[index].type.substr(0, 5) == "const" || f.starts("MPI_Status_");
    if (spoil) {
        Value const none = no_address(Quality::bad);
        return {none.word, !read && none.word == word(MPI_STATUS_IGNORE) ? Quality::fine : Quality::bad};
    }
    if (!read && below(2)) return {word(MPI_STATUS_IGNORE), Quality::fine};
    int* const fields = reinterpret_cast<int*>(slots_[index]);
    for (int i = 0; i < 5; ++i) fields[i] = below(2) ? any_number() : static_cast<int>(below(100));
    return {word(fields), Quality::fine};
}

/// Lists of numbers, and single numbers in memory.
inline Value Values::numbers(Function const& f, Parameter const& p, std::size_t index, bool spoil) {
    bool const wide = p.type == "MPI_Aint *" || p.type == "MPI_Count *";
    bool const counts = p.is(" sendcounts recvcounts "), places = p.is(" displs sdispls rdispls ");
    // Displacements with one datatype each may be absolute addresses from MPI_BOTTOM on, so no check can detect wrong
    // ones.
    bool const absolute = f.name.find("lltoallw") != f.name.npos;
    bool const few = p.is(" indx degrees ");   // their values are the lengths of other lists
    if (p.name.find("weights") != p.name.npos && below(2)) {
        if (f.starts("MPI_Dist_graph_neighbors")) return {word(below(2) ? MPI_UNWEIGHTED : nullptr), Quality::odd};
        return {word(below(4) ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY), below(1) ? Quality::fine : Quality::odd};
    }
    if (spoil && below(2)) {
        // Ignored, or used only if there is a result to write.
        if (p.is(" argc edges array_of_integers array_of_addresses ") || f.starts("MPI_Dist_graph_neighbors") ||
            (f.name == "MPI_Dist_graph_create" && p.is(" destinations weights ")))
            return {no_address(Quality::odd).word, Quality::odd};
        return no_address(f.starts("MPI_T_") ? Quality::odd : Quality::bad);
    }
    Quality quality = spoil ? Quality::odd : Quality::fine;
    for (std::size_t i = 0; i < list_room; ++i) {
        long value = counts || few ? 1 : p.is(" buflen name_len desc_len ") ? 100 : 0;
        if (p.is(" array_of_sizes array_of_gsizes array_of_psizes dims ")) value = 1;
        if (spoil && few) value = static_cast<int>(below(10)) - 2;
        else if (spoil) value = any_number();
        if (places && absolute) value = 0;
        if (counts && value == 0) value = 2;   // a count of 0 would make all other arguments valid
        if (spoil && (counts || places) && value > 1) quality = Quality::wild;
        if (spoil && places && value < 0) quality = Quality::wild;
        if (wide && spoil && below(4) == 0 && !(places && absolute)) value = one_of({LONG_MAX, LONG_MIN, 5L});
        if (wide) reinterpret_cast<long*>(slots_[index])[i] = value;
        else reinterpret_cast<int*>(slots_[index])[i] = static_cast<int>(value);
    }
    if (spoil && wide && places && !absolute) quality = Quality::wild;
    return {word(slots_[index]), quality};
}

inline Value Values::handle_slot(Kind kind, Function const& f, Parameter const& p, std::size_t index, bool spoil) {
    if (spoil && below(2)) {
        Value const none = no_address(Quality::bad);
        return p.is(" array_of_datatypes ") ? Value{none.word, Quality::odd} : none;
    }
    int* const at = reinterpret_cast<int*>(slots_[index]);
    bool const list = p.name.substr(0, 5) == "array" || p.is(" sendtypes recvtypes ");
    bool const types = list && kind == Kind::datatype;   // taken from the pool, as the call does not free them
    bool const used = f.ends("_free") || f.ends("_disconnect") || f.ends("_commit") || f.name == "MPI_Wait" ||
                      f.name == "MPI_Test" || f.name == "MPI_Start" || f.name == "MPI_Cancel" || f.ends("mrecv") ||
                      f.ends("Mrecv");
    bool const messages = (f.ends("mrecv") || f.ends("Mrecv")) && kind != Kind::message;
    int const n = list ? 8 : 1;
    for (int i = 0; i < n; ++i) {
        at[i] = 0;
        if (types) at[i] = spoil && below(3) == 0 ? wrong_handle(kind) : handles_[kind].fine[below(8)];
        else if ((used || list) && !messages)
            at[i] = spoil && below(2) ? wrong_handle(kind) : fresh_object(kind, below(100), !f.starts("MPI_Wait"));
        if (i > 0 && spoil && list && below(8) == 0) at[i] = at[i - 1];
    }
    if (!types || p.is(" array_of_datatypes ")) left_.push_back({kind, at, n});
    if (p.is(" array_of_datatypes ")) std::memset(at, 0, sizeof(int) * 8);
    return {word(at), spoil ? Quality::odd : Quality::fine};
}

/// Addresses with a meaning of their own; empty if the parameter is a buffer.
inline std::optional<Value> Values::special(Function const& f, Parameter const& p, std::size_t index, bool spoil) {
    bool const sets = f.ends("_set_attr") || f.ends("_put");
    if (p.is(" extra_state location argv ") || (sets && p.is(" attribute_val ")))
        return spoil ? Value{no_address(Quality::odd).word, Quality::odd} : Value{word(slots_[index]), Quality::fine};
    if (p.is(" obj_handle ")) {
        *reinterpret_cast<MPI_Comm*>(slots_[index]) = spoil ? wrong_handle(Kind::comm) : MPI_COMM_SELF;
        return Value{spoil && below(2) ? no_address(Quality::odd).word : word(slots_[index]), Quality::odd};
    }
    if (f.starts("MPI_Buffer_attach")) return spoil ? no_address(Quality::bad) : Value{word(attached_), Quality::fine};
    if (p.is(" base ")) {
        if (spoil) return no_address(Quality::odd);
        void* memory = nullptr;
        MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
        return Value{word(memory), Quality::fine};
    }
    if (f.starts("MPI_Win_") && p.is(" base "))   // a null pointer is an error if the size is not 0
        return spoil ? no_address(f.ends("_detach") ? Quality::odd : Quality::bad)
                     : Value{word(data_[1]), Quality::fine};
    if (f.starts("MPI_Alloc_mem") && p.is(" baseptr ") && !spoil) {
        allocated_ = reinterpret_cast<void**>(slots_[index]);
        *allocated_ = nullptr;
    }
    if (p.is(" baseptr buffer_addr attribute_val ") || f.starts("MPI_T_"))
        return spoil ? no_address(f.starts("MPI_T_") ? Quality::odd : Quality::bad)
                     : Value{word(slots_[index]), Quality::fine};
    return std::nullopt;
}

inline Value Values::pointer(Function const& f, Parameter const& p, std::size_t index, bool spoil) {
    std::string_view const target = p.type.substr(0, p.type.rfind(' '));
    if (p.type.find("_function") != p.type.npos) return function(p, spoil);
    if (p.type == "MPI_Status *") return status(f, index, spoil);
    if (p.type == "void *" || p.is(" argv ")) {
        std::optional<Value> const value = special(f, p, index, spoil);
        return value ? *value : buffer(f, p, spoil);
    }
    if (p.type == "char *" && f.parameters[index].type != "char *") return text(p, spoil);
    if (p.type == "char *" || p.type == "MPI_T_enum *" || p.type == "MPI_Fint *") {
        std::memset(slots_[index], 0, room);
        // Not used if the info object does not have the key.
        if (spoil && f.name == "MPI_Info_get_string") return {no_address(Quality::odd).word, Quality::odd};
        return spoil ? no_address(f.starts("MPI_T_") ? Quality::odd : Quality::bad)
                     : Value{word(slots_[index]), Quality::fine};
    }
    if (p.type == "int *" && p.name.find("keyval") != p.name.npos) return handle_slot(Kind::keyval, f, p, index, spoil);
    auto const kind = kind_of(target);
    if (!kind) return numbers(f, p, index, spoil);
    if (*kind != Kind::cvar && *kind != Kind::pvar && *kind != Kind::session) {
        if (f.starts("MPI_T_")) return spoil ? no_address(Quality::odd) : Value{word(slots_[index]), Quality::fine};
        return handle_slot(*kind, f, p, index, spoil);
    }
    if (spoil) return no_address(Quality::odd);
    void* const slot = std::memset(slots_[index], 0, sizeof(void*));
    if (!f.ends("_free")) return {word(slot), Quality::fine};
    if (*kind == Kind::cvar) MPI_T_cvar_handle_alloc(0, nullptr, static_cast<MPI_T_cvar_handle*>(slot), &ignored_);
    if (*kind == Kind::session) MPI_T_pvar_session_create(static_cast<MPI_T_pvar_session*>(slot));
    if (*kind == Kind::pvar)
        MPI_T_pvar_handle_alloc(session_, 0, nullptr, static_cast<MPI_T_pvar_handle*>(slot), &ignored_);
    return {word(slot), Quality::fine};
}

inline void Values::clean_up() {
    for (Left const& left : left_)
        for (int i = 0; i < left.handles; ++i)
            if (left.at[i] != 0) end_object(left.kind, left.at[i]);
    left_.clear();
    if (allocated_ && *allocated_) MPI_Free_mem(*allocated_);
    allocated_ = nullptr;
}
