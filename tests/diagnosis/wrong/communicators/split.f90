! SPDX-License-Identifier: BSD-3-Clause
! Only some ranks call the split that creates the halves.
! ranks: 2
! expect: T01 or T03 ranks 0-1
program split
  use mpi
  implicit none
  integer :: rank, half, x, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 0) then
    call MPI_Comm_split(MPI_COMM_WORLD, 0, 0, half, ierror)   ! HERE 0
    call MPI_Send(x, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
  else
    call MPI_Recv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)   ! HERE 1
  end if
  call MPI_Finalize(ierror)
end program
