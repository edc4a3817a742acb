// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack in native form and external32, with absolute addresses; address arithmetic.
// ranks: 1
#include "tests/ranks/check.h"
#include <string.h>

struct particle {
    char kind;
    double place[3];
    int id;
};

static MPI_Datatype particle_type(struct particle *first) {
    int blocks[3] = {1, 2, 1};
    MPI_Aint places[3], base;
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, packed, made;
    MPI_Get_address(first, &base);
    MPI_Get_address(&first->kind, &places[0]);
    MPI_Get_address(&first->place[1], &places[1]);
    MPI_Get_address(&first->id, &places[2]);
    for (int i = 0; i < 3; ++i) places[i] = MPI_Aint_diff(places[i], base);
    MPI_Type_create_struct(3, blocks, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct particle), &made);
    MPI_Type_free(&packed);
    MPI_Type_commit(&made);
    return made;
}

static void there_and_back(void) {
    struct particle from[3], to[3];
    for (int i = 0; i < 3; ++i) {
        from[i].kind = 'a' + i, from[i].id = 100 + i;
        for (int d = 0; d < 3; ++d) from[i].place[d] = i + d / 4.0;
    }
    memset(to, 0, sizeof to);
    MPI_Datatype type = particle_type(from);
    char buffer[200];
    int size, position = 0, tag = 7, got = 0;
    MPI_Pack_size(3, type, MPI_COMM_WORLD, &size);
    CHECK(size >= 3 * 21, "pack size %d", size);
    MPI_Pack(&tag, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(from, 3, type, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    int end = position;
    position = 0;
    MPI_Unpack(buffer, end, &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, end, &position, to, 3, type, MPI_COMM_WORLD);
    CHECK(got == 7 && position == end, "%d at %d of %d", got, position, end);
    for (int i = 0; i < 3; ++i) {
        CHECK(to[i].kind == 'a' + i && to[i].id == 100 + i, "particle %d", i);
        CHECK(to[i].place[0] == 0 && to[i].place[1] == from[i].place[1], "particle %d", i);
        CHECK(to[i].place[2] == from[i].place[2], "particle %d", i);
    }
    MPI_Type_free(&type);
}

static void absolute_addresses(void) {
    int a = 5, b = 6, out[2] = {0, 0}, ones[2] = {1, 1}, position = 0;
    MPI_Aint places[2];
    MPI_Datatype type;
    MPI_Get_address(&a, &places[0]);
    MPI_Get_address(&b, &places[1]);
    MPI_Type_create_hindexed(2, ones, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack(MPI_BOTTOM, 1, type, out, sizeof out, &position, MPI_COMM_WORLD);
    CHECK(out[0] == 5 && out[1] == 6, "%d %d", out[0], out[1]);
    MPI_Type_free(&type);
}

static void external32(void) {
    long longs[2] = {-3, 258}, back[2] = {0, 0};
    unsigned char expected[8] = {0xff, 0xff, 0xff, 0xfd, 0, 0, 1, 2}, out[8];
    MPI_Aint size, position = 0;
    MPI_Pack_external_size("external32", 2, MPI_LONG, &size);
    CHECK(size == 8, "size %ld", (long)size);
    MPI_Pack_external("external32", longs, 2, MPI_LONG, out, 8, &position);
    CHECK(position == 8 && memcmp(out, expected, 8) == 0, "position %ld, first byte %d", (long)position, out[0]);
    position = 0;
    MPI_Unpack_external("external32", out, 8, &position, back, 2, MPI_LONG);
    CHECK(back[0] == -3 && back[1] == 258, "%ld %ld", back[0], back[1]);
}

static void wrong_packing(void) {
    int value = 1, position = 0;
    char room[3];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Pack(&value, 1, MPI_INT, room, 3, &position, MPI_COMM_WORLD), class;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TRUNCATE && position == 0, "class %d, position %d", class, position);
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_CHAR, &raw);
    code = MPI_Pack(&value, 1, raw, room, 3, &position, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TYPE, "a type that is not committed: class %d", class);
    MPI_Type_free(&raw);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    there_and_back();
    absolute_addresses();
    external32();
    wrong_packing();
    MPI_Finalize();
    return 0;
}
