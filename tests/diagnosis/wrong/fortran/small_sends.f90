! SPDX-License-Identifier: BSD-3-Clause
! Both ranks send a number first, which works only while messages are small.
! ranks: 2
! expect: T01 ranks 0-1
! mpiexec: --check
program small_sends
  use mpi
  implicit none
  integer :: rank, ierror
  integer :: x, y
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  x = rank
  call MPI_Send(x, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierror)   ! HERE 0-1
  call MPI_Recv(y, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Finalize(ierror)
end program small_sends
