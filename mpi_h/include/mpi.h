/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI 3.1 interface of Tutti for C and C++ programs. Handles, constants and layouts are those of the MPICH ABI,
 * so that objects compiled against this file and against MPICH's can be mixed; tests/mpi_h compares the values.
 * What Tutti does not offer yet (files, sessions, ...) is not declared here; of MPI 4.0 and 4.1 some functions
 * are, from which nothing else can be concluded.
 */
#ifndef TUTTI_MPI_H
#define TUTTI_MPI_H

/* The name by which other headers ask whether mpi.h is there. */
#define MPI_INCLUDED

#define MPI_VERSION    3
#define MPI_SUBVERSION 1

/* The version of Tutti, which is defined here alone. */
#define TUTTI_VERSION       "0.1.0"
#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0
#define TUTTI_NUMVERSION    (TUTTI_VERSION_MAJOR * 10000 + TUTTI_VERSION_MINOR * 100 + TUTTI_VERSION_PATCH)

#if defined(__cplusplus)
extern "C" {
#endif
/* A program built with -fvisibility=hidden must still find the library's symbols. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ---------------------------------------------------------------- types */

typedef long MPI_Aint;   /* an address or a distance in bytes */
typedef long MPI_Count;  /* any number of elements */
typedef long MPI_Offset; /* a place in a file */
typedef int MPI_Fint;    /* Fortran's INTEGER */

/* Handles. The top two bits say null (0), built in (1), in a table (2, 3); the next four what kind of object it is. */
typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Message;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef int MPI_Win;

/* Programs name these types even where they never call the functions behind them. */
typedef int MPI_Session;
typedef struct ADIOI_FileD *MPI_File;

/* Handles of the interface for tools */
typedef struct MPIR_T_enum_s *MPI_T_enum;
typedef struct MPIR_T_cvar_handle_s *MPI_T_cvar_handle;
typedef struct MPIR_T_pvar_handle_s *MPI_T_pvar_handle;
typedef struct MPIR_T_pvar_session_s *MPI_T_pvar_session;

typedef struct MPI_Status {
    int count_lo;               /* bytes received, bits 0 to 31 */
    int count_hi_and_cancelled; /* bit 0: cancelled; the rest: bytes received, from bit 32 */
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;

/* The same status as mpi_f08 declares it. */
typedef struct {
    MPI_Fint count_lo;
    MPI_Fint count_hi_and_cancelled;
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
} MPI_F08_status;

/* Functions that a program hands to the library. */
typedef void(MPI_User_function)(void *in, void *inout, int *len, MPI_Datatype *datatype);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm comm, int keyval, void *extra_state, void *value_in, void *value_out,
                                         int *flag);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm comm, int keyval, void *value, void *extra_state);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype datatype, int keyval, void *extra_state, void *value_in,
                                         void *value_out, int *flag);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype datatype, int keyval, void *value, void *extra_state);
typedef int(MPI_Win_copy_attr_function)(MPI_Win win, int keyval, void *extra_state, void *value_in, void *value_out,
                                        int *flag);
typedef int(MPI_Win_delete_attr_function)(MPI_Win win, int keyval, void *value, void *extra_state);
typedef void(MPI_Comm_errhandler_function)(MPI_Comm *comm, int *error, ...);
typedef void(MPI_Win_errhandler_function)(MPI_Win *win, int *error, ...);
typedef int(MPI_Grequest_query_function)(void *extra_state, MPI_Status *status);
typedef int(MPI_Grequest_free_function)(void *extra_state);
typedef int(MPI_Grequest_cancel_function)(void *extra_state, int complete);

/* The same functions under the names of MPI-1 and MPI-2. */
typedef int(MPI_Copy_function)(MPI_Comm comm, int keyval, void *extra_state, void *value_in, void *value_out,
                               int *flag);
typedef int(MPI_Delete_function)(MPI_Comm comm, int keyval, void *value, void *extra_state);
typedef void(MPI_Handler_function)(MPI_Comm *comm, int *error, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;

/* ------------------------------------------------------- named handles */

/* Communicators and groups */
#define MPI_COMM_NULL   ((MPI_Comm)0x04000000)
#define MPI_COMM_WORLD  ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF   ((MPI_Comm)0x44000001)
#define MPI_GROUP_NULL  ((MPI_Group)0x08000000)
#define MPI_GROUP_EMPTY ((MPI_Group)0x48000000)

/* Requests, messages, infos, error handlers, windows, and the nulls of what comes later */
#define MPI_REQUEST_NULL     ((MPI_Request)0x2c000000)
#define MPI_MESSAGE_NULL     ((MPI_Message)0x2c000000)
#define MPI_MESSAGE_NO_PROC  ((MPI_Message)0x6c000000)
#define MPI_INFO_NULL        ((MPI_Info)0x1c000000)
#define MPI_INFO_ENV         ((MPI_Info)0x5c000001)
#define MPI_ERRHANDLER_NULL  ((MPI_Errhandler)0x14000000)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x54000000)
#define MPI_ERRORS_RETURN    ((MPI_Errhandler)0x54000001)
#define MPI_ERRORS_ABORT     ((MPI_Errhandler)0x54000003)
#define MPI_WIN_NULL         ((MPI_Win)0x20000000)
#define MPI_SESSION_NULL     ((MPI_Session)0x38000000)
#define MPI_FILE_NULL        ((MPI_File)0)

/* The interface for tools */
#define MPI_T_ENUM_NULL         ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL  ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_HANDLE_NULL  ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)

/* Operations */
#define MPI_OP_NULL ((MPI_Op)0x18000000)
#define MPI_MAX     ((MPI_Op)0x58000001)
#define MPI_MIN     ((MPI_Op)0x58000002)
#define MPI_SUM     ((MPI_Op)0x58000003)
#define MPI_PROD    ((MPI_Op)0x58000004)
#define MPI_LAND    ((MPI_Op)0x58000005)
#define MPI_BAND    ((MPI_Op)0x58000006)
#define MPI_LOR     ((MPI_Op)0x58000007)
#define MPI_BOR     ((MPI_Op)0x58000008)
#define MPI_LXOR    ((MPI_Op)0x58000009)
#define MPI_BXOR    ((MPI_Op)0x5800000a)
#define MPI_MINLOC  ((MPI_Op)0x5800000b)
#define MPI_MAXLOC  ((MPI_Op)0x5800000c)
#define MPI_REPLACE ((MPI_Op)0x5800000d)
#define MPI_NO_OP   ((MPI_Op)0x5800000e)

/* Datatypes of C. Bits 8 to 15 of a built-in type are its size. */
#define MPI_DATATYPE_NULL         ((MPI_Datatype)0x0c000000)
#define MPI_CHAR                  ((MPI_Datatype)0x4c000101)
#define MPI_SIGNED_CHAR           ((MPI_Datatype)0x4c000118)
#define MPI_UNSIGNED_CHAR         ((MPI_Datatype)0x4c000102)
#define MPI_WCHAR                 ((MPI_Datatype)0x4c00040e)
#define MPI_SHORT                 ((MPI_Datatype)0x4c000203)
#define MPI_UNSIGNED_SHORT        ((MPI_Datatype)0x4c000204)
#define MPI_INT                   ((MPI_Datatype)0x4c000405)
#define MPI_UNSIGNED              ((MPI_Datatype)0x4c000406)
#define MPI_LONG                  ((MPI_Datatype)0x4c000807)
#define MPI_UNSIGNED_LONG         ((MPI_Datatype)0x4c000808)
#define MPI_LONG_LONG_INT         ((MPI_Datatype)0x4c000809)
#define MPI_LONG_LONG             MPI_LONG_LONG_INT
#define MPI_UNSIGNED_LONG_LONG    ((MPI_Datatype)0x4c000819)
#define MPI_FLOAT                 ((MPI_Datatype)0x4c00040a)
#define MPI_DOUBLE                ((MPI_Datatype)0x4c00080b)
#define MPI_LONG_DOUBLE           ((MPI_Datatype)0x4c00100c)
#define MPI_C_BOOL                ((MPI_Datatype)0x4c00013f)
#define MPI_C_FLOAT_COMPLEX       ((MPI_Datatype)0x4c000840)
#define MPI_C_COMPLEX             MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX      ((MPI_Datatype)0x4c001041)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x4c002042)
#define MPI_INT8_T                ((MPI_Datatype)0x4c000137)
#define MPI_INT16_T               ((MPI_Datatype)0x4c000238)
#define MPI_INT32_T               ((MPI_Datatype)0x4c000439)
#define MPI_INT64_T               ((MPI_Datatype)0x4c00083a)
#define MPI_UINT8_T               ((MPI_Datatype)0x4c00013b)
#define MPI_UINT16_T              ((MPI_Datatype)0x4c00023c)
#define MPI_UINT32_T              ((MPI_Datatype)0x4c00043d)
#define MPI_UINT64_T              ((MPI_Datatype)0x4c00083e)

/* Datatypes of C++ */
#define MPI_CXX_BOOL                ((MPI_Datatype)0x4c000133)
#define MPI_CXX_FLOAT_COMPLEX       ((MPI_Datatype)0x4c000834)
#define MPI_CXX_DOUBLE_COMPLEX      ((MPI_Datatype)0x4c001035)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x4c002036)

/* Datatypes of MPI itself */
#define MPI_BYTE   ((MPI_Datatype)0x4c00010d)
#define MPI_PACKED ((MPI_Datatype)0x4c00010f)
#define MPI_AINT   ((MPI_Datatype)0x4c000843)
#define MPI_OFFSET ((MPI_Datatype)0x4c000844)
#define MPI_COUNT  ((MPI_Datatype)0x4c000845)
#define MPI_LB     ((MPI_Datatype)0x4c000010)
#define MPI_UB     ((MPI_Datatype)0x4c000011)

/* A value and its place, for MPI_MINLOC and MPI_MAXLOC */
#define MPI_FLOAT_INT         ((MPI_Datatype)0x8c000000)
#define MPI_DOUBLE_INT        ((MPI_Datatype)0x8c000001)
#define MPI_LONG_INT          ((MPI_Datatype)0x8c000002)
#define MPI_SHORT_INT         ((MPI_Datatype)0x8c000003)
#define MPI_2INT              ((MPI_Datatype)0x4c000816)
#define MPI_LONG_DOUBLE_INT   ((MPI_Datatype)0x8c000004)
#define MPI_2INTEGER          ((MPI_Datatype)0x4c000820)
#define MPI_2REAL             ((MPI_Datatype)0x4c000821)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x4c001023)

/* Datatypes of Fortran */
#define MPI_CHARACTER        ((MPI_Datatype)0x4c00011a)
#define MPI_LOGICAL          ((MPI_Datatype)0x4c00041d)
#define MPI_INTEGER          ((MPI_Datatype)0x4c00041b)
#define MPI_REAL             ((MPI_Datatype)0x4c00041c)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype)0x4c00081f)
#define MPI_COMPLEX          ((MPI_Datatype)0x4c00081e)
#define MPI_DOUBLE_COMPLEX   ((MPI_Datatype)0x4c001022)
#define MPI_INTEGER1         ((MPI_Datatype)0x4c00012d)
#define MPI_INTEGER2         ((MPI_Datatype)0x4c00022f)
#define MPI_INTEGER4         ((MPI_Datatype)0x4c000430)
#define MPI_INTEGER8         ((MPI_Datatype)0x4c000831)
#define MPI_INTEGER16        MPI_DATATYPE_NULL
#define MPI_REAL4            ((MPI_Datatype)0x4c000427)
#define MPI_REAL8            ((MPI_Datatype)0x4c000829)
#define MPI_REAL16           ((MPI_Datatype)0x4c00102b)
#define MPI_COMPLEX8         ((MPI_Datatype)0x4c000828)
#define MPI_COMPLEX16        ((MPI_Datatype)0x4c00102a)
#define MPI_COMPLEX32        ((MPI_Datatype)0x4c00202c)

/* ------------------------------------------------------------ constants */

/* Ranks and tags */
#define MPI_PROC_NULL  (-1)
#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG    (-1)
#define MPI_ROOT       (-3)
#define MPI_UNDEFINED  (-32766)

/* Addresses with a meaning of their own */
#define MPI_BOTTOM           ((void *)0)
#define MPI_IN_PLACE         ((void *)-1)
#define MPI_BUFFER_AUTOMATIC ((void *)-2)
#define MPI_STATUS_IGNORE    ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE  ((MPI_Status *)1)

/* Programs name these even where they start no processes and open no ports. */
#define MPI_ARGV_NULL       ((char **)0)
#define MPI_ARGVS_NULL      ((char ***)0)
#define MPI_ERRCODES_IGNORE ((int *)0)

/* Levels of thread support */
#define MPI_THREAD_SINGLE     0
#define MPI_THREAD_FUNNELED   1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE   3

/* Results of comparing */
#define MPI_IDENT     0
#define MPI_CONGRUENT 1
#define MPI_SIMILAR   2
#define MPI_UNEQUAL   3

/* Kinds of topology, and what MPI_Comm_split_type splits by */
#define MPI_GRAPH                     1
#define MPI_CART                      2
#define MPI_DIST_GRAPH                3
#define MPI_COMM_TYPE_SHARED          1
#define MPI_COMM_TYPE_HW_GUIDED       2
#define MPI_COMM_TYPE_HW_UNGUIDED     3
#define MPI_COMM_TYPE_RESOURCE_GUIDED 4

/* Room for strings that the library writes */
#define MPI_MAX_PROCESSOR_NAME         128
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_ERROR_STRING           512
#define MPI_MAX_PORT_NAME              256
#define MPI_MAX_OBJECT_NAME            128
#define MPI_MAX_INFO_KEY               255
#define MPI_MAX_INFO_VAL               1024

/* What MPI_Bsend may need in its buffer for each message besides the data */
#define MPI_BSEND_OVERHEAD 96

/* Attributes that MPI_COMM_WORLD has from the start */
#define MPI_KEYVAL_INVALID  0x24000000
#define MPI_TAG_UB          0x64400001
#define MPI_HOST            0x64400003
#define MPI_IO              0x64400005
#define MPI_WTIME_IS_GLOBAL 0x64400007
#define MPI_UNIVERSE_SIZE   0x64400009
#define MPI_LASTUSEDCODE    0x6440000b
#define MPI_APPNUM          0x6440000d

/* Attributes that every window has from the start */
#define MPI_WIN_BASE          0x66000001
#define MPI_WIN_SIZE          0x66000003
#define MPI_WIN_DISP_UNIT     0x66000005
#define MPI_WIN_CREATE_FLAVOR 0x66000007
#define MPI_WIN_MODEL         0x66000009

/* Windows: how one was made, how stores become visible, locks, assertions */
#define MPI_WIN_FLAVOR_CREATE   1
#define MPI_WIN_FLAVOR_ALLOCATE 2
#define MPI_WIN_FLAVOR_DYNAMIC  3
#define MPI_WIN_FLAVOR_SHARED   4
#define MPI_WIN_SEPARATE        1
#define MPI_WIN_UNIFIED         2
#define MPI_LOCK_EXCLUSIVE      234
#define MPI_LOCK_SHARED         235
#define MPI_MODE_NOCHECK        1024
#define MPI_MODE_NOSTORE        2048
#define MPI_MODE_NOPUT          4096
#define MPI_MODE_NOPRECEDE      8192
#define MPI_MODE_NOSUCCEED      16384

/* Distributed arrays, order of arrays, kinds of number */
#define MPI_DISTRIBUTE_BLOCK     121
#define MPI_DISTRIBUTE_CYCLIC    122
#define MPI_DISTRIBUTE_NONE      123
#define MPI_DISTRIBUTE_DFLT_DARG (-49767)
#define MPI_ORDER_C              56
#define MPI_ORDER_FORTRAN        57
#define MPI_TYPECLASS_REAL       1
#define MPI_TYPECLASS_INTEGER    2
#define MPI_TYPECLASS_COMPLEX    3

/* How a datatype was made */
#define MPI_COMBINER_NAMED            1
#define MPI_COMBINER_DUP              2
#define MPI_COMBINER_CONTIGUOUS       3
#define MPI_COMBINER_VECTOR           4
#define MPI_COMBINER_HVECTOR_INTEGER  5
#define MPI_COMBINER_HVECTOR          6
#define MPI_COMBINER_INDEXED          7
#define MPI_COMBINER_HINDEXED_INTEGER 8
#define MPI_COMBINER_HINDEXED         9
#define MPI_COMBINER_INDEXED_BLOCK    10
#define MPI_COMBINER_STRUCT_INTEGER   11
#define MPI_COMBINER_STRUCT           12
#define MPI_COMBINER_SUBARRAY         13
#define MPI_COMBINER_DARRAY           14
#define MPI_COMBINER_F90_REAL         15
#define MPI_COMBINER_F90_COMPLEX      16
#define MPI_COMBINER_F90_INTEGER      17
#define MPI_COMBINER_RESIZED          18
#define MPI_COMBINER_HINDEXED_BLOCK   19
#define MPI_COMBINER_VALUE_INDEX      20

/* The interface for tools: whom a variable is for, what it belongs to, who may set it, what kind it is */
#define MPI_T_VERBOSITY_INVALID       0
#define MPI_T_VERBOSITY_USER_BASIC    221
#define MPI_T_VERBOSITY_USER_DETAIL   222
#define MPI_T_VERBOSITY_USER_ALL      223
#define MPI_T_VERBOSITY_TUNER_BASIC   224
#define MPI_T_VERBOSITY_TUNER_DETAIL  225
#define MPI_T_VERBOSITY_TUNER_ALL     226
#define MPI_T_VERBOSITY_MPIDEV_BASIC  227
#define MPI_T_VERBOSITY_MPIDEV_DETAIL 228
#define MPI_T_VERBOSITY_MPIDEV_ALL    229
#define MPI_T_BIND_INVALID            0
#define MPI_T_BIND_NO_OBJECT          9700
#define MPI_T_BIND_MPI_COMM           9701
#define MPI_T_BIND_MPI_DATATYPE       9702
#define MPI_T_BIND_MPI_ERRHANDLER     9703
#define MPI_T_BIND_MPI_FILE           9704
#define MPI_T_BIND_MPI_GROUP          9705
#define MPI_T_BIND_MPI_OP             9706
#define MPI_T_BIND_MPI_REQUEST        9707
#define MPI_T_BIND_MPI_WIN            9708
#define MPI_T_BIND_MPI_MESSAGE        9709
#define MPI_T_BIND_MPI_INFO           9710
#define MPI_T_BIND_MPI_SESSION        9711
#define MPI_T_SCOPE_INVALID           0
#define MPI_T_SCOPE_CONSTANT          60438
#define MPI_T_SCOPE_READONLY          60439
#define MPI_T_SCOPE_LOCAL             60440
#define MPI_T_SCOPE_GROUP             60441
#define MPI_T_SCOPE_GROUP_EQ          60442
#define MPI_T_SCOPE_ALL               60443
#define MPI_T_SCOPE_ALL_EQ            60444
#define MPI_T_PVAR_CLASS_INVALID       0
#define MPI_T_PVAR_CLASS_STATE         240
#define MPI_T_PVAR_CLASS_LEVEL         241
#define MPI_T_PVAR_CLASS_SIZE          242
#define MPI_T_PVAR_CLASS_PERCENTAGE    243
#define MPI_T_PVAR_CLASS_HIGHWATERMARK 244
#define MPI_T_PVAR_CLASS_LOWWATERMARK  245
#define MPI_T_PVAR_CLASS_COUNTER       246
#define MPI_T_PVAR_CLASS_AGGREGATE     247
#define MPI_T_PVAR_CLASS_TIMER         248
#define MPI_T_PVAR_CLASS_GENERIC       249

/* Error classes */
#define MPI_SUCCESS                   0
#define MPI_ERR_BUFFER                1
#define MPI_ERR_COUNT                 2
#define MPI_ERR_TYPE                  3
#define MPI_ERR_TAG                   4
#define MPI_ERR_COMM                  5
#define MPI_ERR_RANK                  6
#define MPI_ERR_ROOT                  7
#define MPI_ERR_GROUP                 8
#define MPI_ERR_OP                    9
#define MPI_ERR_TOPOLOGY              10
#define MPI_ERR_DIMS                  11
#define MPI_ERR_ARG                   12
#define MPI_ERR_UNKNOWN               13
#define MPI_ERR_TRUNCATE              14
#define MPI_ERR_OTHER                 15
#define MPI_ERR_INTERN                16
#define MPI_ERR_IN_STATUS             17
#define MPI_ERR_PENDING               18
#define MPI_ERR_REQUEST               19
#define MPI_ERR_ACCESS                20
#define MPI_ERR_AMODE                 21
#define MPI_ERR_BAD_FILE              22
#define MPI_ERR_CONVERSION            23
#define MPI_ERR_DUP_DATAREP           24
#define MPI_ERR_FILE_EXISTS           25
#define MPI_ERR_FILE_IN_USE           26
#define MPI_ERR_FILE                  27
#define MPI_ERR_INFO                  28
#define MPI_ERR_INFO_KEY              29
#define MPI_ERR_INFO_VALUE            30
#define MPI_ERR_INFO_NOKEY            31
#define MPI_ERR_IO                    32
#define MPI_ERR_NAME                  33
#define MPI_ERR_NO_MEM                34
#define MPI_ERR_NOT_SAME              35
#define MPI_ERR_NO_SPACE              36
#define MPI_ERR_NO_SUCH_FILE          37
#define MPI_ERR_PORT                  38
#define MPI_ERR_QUOTA                 39
#define MPI_ERR_READ_ONLY             40
#define MPI_ERR_SERVICE               41
#define MPI_ERR_SPAWN                 42
#define MPI_ERR_UNSUPPORTED_DATAREP   43
#define MPI_ERR_UNSUPPORTED_OPERATION 44
#define MPI_ERR_WIN                   45
#define MPI_ERR_BASE                  46
#define MPI_ERR_LOCKTYPE              47
#define MPI_ERR_KEYVAL                48
#define MPI_ERR_RMA_CONFLICT          49
#define MPI_ERR_RMA_SYNC              50
#define MPI_ERR_SIZE                  51
#define MPI_ERR_DISP                  52
#define MPI_ERR_ASSERT                53
#define MPI_ERR_RMA_RANGE             55
#define MPI_ERR_RMA_ATTACH            56
#define MPI_ERR_RMA_SHARED            57
#define MPI_ERR_RMA_FLAVOR            58
#define MPI_T_ERR_MEMORY              59
#define MPI_T_ERR_NOT_INITIALIZED     60
#define MPI_T_ERR_CANNOT_INIT         61
#define MPI_T_ERR_INVALID_INDEX       62
#define MPI_T_ERR_INVALID_ITEM        63
#define MPI_T_ERR_INVALID_HANDLE      64
#define MPI_T_ERR_OUT_OF_HANDLES      65
#define MPI_T_ERR_OUT_OF_SESSIONS     66
#define MPI_T_ERR_INVALID_SESSION     67
#define MPI_T_ERR_CVAR_SET_NOT_NOW    68
#define MPI_T_ERR_CVAR_SET_NEVER      69
#define MPI_T_ERR_PVAR_NO_STARTSTOP   70
#define MPI_T_ERR_PVAR_NO_WRITE       71
#define MPI_T_ERR_PVAR_NO_ATOMIC      72
#define MPI_T_ERR_INVALID_NAME        73
#define MPI_T_ERR_INVALID             74
#define MPI_ERR_SESSION               75
#define MPI_ERR_PROC_ABORTED          76
#define MPI_ERR_VALUE_TOO_LARGE       77
#define MPI_T_ERR_NOT_SUPPORTED       78
#define MPI_ERR_LASTCODE              0x3fffffff

/* Ready-made callbacks for attributes */
#define MPI_COMM_NULL_COPY_FN   ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
#define MPI_COMM_DUP_FN         ((MPI_Comm_copy_attr_function *)MPIR_Dup_fn)
#define MPI_TYPE_NULL_COPY_FN   ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *)0)
#define MPI_TYPE_DUP_FN         ((MPI_Type_copy_attr_function *)MPIR_Dup_fn)
#define MPI_WIN_NULL_COPY_FN    ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_NULL_DELETE_FN  ((MPI_Win_delete_attr_function *)0)
#define MPI_WIN_DUP_FN          ((MPI_Win_copy_attr_function *)MPIR_Dup_fn)
#define MPI_NULL_COPY_FN        ((MPI_Copy_function *)0)
#define MPI_NULL_DELETE_FN      ((MPI_Delete_function *)0)
#define MPI_DUP_FN              MPIR_Dup_fn
int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *extra_state, void *value_in, void *value_out, int *flag);

/* How printf shows an MPI_Aint */
#define MPI_AINT_FMT_DEC_SPEC "%ld"
#define MPI_AINT_FMT_HEX_SPEC "%lx"

/* A status in Fortran is an array of integers: its length, and where the fields are, counted from zero */
#define MPI_F_STATUS_SIZE 5
#define MPI_F_SOURCE      2
#define MPI_F_TAG         3
#define MPI_F_ERROR       4

/* ---------------------------------------------------------------- data */

/* Weights of the distributed graph functions. */
extern int *const MPI_UNWEIGHTED;
extern int *const MPI_WEIGHTS_EMPTY;

/* In the place of a handle: all of a session. */
extern struct MPIR_T_pvar_handle_s *const MPI_T_PVAR_ALL_HANDLES;

/* Addresses by which the Fortran interfaces know their special arguments. */
extern MPI_Fint *MPI_F_STATUS_IGNORE;
extern MPI_Fint *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE;
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;
extern MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
extern MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
extern int MPIR_F08_MPI_IN_PLACE;
extern int MPIR_F08_MPI_BOTTOM;

/* ------------------------------------------------------------ functions */

/* Functions: environment */
int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Query_thread(int *provided);
int MPI_Is_thread_main(int *flag);
int MPI_Abort(MPI_Comm comm, int errorcode);
int MPI_Pcontrol(const int level, ...);
int MPI_Get_version(int *version, int *subversion);
int MPI_Get_library_version(char *version, int *resultlen);
int MPI_Get_processor_name(char *name, int *resultlen);
int MPI_Get_hw_resource_info(MPI_Info *hw_info);
double MPI_Wtime(void);
double MPI_Wtick(void);

/* Functions: point to point: blocking */
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
    MPI_Comm comm, MPI_Status *status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);
int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status);
int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);
int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count);
int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
int MPI_Buffer_attach(void *buffer, int size);
int MPI_Buffer_detach(void *buffer_addr, int *size);
int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request *request);
int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size);
int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request);

/* Functions: point to point: nonblocking and persistent */
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request);
int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request);
int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
    MPI_Comm comm, MPI_Request *request);
int MPI_Start(MPI_Request *request);
int MPI_Startall(int count, MPI_Request array_of_requests[]);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses);
int MPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status);
int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status *array_of_statuses);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses);
int MPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status);
int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status *array_of_statuses);
int MPI_Request_free(MPI_Request *request);
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
    MPI_Status *array_of_statuses);
int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx, int *flag,
    MPI_Status *status);
int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status *array_of_statuses);
int MPI_Cancel(MPI_Request *request);
int MPI_Test_cancelled(const MPI_Status *status, int *flag);
int MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
    MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request);
int MPI_Grequest_complete(MPI_Request request);
int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count);
int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
int MPI_Status_set_cancelled(MPI_Status *status, int flag);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Status_get_tag(const MPI_Status *status, int *tag);
int MPI_Status_get_error(const MPI_Status *status, int *error);
int MPI_Status_set_source(MPI_Status *status, int source);
int MPI_Status_set_tag(MPI_Status *status, int tag);
int MPI_Status_set_error(MPI_Status *status, int error);

/* Functions: blocking collectives */
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);
int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm);
int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op);
int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op);
int MPI_Op_free(MPI_Op *op);
int MPI_Op_commutative(MPI_Op op, int *commute);

/* Functions: collectives as requests and as persistent requests */
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);
int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm, MPI_Request *request);
int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request *request);
int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request);
int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request);
int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request *request);
int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request *request);
int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request *request);
int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
    MPI_Request *request);
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request *request);
int MPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request *request);
int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request *request);
int MPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request *request);
int MPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request);
int MPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request);
int MPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
    void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
    MPI_Info info, MPI_Request *request);

/* Functions: datatypes */
int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
    const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[],
    const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype);
int MPI_Type_create_f90_integer(int r, MPI_Datatype *newtype);
int MPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype);
int MPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype);
int MPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype);
int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type);
int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_commit(MPI_Datatype *datatype);
int MPI_Type_free(MPI_Datatype *datatype);
int MPI_Type_size(MPI_Datatype datatype, int *size);
int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);
int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent);
int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent);
int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent);
int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent);
int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
    int *combiner);
int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]);
int MPI_Type_set_name(MPI_Datatype datatype, const char *type_name);
int MPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen);
int MPI_Get_address(const void *location, MPI_Aint *address);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);
int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
    MPI_Comm comm);
int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype,
    MPI_Comm comm);
int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size);
int MPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
    MPI_Aint outsize, MPI_Aint *position);
int MPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf,
    int outcount, MPI_Datatype datatype);
int MPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size);

/* Functions: datatypes: names of MPI-1 */
int MPI_Address(void *location, MPI_Aint *address);
int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
    MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
    MPI_Datatype *newtype);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);

/* Functions: groups */
int MPI_Group_size(MPI_Group group, int *size);
int MPI_Group_rank(MPI_Group group, int *rank);
int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]);
int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result);
int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Group_free(MPI_Group *group);

/* Functions: communicators */
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_disconnect(MPI_Comm *comm);
int MPI_Comm_get_parent(MPI_Comm *parent);
int MPI_Comm_test_inter(MPI_Comm comm, int *flag);
int MPI_Comm_remote_size(MPI_Comm comm, int *size);
int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                         MPI_Comm *newintercomm);
int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm);
int MPI_Comm_set_name(MPI_Comm comm, const char *comm_name);
int MPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen);
int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used);

/* Functions: attributes */
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
    MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state);
int MPI_Comm_free_keyval(int *comm_keyval);
int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val);
int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag);
int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval);
int MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
    MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state);
int MPI_Type_free_keyval(int *type_keyval);
int MPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val);
int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag);
int MPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval);
int MPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state);
int MPI_Win_free_keyval(int *win_keyval);
int MPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val);
int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag);
int MPI_Win_delete_attr(MPI_Win win, int win_keyval);
int MPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state);
int MPI_Keyval_free(int *keyval);
int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int MPI_Attr_delete(MPI_Comm comm, int keyval);

/* Functions: topologies */
int MPI_Dims_create(int nnodes, int ndims, int dims[]);
int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
    MPI_Comm *comm_cart);
int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]);
int MPI_Cartdim_get(MPI_Comm comm, int *ndims);
int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank);
int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]);
int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest);
int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm);
int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank);
int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
    MPI_Comm *comm_graph);
int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges);
int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]);
int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors);
int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);
int MPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank);
int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
    const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph);
int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
    int outdegree, const int destinations[], const int destweights[], MPI_Info info, int reorder,
    MPI_Comm *comm_dist_graph);
int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted);
int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
    int destinations[], int destweights[]);
int MPI_Topo_test(MPI_Comm comm, int *status);
int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request *request);
int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);
int MPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request);
int MPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request);
int MPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* Functions: windows */
int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win);
int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win);
int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win);
int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win);
int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size);
int MPI_Win_detach(MPI_Win win, const void *base);
int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr);
int MPI_Win_free(MPI_Win *win);
int MPI_Win_get_group(MPI_Win win, MPI_Group *group);
int MPI_Win_set_name(MPI_Win win, const char *win_name);
int MPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen);
int MPI_Win_set_info(MPI_Win win, MPI_Info info);
int MPI_Win_get_info(MPI_Win win, MPI_Info *info_used);

/* Functions: one-sided communication */
int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win);
int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Win win);
int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
    int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
    MPI_Aint target_disp, MPI_Op op, MPI_Win win);
int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Win win);
int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request);
int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request);
int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request *request);
int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
    int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPI_Win_fence(int assert, MPI_Win win);
int MPI_Win_post(MPI_Group group, int assert, MPI_Win win);
int MPI_Win_start(MPI_Group group, int assert, MPI_Win win);
int MPI_Win_complete(MPI_Win win);
int MPI_Win_wait(MPI_Win win);
int MPI_Win_test(MPI_Win win, int *flag);
int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win);
int MPI_Win_unlock(int rank, MPI_Win win);
int MPI_Win_lock_all(int assert, MPI_Win win);
int MPI_Win_unlock_all(MPI_Win win);
int MPI_Win_flush(int rank, MPI_Win win);
int MPI_Win_flush_all(MPI_Win win);
int MPI_Win_flush_local(int rank, MPI_Win win);
int MPI_Win_flush_local_all(MPI_Win win);
int MPI_Win_sync(MPI_Win win);

/* Functions: info */
int MPI_Info_create(MPI_Info *info);
int MPI_Info_create_env(int argc, char *argv[], MPI_Info *info);
int MPI_Info_dup(MPI_Info info, MPI_Info *newinfo);
int MPI_Info_free(MPI_Info *info);
int MPI_Info_set(MPI_Info info, const char *key, const char *value);
int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag);
int MPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag);
int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag);
int MPI_Info_get_nkeys(MPI_Info info, int *nkeys);
int MPI_Info_get_nthkey(MPI_Info info, int n, char *key);
int MPI_Info_delete(MPI_Info info, const char *key);

/* Functions: errors */
int MPI_Error_class(int errorcode, int *errorclass);
int MPI_Error_string(int errorcode, char *string, int *resultlen);
int MPI_Add_error_class(int *errorclass);
int MPI_Add_error_code(int errorclass, int *errorcode);
int MPI_Add_error_string(int errorcode, const char *string);
int MPI_Remove_error_class(int errorclass);
int MPI_Remove_error_code(int errorcode);
int MPI_Remove_error_string(int errorcode);
int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);
int MPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler);
int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler);
int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler);
int MPI_Win_call_errhandler(MPI_Win win, int errorcode);
int MPI_Errhandler_free(MPI_Errhandler *errhandler);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);

/* Functions: memory */
int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr);
int MPI_Free_mem(void *base);

/* Functions: conversions between C and Fortran handles */
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
MPI_Fint MPI_Type_c2f(MPI_Datatype datatype);
MPI_Datatype MPI_Type_f2c(MPI_Fint datatype);
MPI_Fint MPI_Group_c2f(MPI_Group group);
MPI_Group MPI_Group_f2c(MPI_Fint group);
MPI_Fint MPI_Op_c2f(MPI_Op op);
MPI_Op MPI_Op_f2c(MPI_Fint op);
MPI_Fint MPI_Request_c2f(MPI_Request request);
MPI_Request MPI_Request_f2c(MPI_Fint request);
MPI_Fint MPI_Info_c2f(MPI_Info info);
MPI_Info MPI_Info_f2c(MPI_Fint info);
MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler errhandler);
MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint errhandler);
MPI_Fint MPI_Message_c2f(MPI_Message message);
MPI_Message MPI_Message_f2c(MPI_Fint message);
MPI_Fint MPI_Win_c2f(MPI_Win win);
MPI_Win MPI_Win_f2c(MPI_Fint win);
int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status);
int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status);

/* Functions: the interface for tools */
int MPI_T_init_thread(int required, int *provided);
int MPI_T_finalize(void);
int MPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len);
int MPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len);
int MPI_T_cvar_get_num(int *num_cvar);
int MPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
    MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope);
int MPI_T_cvar_get_index(const char *name, int *cvar_index);
int MPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count);
int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle);
int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf);
int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf);
int MPI_T_pvar_get_num(int *num_pvar);
int MPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly,
    int *continuous, int *atomic);
int MPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index);
int MPI_T_pvar_session_create(MPI_T_pvar_session *session);
int MPI_T_pvar_session_free(MPI_T_pvar_session *session);
int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
    int *count);
int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle);
int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);
int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf);
int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);
int MPI_T_category_get_num(int *num_cat);
int MPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
    int *num_pvars, int *num_categories);
int MPI_T_category_get_index(const char *name, int *cat_index);
int MPI_T_category_get_cvars(int cat_index, int len, int indices[]);
int MPI_T_category_get_pvars(int cat_index, int len, int indices[]);
int MPI_T_category_get_categories(int cat_index, int len, int indices[]);
int MPI_T_category_changed(int *update_number);

/* Each function also has its name for profiling tools, which may put their own function in place of the first. */
extern __typeof__(MPI_Init) PMPI_Init;
extern __typeof__(MPI_Init_thread) PMPI_Init_thread;
extern __typeof__(MPI_Initialized) PMPI_Initialized;
extern __typeof__(MPI_Finalize) PMPI_Finalize;
extern __typeof__(MPI_Finalized) PMPI_Finalized;
extern __typeof__(MPI_Query_thread) PMPI_Query_thread;
extern __typeof__(MPI_Is_thread_main) PMPI_Is_thread_main;
extern __typeof__(MPI_Abort) PMPI_Abort;
extern __typeof__(MPI_Pcontrol) PMPI_Pcontrol;
extern __typeof__(MPI_Get_version) PMPI_Get_version;
extern __typeof__(MPI_Get_library_version) PMPI_Get_library_version;
extern __typeof__(MPI_Get_processor_name) PMPI_Get_processor_name;
extern __typeof__(MPI_Get_hw_resource_info) PMPI_Get_hw_resource_info;
extern __typeof__(MPI_Wtime) PMPI_Wtime;
extern __typeof__(MPI_Wtick) PMPI_Wtick;
extern __typeof__(MPI_Send) PMPI_Send;
extern __typeof__(MPI_Recv) PMPI_Recv;
extern __typeof__(MPI_Bsend) PMPI_Bsend;
extern __typeof__(MPI_Ssend) PMPI_Ssend;
extern __typeof__(MPI_Rsend) PMPI_Rsend;
extern __typeof__(MPI_Sendrecv) PMPI_Sendrecv;
extern __typeof__(MPI_Sendrecv_replace) PMPI_Sendrecv_replace;
extern __typeof__(MPI_Probe) PMPI_Probe;
extern __typeof__(MPI_Iprobe) PMPI_Iprobe;
extern __typeof__(MPI_Mprobe) PMPI_Mprobe;
extern __typeof__(MPI_Improbe) PMPI_Improbe;
extern __typeof__(MPI_Mrecv) PMPI_Mrecv;
extern __typeof__(MPI_Imrecv) PMPI_Imrecv;
extern __typeof__(MPI_Get_count) PMPI_Get_count;
extern __typeof__(MPI_Get_elements) PMPI_Get_elements;
extern __typeof__(MPI_Get_elements_x) PMPI_Get_elements_x;
extern __typeof__(MPI_Buffer_attach) PMPI_Buffer_attach;
extern __typeof__(MPI_Buffer_detach) PMPI_Buffer_detach;
extern __typeof__(MPI_Buffer_flush) PMPI_Buffer_flush;
extern __typeof__(MPI_Buffer_iflush) PMPI_Buffer_iflush;
extern __typeof__(MPI_Comm_attach_buffer) PMPI_Comm_attach_buffer;
extern __typeof__(MPI_Comm_detach_buffer) PMPI_Comm_detach_buffer;
extern __typeof__(MPI_Comm_flush_buffer) PMPI_Comm_flush_buffer;
extern __typeof__(MPI_Comm_iflush_buffer) PMPI_Comm_iflush_buffer;
extern __typeof__(MPI_Isend) PMPI_Isend;
extern __typeof__(MPI_Ibsend) PMPI_Ibsend;
extern __typeof__(MPI_Issend) PMPI_Issend;
extern __typeof__(MPI_Irsend) PMPI_Irsend;
extern __typeof__(MPI_Irecv) PMPI_Irecv;
extern __typeof__(MPI_Send_init) PMPI_Send_init;
extern __typeof__(MPI_Bsend_init) PMPI_Bsend_init;
extern __typeof__(MPI_Ssend_init) PMPI_Ssend_init;
extern __typeof__(MPI_Rsend_init) PMPI_Rsend_init;
extern __typeof__(MPI_Recv_init) PMPI_Recv_init;
extern __typeof__(MPI_Isendrecv) PMPI_Isendrecv;
extern __typeof__(MPI_Isendrecv_replace) PMPI_Isendrecv_replace;
extern __typeof__(MPI_Start) PMPI_Start;
extern __typeof__(MPI_Startall) PMPI_Startall;
extern __typeof__(MPI_Wait) PMPI_Wait;
extern __typeof__(MPI_Waitall) PMPI_Waitall;
extern __typeof__(MPI_Waitany) PMPI_Waitany;
extern __typeof__(MPI_Waitsome) PMPI_Waitsome;
extern __typeof__(MPI_Test) PMPI_Test;
extern __typeof__(MPI_Testall) PMPI_Testall;
extern __typeof__(MPI_Testany) PMPI_Testany;
extern __typeof__(MPI_Testsome) PMPI_Testsome;
extern __typeof__(MPI_Request_free) PMPI_Request_free;
extern __typeof__(MPI_Request_get_status) PMPI_Request_get_status;
extern __typeof__(MPI_Request_get_status_all) PMPI_Request_get_status_all;
extern __typeof__(MPI_Request_get_status_any) PMPI_Request_get_status_any;
extern __typeof__(MPI_Request_get_status_some) PMPI_Request_get_status_some;
extern __typeof__(MPI_Cancel) PMPI_Cancel;
extern __typeof__(MPI_Test_cancelled) PMPI_Test_cancelled;
extern __typeof__(MPI_Grequest_start) PMPI_Grequest_start;
extern __typeof__(MPI_Grequest_complete) PMPI_Grequest_complete;
extern __typeof__(MPI_Status_set_elements) PMPI_Status_set_elements;
extern __typeof__(MPI_Status_set_elements_x) PMPI_Status_set_elements_x;
extern __typeof__(MPI_Status_set_cancelled) PMPI_Status_set_cancelled;
extern __typeof__(MPI_Status_get_source) PMPI_Status_get_source;
extern __typeof__(MPI_Status_get_tag) PMPI_Status_get_tag;
extern __typeof__(MPI_Status_get_error) PMPI_Status_get_error;
extern __typeof__(MPI_Status_set_source) PMPI_Status_set_source;
extern __typeof__(MPI_Status_set_tag) PMPI_Status_set_tag;
extern __typeof__(MPI_Status_set_error) PMPI_Status_set_error;
extern __typeof__(MPI_Barrier) PMPI_Barrier;
extern __typeof__(MPI_Bcast) PMPI_Bcast;
extern __typeof__(MPI_Gather) PMPI_Gather;
extern __typeof__(MPI_Gatherv) PMPI_Gatherv;
extern __typeof__(MPI_Scatter) PMPI_Scatter;
extern __typeof__(MPI_Scatterv) PMPI_Scatterv;
extern __typeof__(MPI_Allgather) PMPI_Allgather;
extern __typeof__(MPI_Allgatherv) PMPI_Allgatherv;
extern __typeof__(MPI_Alltoall) PMPI_Alltoall;
extern __typeof__(MPI_Alltoallv) PMPI_Alltoallv;
extern __typeof__(MPI_Alltoallw) PMPI_Alltoallw;
extern __typeof__(MPI_Reduce) PMPI_Reduce;
extern __typeof__(MPI_Allreduce) PMPI_Allreduce;
extern __typeof__(MPI_Reduce_scatter) PMPI_Reduce_scatter;
extern __typeof__(MPI_Reduce_scatter_block) PMPI_Reduce_scatter_block;
extern __typeof__(MPI_Scan) PMPI_Scan;
extern __typeof__(MPI_Exscan) PMPI_Exscan;
extern __typeof__(MPI_Ibarrier) PMPI_Ibarrier;
extern __typeof__(MPI_Ibcast) PMPI_Ibcast;
extern __typeof__(MPI_Ireduce) PMPI_Ireduce;
extern __typeof__(MPI_Iallreduce) PMPI_Iallreduce;
extern __typeof__(MPI_Ireduce_scatter) PMPI_Ireduce_scatter;
extern __typeof__(MPI_Ireduce_scatter_block) PMPI_Ireduce_scatter_block;
extern __typeof__(MPI_Iscan) PMPI_Iscan;
extern __typeof__(MPI_Iexscan) PMPI_Iexscan;
extern __typeof__(MPI_Igather) PMPI_Igather;
extern __typeof__(MPI_Igatherv) PMPI_Igatherv;
extern __typeof__(MPI_Iscatter) PMPI_Iscatter;
extern __typeof__(MPI_Iscatterv) PMPI_Iscatterv;
extern __typeof__(MPI_Iallgather) PMPI_Iallgather;
extern __typeof__(MPI_Iallgatherv) PMPI_Iallgatherv;
extern __typeof__(MPI_Ialltoall) PMPI_Ialltoall;
extern __typeof__(MPI_Ialltoallv) PMPI_Ialltoallv;
extern __typeof__(MPI_Ialltoallw) PMPI_Ialltoallw;
extern __typeof__(MPI_Barrier_init) PMPI_Barrier_init;
extern __typeof__(MPI_Bcast_init) PMPI_Bcast_init;
extern __typeof__(MPI_Reduce_init) PMPI_Reduce_init;
extern __typeof__(MPI_Allreduce_init) PMPI_Allreduce_init;
extern __typeof__(MPI_Reduce_scatter_init) PMPI_Reduce_scatter_init;
extern __typeof__(MPI_Reduce_scatter_block_init) PMPI_Reduce_scatter_block_init;
extern __typeof__(MPI_Scan_init) PMPI_Scan_init;
extern __typeof__(MPI_Exscan_init) PMPI_Exscan_init;
extern __typeof__(MPI_Gather_init) PMPI_Gather_init;
extern __typeof__(MPI_Gatherv_init) PMPI_Gatherv_init;
extern __typeof__(MPI_Scatter_init) PMPI_Scatter_init;
extern __typeof__(MPI_Scatterv_init) PMPI_Scatterv_init;
extern __typeof__(MPI_Allgather_init) PMPI_Allgather_init;
extern __typeof__(MPI_Allgatherv_init) PMPI_Allgatherv_init;
extern __typeof__(MPI_Alltoall_init) PMPI_Alltoall_init;
extern __typeof__(MPI_Alltoallv_init) PMPI_Alltoallv_init;
extern __typeof__(MPI_Alltoallw_init) PMPI_Alltoallw_init;
extern __typeof__(MPI_Reduce_local) PMPI_Reduce_local;
extern __typeof__(MPI_Op_create) PMPI_Op_create;
extern __typeof__(MPI_Op_free) PMPI_Op_free;
extern __typeof__(MPI_Op_commutative) PMPI_Op_commutative;
extern __typeof__(MPI_Type_contiguous) PMPI_Type_contiguous;
extern __typeof__(MPI_Type_vector) PMPI_Type_vector;
extern __typeof__(MPI_Type_create_hvector) PMPI_Type_create_hvector;
extern __typeof__(MPI_Type_indexed) PMPI_Type_indexed;
extern __typeof__(MPI_Type_create_hindexed) PMPI_Type_create_hindexed;
extern __typeof__(MPI_Type_create_indexed_block) PMPI_Type_create_indexed_block;
extern __typeof__(MPI_Type_create_hindexed_block) PMPI_Type_create_hindexed_block;
extern __typeof__(MPI_Type_create_struct) PMPI_Type_create_struct;
extern __typeof__(MPI_Type_create_subarray) PMPI_Type_create_subarray;
extern __typeof__(MPI_Type_create_darray) PMPI_Type_create_darray;
extern __typeof__(MPI_Type_create_resized) PMPI_Type_create_resized;
extern __typeof__(MPI_Type_create_f90_integer) PMPI_Type_create_f90_integer;
extern __typeof__(MPI_Type_create_f90_real) PMPI_Type_create_f90_real;
extern __typeof__(MPI_Type_create_f90_complex) PMPI_Type_create_f90_complex;
extern __typeof__(MPI_Type_match_size) PMPI_Type_match_size;
extern __typeof__(MPI_Type_get_value_index) PMPI_Type_get_value_index;
extern __typeof__(MPI_Type_dup) PMPI_Type_dup;
extern __typeof__(MPI_Type_commit) PMPI_Type_commit;
extern __typeof__(MPI_Type_free) PMPI_Type_free;
extern __typeof__(MPI_Type_size) PMPI_Type_size;
extern __typeof__(MPI_Type_size_x) PMPI_Type_size_x;
extern __typeof__(MPI_Type_get_extent) PMPI_Type_get_extent;
extern __typeof__(MPI_Type_get_extent_x) PMPI_Type_get_extent_x;
extern __typeof__(MPI_Type_get_true_extent) PMPI_Type_get_true_extent;
extern __typeof__(MPI_Type_get_true_extent_x) PMPI_Type_get_true_extent_x;
extern __typeof__(MPI_Type_get_envelope) PMPI_Type_get_envelope;
extern __typeof__(MPI_Type_get_contents) PMPI_Type_get_contents;
extern __typeof__(MPI_Type_set_name) PMPI_Type_set_name;
extern __typeof__(MPI_Type_get_name) PMPI_Type_get_name;
extern __typeof__(MPI_Get_address) PMPI_Get_address;
extern __typeof__(MPI_Aint_add) PMPI_Aint_add;
extern __typeof__(MPI_Aint_diff) PMPI_Aint_diff;
extern __typeof__(MPI_Pack) PMPI_Pack;
extern __typeof__(MPI_Unpack) PMPI_Unpack;
extern __typeof__(MPI_Pack_size) PMPI_Pack_size;
extern __typeof__(MPI_Pack_external) PMPI_Pack_external;
extern __typeof__(MPI_Unpack_external) PMPI_Unpack_external;
extern __typeof__(MPI_Pack_external_size) PMPI_Pack_external_size;
extern __typeof__(MPI_Address) PMPI_Address;
extern __typeof__(MPI_Type_struct) PMPI_Type_struct;
extern __typeof__(MPI_Type_hindexed) PMPI_Type_hindexed;
extern __typeof__(MPI_Type_hvector) PMPI_Type_hvector;
extern __typeof__(MPI_Type_extent) PMPI_Type_extent;
extern __typeof__(MPI_Type_lb) PMPI_Type_lb;
extern __typeof__(MPI_Type_ub) PMPI_Type_ub;
extern __typeof__(MPI_Group_size) PMPI_Group_size;
extern __typeof__(MPI_Group_rank) PMPI_Group_rank;
extern __typeof__(MPI_Group_translate_ranks) PMPI_Group_translate_ranks;
extern __typeof__(MPI_Group_compare) PMPI_Group_compare;
extern __typeof__(MPI_Group_union) PMPI_Group_union;
extern __typeof__(MPI_Group_intersection) PMPI_Group_intersection;
extern __typeof__(MPI_Group_difference) PMPI_Group_difference;
extern __typeof__(MPI_Group_incl) PMPI_Group_incl;
extern __typeof__(MPI_Group_excl) PMPI_Group_excl;
extern __typeof__(MPI_Group_range_incl) PMPI_Group_range_incl;
extern __typeof__(MPI_Group_range_excl) PMPI_Group_range_excl;
extern __typeof__(MPI_Group_free) PMPI_Group_free;
extern __typeof__(MPI_Comm_size) PMPI_Comm_size;
extern __typeof__(MPI_Comm_rank) PMPI_Comm_rank;
extern __typeof__(MPI_Comm_compare) PMPI_Comm_compare;
extern __typeof__(MPI_Comm_group) PMPI_Comm_group;
extern __typeof__(MPI_Comm_dup) PMPI_Comm_dup;
extern __typeof__(MPI_Comm_dup_with_info) PMPI_Comm_dup_with_info;
extern __typeof__(MPI_Comm_idup) PMPI_Comm_idup;
extern __typeof__(MPI_Comm_idup_with_info) PMPI_Comm_idup_with_info;
extern __typeof__(MPI_Comm_create) PMPI_Comm_create;
extern __typeof__(MPI_Comm_create_group) PMPI_Comm_create_group;
extern __typeof__(MPI_Comm_split) PMPI_Comm_split;
extern __typeof__(MPI_Comm_split_type) PMPI_Comm_split_type;
extern __typeof__(MPI_Comm_free) PMPI_Comm_free;
extern __typeof__(MPI_Comm_disconnect) PMPI_Comm_disconnect;
extern __typeof__(MPI_Comm_get_parent) PMPI_Comm_get_parent;
extern __typeof__(MPI_Comm_test_inter) PMPI_Comm_test_inter;
extern __typeof__(MPI_Comm_remote_size) PMPI_Comm_remote_size;
extern __typeof__(MPI_Comm_remote_group) PMPI_Comm_remote_group;
extern __typeof__(MPI_Intercomm_create) PMPI_Intercomm_create;
extern __typeof__(MPI_Intercomm_merge) PMPI_Intercomm_merge;
extern __typeof__(MPI_Comm_set_name) PMPI_Comm_set_name;
extern __typeof__(MPI_Comm_get_name) PMPI_Comm_get_name;
extern __typeof__(MPI_Comm_set_info) PMPI_Comm_set_info;
extern __typeof__(MPI_Comm_get_info) PMPI_Comm_get_info;
extern __typeof__(MPI_Comm_create_keyval) PMPI_Comm_create_keyval;
extern __typeof__(MPI_Comm_free_keyval) PMPI_Comm_free_keyval;
extern __typeof__(MPI_Comm_set_attr) PMPI_Comm_set_attr;
extern __typeof__(MPI_Comm_get_attr) PMPI_Comm_get_attr;
extern __typeof__(MPI_Comm_delete_attr) PMPI_Comm_delete_attr;
extern __typeof__(MPI_Type_create_keyval) PMPI_Type_create_keyval;
extern __typeof__(MPI_Type_free_keyval) PMPI_Type_free_keyval;
extern __typeof__(MPI_Type_set_attr) PMPI_Type_set_attr;
extern __typeof__(MPI_Type_get_attr) PMPI_Type_get_attr;
extern __typeof__(MPI_Type_delete_attr) PMPI_Type_delete_attr;
extern __typeof__(MPI_Win_create_keyval) PMPI_Win_create_keyval;
extern __typeof__(MPI_Win_free_keyval) PMPI_Win_free_keyval;
extern __typeof__(MPI_Win_set_attr) PMPI_Win_set_attr;
extern __typeof__(MPI_Win_get_attr) PMPI_Win_get_attr;
extern __typeof__(MPI_Win_delete_attr) PMPI_Win_delete_attr;
extern __typeof__(MPI_Keyval_create) PMPI_Keyval_create;
extern __typeof__(MPI_Keyval_free) PMPI_Keyval_free;
extern __typeof__(MPI_Attr_put) PMPI_Attr_put;
extern __typeof__(MPI_Attr_get) PMPI_Attr_get;
extern __typeof__(MPI_Attr_delete) PMPI_Attr_delete;
extern __typeof__(MPI_Dims_create) PMPI_Dims_create;
extern __typeof__(MPI_Cart_create) PMPI_Cart_create;
extern __typeof__(MPI_Cart_get) PMPI_Cart_get;
extern __typeof__(MPI_Cartdim_get) PMPI_Cartdim_get;
extern __typeof__(MPI_Cart_rank) PMPI_Cart_rank;
extern __typeof__(MPI_Cart_coords) PMPI_Cart_coords;
extern __typeof__(MPI_Cart_shift) PMPI_Cart_shift;
extern __typeof__(MPI_Cart_sub) PMPI_Cart_sub;
extern __typeof__(MPI_Cart_map) PMPI_Cart_map;
extern __typeof__(MPI_Graph_create) PMPI_Graph_create;
extern __typeof__(MPI_Graphdims_get) PMPI_Graphdims_get;
extern __typeof__(MPI_Graph_get) PMPI_Graph_get;
extern __typeof__(MPI_Graph_neighbors_count) PMPI_Graph_neighbors_count;
extern __typeof__(MPI_Graph_neighbors) PMPI_Graph_neighbors;
extern __typeof__(MPI_Graph_map) PMPI_Graph_map;
extern __typeof__(MPI_Dist_graph_create) PMPI_Dist_graph_create;
extern __typeof__(MPI_Dist_graph_create_adjacent) PMPI_Dist_graph_create_adjacent;
extern __typeof__(MPI_Dist_graph_neighbors_count) PMPI_Dist_graph_neighbors_count;
extern __typeof__(MPI_Dist_graph_neighbors) PMPI_Dist_graph_neighbors;
extern __typeof__(MPI_Topo_test) PMPI_Topo_test;
extern __typeof__(MPI_Neighbor_allgather) PMPI_Neighbor_allgather;
extern __typeof__(MPI_Neighbor_allgatherv) PMPI_Neighbor_allgatherv;
extern __typeof__(MPI_Neighbor_alltoall) PMPI_Neighbor_alltoall;
extern __typeof__(MPI_Neighbor_alltoallv) PMPI_Neighbor_alltoallv;
extern __typeof__(MPI_Neighbor_alltoallw) PMPI_Neighbor_alltoallw;
extern __typeof__(MPI_Ineighbor_allgather) PMPI_Ineighbor_allgather;
extern __typeof__(MPI_Ineighbor_allgatherv) PMPI_Ineighbor_allgatherv;
extern __typeof__(MPI_Ineighbor_alltoall) PMPI_Ineighbor_alltoall;
extern __typeof__(MPI_Ineighbor_alltoallv) PMPI_Ineighbor_alltoallv;
extern __typeof__(MPI_Ineighbor_alltoallw) PMPI_Ineighbor_alltoallw;
extern __typeof__(MPI_Neighbor_allgather_init) PMPI_Neighbor_allgather_init;
extern __typeof__(MPI_Neighbor_allgatherv_init) PMPI_Neighbor_allgatherv_init;
extern __typeof__(MPI_Neighbor_alltoall_init) PMPI_Neighbor_alltoall_init;
extern __typeof__(MPI_Neighbor_alltoallv_init) PMPI_Neighbor_alltoallv_init;
extern __typeof__(MPI_Neighbor_alltoallw_init) PMPI_Neighbor_alltoallw_init;
extern __typeof__(MPI_Win_create) PMPI_Win_create;
extern __typeof__(MPI_Win_allocate) PMPI_Win_allocate;
extern __typeof__(MPI_Win_allocate_shared) PMPI_Win_allocate_shared;
extern __typeof__(MPI_Win_create_dynamic) PMPI_Win_create_dynamic;
extern __typeof__(MPI_Win_attach) PMPI_Win_attach;
extern __typeof__(MPI_Win_detach) PMPI_Win_detach;
extern __typeof__(MPI_Win_shared_query) PMPI_Win_shared_query;
extern __typeof__(MPI_Win_free) PMPI_Win_free;
extern __typeof__(MPI_Win_get_group) PMPI_Win_get_group;
extern __typeof__(MPI_Win_set_name) PMPI_Win_set_name;
extern __typeof__(MPI_Win_get_name) PMPI_Win_get_name;
extern __typeof__(MPI_Win_set_info) PMPI_Win_set_info;
extern __typeof__(MPI_Win_get_info) PMPI_Win_get_info;
extern __typeof__(MPI_Put) PMPI_Put;
extern __typeof__(MPI_Get) PMPI_Get;
extern __typeof__(MPI_Accumulate) PMPI_Accumulate;
extern __typeof__(MPI_Get_accumulate) PMPI_Get_accumulate;
extern __typeof__(MPI_Fetch_and_op) PMPI_Fetch_and_op;
extern __typeof__(MPI_Compare_and_swap) PMPI_Compare_and_swap;
extern __typeof__(MPI_Rput) PMPI_Rput;
extern __typeof__(MPI_Rget) PMPI_Rget;
extern __typeof__(MPI_Raccumulate) PMPI_Raccumulate;
extern __typeof__(MPI_Rget_accumulate) PMPI_Rget_accumulate;
extern __typeof__(MPI_Win_fence) PMPI_Win_fence;
extern __typeof__(MPI_Win_post) PMPI_Win_post;
extern __typeof__(MPI_Win_start) PMPI_Win_start;
extern __typeof__(MPI_Win_complete) PMPI_Win_complete;
extern __typeof__(MPI_Win_wait) PMPI_Win_wait;
extern __typeof__(MPI_Win_test) PMPI_Win_test;
extern __typeof__(MPI_Win_lock) PMPI_Win_lock;
extern __typeof__(MPI_Win_unlock) PMPI_Win_unlock;
extern __typeof__(MPI_Win_lock_all) PMPI_Win_lock_all;
extern __typeof__(MPI_Win_unlock_all) PMPI_Win_unlock_all;
extern __typeof__(MPI_Win_flush) PMPI_Win_flush;
extern __typeof__(MPI_Win_flush_all) PMPI_Win_flush_all;
extern __typeof__(MPI_Win_flush_local) PMPI_Win_flush_local;
extern __typeof__(MPI_Win_flush_local_all) PMPI_Win_flush_local_all;
extern __typeof__(MPI_Win_sync) PMPI_Win_sync;
extern __typeof__(MPI_Info_create) PMPI_Info_create;
extern __typeof__(MPI_Info_create_env) PMPI_Info_create_env;
extern __typeof__(MPI_Info_dup) PMPI_Info_dup;
extern __typeof__(MPI_Info_free) PMPI_Info_free;
extern __typeof__(MPI_Info_set) PMPI_Info_set;
extern __typeof__(MPI_Info_get) PMPI_Info_get;
extern __typeof__(MPI_Info_get_string) PMPI_Info_get_string;
extern __typeof__(MPI_Info_get_valuelen) PMPI_Info_get_valuelen;
extern __typeof__(MPI_Info_get_nkeys) PMPI_Info_get_nkeys;
extern __typeof__(MPI_Info_get_nthkey) PMPI_Info_get_nthkey;
extern __typeof__(MPI_Info_delete) PMPI_Info_delete;
extern __typeof__(MPI_Error_class) PMPI_Error_class;
extern __typeof__(MPI_Error_string) PMPI_Error_string;
extern __typeof__(MPI_Add_error_class) PMPI_Add_error_class;
extern __typeof__(MPI_Add_error_code) PMPI_Add_error_code;
extern __typeof__(MPI_Add_error_string) PMPI_Add_error_string;
extern __typeof__(MPI_Remove_error_class) PMPI_Remove_error_class;
extern __typeof__(MPI_Remove_error_code) PMPI_Remove_error_code;
extern __typeof__(MPI_Remove_error_string) PMPI_Remove_error_string;
extern __typeof__(MPI_Comm_create_errhandler) PMPI_Comm_create_errhandler;
extern __typeof__(MPI_Comm_set_errhandler) PMPI_Comm_set_errhandler;
extern __typeof__(MPI_Comm_get_errhandler) PMPI_Comm_get_errhandler;
extern __typeof__(MPI_Comm_call_errhandler) PMPI_Comm_call_errhandler;
extern __typeof__(MPI_Win_create_errhandler) PMPI_Win_create_errhandler;
extern __typeof__(MPI_Win_set_errhandler) PMPI_Win_set_errhandler;
extern __typeof__(MPI_Win_get_errhandler) PMPI_Win_get_errhandler;
extern __typeof__(MPI_Win_call_errhandler) PMPI_Win_call_errhandler;
extern __typeof__(MPI_Errhandler_free) PMPI_Errhandler_free;
extern __typeof__(MPI_Errhandler_create) PMPI_Errhandler_create;
extern __typeof__(MPI_Errhandler_set) PMPI_Errhandler_set;
extern __typeof__(MPI_Errhandler_get) PMPI_Errhandler_get;
extern __typeof__(MPI_Alloc_mem) PMPI_Alloc_mem;
extern __typeof__(MPI_Free_mem) PMPI_Free_mem;
extern __typeof__(MPI_Comm_c2f) PMPI_Comm_c2f;
extern __typeof__(MPI_Comm_f2c) PMPI_Comm_f2c;
extern __typeof__(MPI_Type_c2f) PMPI_Type_c2f;
extern __typeof__(MPI_Type_f2c) PMPI_Type_f2c;
extern __typeof__(MPI_Group_c2f) PMPI_Group_c2f;
extern __typeof__(MPI_Group_f2c) PMPI_Group_f2c;
extern __typeof__(MPI_Op_c2f) PMPI_Op_c2f;
extern __typeof__(MPI_Op_f2c) PMPI_Op_f2c;
extern __typeof__(MPI_Request_c2f) PMPI_Request_c2f;
extern __typeof__(MPI_Request_f2c) PMPI_Request_f2c;
extern __typeof__(MPI_Info_c2f) PMPI_Info_c2f;
extern __typeof__(MPI_Info_f2c) PMPI_Info_f2c;
extern __typeof__(MPI_Errhandler_c2f) PMPI_Errhandler_c2f;
extern __typeof__(MPI_Errhandler_f2c) PMPI_Errhandler_f2c;
extern __typeof__(MPI_Message_c2f) PMPI_Message_c2f;
extern __typeof__(MPI_Message_f2c) PMPI_Message_f2c;
extern __typeof__(MPI_Win_c2f) PMPI_Win_c2f;
extern __typeof__(MPI_Win_f2c) PMPI_Win_f2c;
extern __typeof__(MPI_Status_c2f) PMPI_Status_c2f;
extern __typeof__(MPI_Status_f2c) PMPI_Status_f2c;
extern __typeof__(MPI_T_init_thread) PMPI_T_init_thread;
extern __typeof__(MPI_T_finalize) PMPI_T_finalize;
extern __typeof__(MPI_T_enum_get_info) PMPI_T_enum_get_info;
extern __typeof__(MPI_T_enum_get_item) PMPI_T_enum_get_item;
extern __typeof__(MPI_T_cvar_get_num) PMPI_T_cvar_get_num;
extern __typeof__(MPI_T_cvar_get_info) PMPI_T_cvar_get_info;
extern __typeof__(MPI_T_cvar_get_index) PMPI_T_cvar_get_index;
extern __typeof__(MPI_T_cvar_handle_alloc) PMPI_T_cvar_handle_alloc;
extern __typeof__(MPI_T_cvar_handle_free) PMPI_T_cvar_handle_free;
extern __typeof__(MPI_T_cvar_read) PMPI_T_cvar_read;
extern __typeof__(MPI_T_cvar_write) PMPI_T_cvar_write;
extern __typeof__(MPI_T_pvar_get_num) PMPI_T_pvar_get_num;
extern __typeof__(MPI_T_pvar_get_info) PMPI_T_pvar_get_info;
extern __typeof__(MPI_T_pvar_get_index) PMPI_T_pvar_get_index;
extern __typeof__(MPI_T_pvar_session_create) PMPI_T_pvar_session_create;
extern __typeof__(MPI_T_pvar_session_free) PMPI_T_pvar_session_free;
extern __typeof__(MPI_T_pvar_handle_alloc) PMPI_T_pvar_handle_alloc;
extern __typeof__(MPI_T_pvar_handle_free) PMPI_T_pvar_handle_free;
extern __typeof__(MPI_T_pvar_start) PMPI_T_pvar_start;
extern __typeof__(MPI_T_pvar_stop) PMPI_T_pvar_stop;
extern __typeof__(MPI_T_pvar_read) PMPI_T_pvar_read;
extern __typeof__(MPI_T_pvar_write) PMPI_T_pvar_write;
extern __typeof__(MPI_T_pvar_reset) PMPI_T_pvar_reset;
extern __typeof__(MPI_T_pvar_readreset) PMPI_T_pvar_readreset;
extern __typeof__(MPI_T_category_get_num) PMPI_T_category_get_num;
extern __typeof__(MPI_T_category_get_info) PMPI_T_category_get_info;
extern __typeof__(MPI_T_category_get_index) PMPI_T_category_get_index;
extern __typeof__(MPI_T_category_get_cvars) PMPI_T_category_get_cvars;
extern __typeof__(MPI_T_category_get_pvars) PMPI_T_category_get_pvars;
extern __typeof__(MPI_T_category_get_categories) PMPI_T_category_get_categories;
extern __typeof__(MPI_T_category_changed) PMPI_T_category_changed;

/* Handles are the same number in C and in Fortran, so the conversions need no call. */
#define MPI_Comm_c2f(comm)             ((MPI_Fint)(comm))
#define MPI_Comm_f2c(comm)             ((MPI_Comm)(comm))
#define MPI_Type_c2f(datatype)         ((MPI_Fint)(datatype))
#define MPI_Type_f2c(datatype)         ((MPI_Datatype)(datatype))
#define MPI_Group_c2f(group)           ((MPI_Fint)(group))
#define MPI_Group_f2c(group)           ((MPI_Group)(group))
#define MPI_Op_c2f(op)                 ((MPI_Fint)(op))
#define MPI_Op_f2c(op)                 ((MPI_Op)(op))
#define MPI_Request_c2f(request)       ((MPI_Fint)(request))
#define MPI_Request_f2c(request)       ((MPI_Request)(request))
#define MPI_Info_c2f(info)             ((MPI_Fint)(info))
#define MPI_Info_f2c(info)             ((MPI_Info)(info))
#define MPI_Errhandler_c2f(errhandler) ((MPI_Fint)(errhandler))
#define MPI_Errhandler_f2c(errhandler) ((MPI_Errhandler)(errhandler))
#define MPI_Win_c2f(win)               ((MPI_Fint)(win))
#define MPI_Win_f2c(win)               ((MPI_Win)(win))
#define MPI_Message_c2f(message)       ((MPI_Fint)(message))
#define MPI_Message_f2c(message)       ((MPI_Message)(message))

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#if defined(__cplusplus)
}
#endif

#endif
