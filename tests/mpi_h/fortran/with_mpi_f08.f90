! SPDX-License-Identifier: BSD-3-Clause
! The module mpi_f08: typed handles, statuses, MPI_IN_PLACE, ignored statuses, a section of an array as a buffer.
program with_mpi_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, got, numbers(6), length
    type(MPI_Comm) :: half
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    got = rank
    call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(got == ranks - 1, 'maximum')
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Comm_size(half, got)
    call check(got == (ranks + 1 - mod(rank, 2)) / 2, 'split')
    call MPI_Comm_free(half)
    call check(half == MPI_COMM_NULL, 'freed communicator')
    numbers = [1, 2, 3, 4, 5, 6] + 10 * rank
    call MPI_Isend(numbers(2:5), 4, MPI_INTEGER, mod(rank + 1, ranks), 5, MPI_COMM_WORLD, request)
    numbers(1) = -1
    block
        integer :: received(4)
        call MPI_Recv(received, 4, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(received == [2, 3, 4, 5] + 10 * status%MPI_SOURCE), 'section')
        call MPI_Get_count(status, MPI_INTEGER, got)
        call check(got == 4 .and. status%MPI_TAG == 5, 'status')
    end block
    call MPI_Get_library_version(version, length)
    call check(index(version(1:length), 'Tutti') > 0, 'the library is not Tutti')
    if (rank == 0) print '(a,i0)', 'right on ', ranks
    call MPI_Finalize()
contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(2a)', 'wrong: ', what
        stop 1
    end subroutine
end program
