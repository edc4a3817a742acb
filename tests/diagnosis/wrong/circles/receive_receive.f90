! SPDX-License-Identifier: BSD-3-Clause
! Both ranks receive first, so neither reaches its send.
! ranks: 2
! expect: T01 ranks 0-1
program receive_receive
  use mpi
  implicit none
  integer :: rank, mine, theirs, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  mine = rank
  call MPI_Recv(theirs, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)   ! HERE 0-1
  call MPI_Send(mine, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program
