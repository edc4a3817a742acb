! SPDX-License-Identifier: BSD-3-Clause
! Halos of columns with nonblocking calls, and rows by a derived type.
! ranks: 1 2 4
program sections_and_halos
  use mpi_f08
  implicit none
  integer :: rank
  double precision, asynchronous :: a(8, 0:9)
  integer :: left, right, size, step
  type(MPI_Request) :: requests(4)
  type(MPI_Datatype) :: row
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  left = merge(MPI_PROC_NULL, rank - 1, rank == 0)
  right = merge(MPI_PROC_NULL, rank + 1, rank == size - 1)
  call MPI_Type_vector(10, 1, 8, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)
  a = rank
  do step = 1, 5
    call MPI_Irecv(a(1, 0), 8, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(a(1, 9), 8, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(a(1, 8), 8, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(a(1, 1), 8, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call MPI_Bcast(a(1, 0), 1, row, 0, MPI_COMM_WORLD)
  end do
  call MPI_Type_free(row)
  call MPI_Finalize()
end program sections_and_halos
