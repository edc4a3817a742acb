! SPDX-License-Identifier: BSD-3-Clause
! The rank is counted from 1, as arrays are.
! ranks: 2 3
! expect: MPI_ERR_RANK ranks 0
program rank_from_one
  use mpi
  implicit none
  integer :: rank, ierror
  integer :: x, i, size
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  x = rank
  if (rank == 0) then
    do i = 1, size
      call MPI_Send(x, 1, MPI_INTEGER, i, 0, MPI_COMM_WORLD, ierror)   ! HERE 0
    end do
  else
    call MPI_Recv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end if
  call MPI_Finalize(ierror)
end program rank_from_one
