! SPDX-License-Identifier: BSD-3-Clause
! Each rank receives two rows but sends only one.
! ranks: 2
! expect: T01 ranks 0-1
program waitall
  use mpi_f08
  implicit none
  integer :: rank, i
  real :: mine(8), rows(8, 2)
  type(MPI_Request) :: requests(3)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  mine = rank
  do i = 1, 2
    call MPI_Irecv(rows(:, i), 8, MPI_REAL, 1 - rank, i, MPI_COMM_WORLD, requests(i))
  end do
  call MPI_Isend(mine, 8, MPI_REAL, 1 - rank, 1, MPI_COMM_WORLD, requests(3))
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)   ! HERE 0-1
  call MPI_Finalize()
end program
