# SPDX-License-Identifier: BSD-3-Clause
# An image with Tutti in /opt/tutti and the compilers that its wrappers call:
#     docker build -t tutti .
#     docker run --rm tutti tutti-bench -n 2 allreduce
#     docker run --rm -v "$PWD:/work" -w /work tutti sh -c "mpicc app.c -o app && mpiexec -n 4 ./app"
# tests/packages lists the packages, in the groups `build` and `image`.
FROM debian:12-slim AS build
WORKDIR /tutti
COPY tests/packages tests/install.sh tests/
RUN bash -c '. tests/install.sh && install_groups build'
COPY . .
RUN cmake --preset release && cmake --build --preset release && cmake --install build --prefix /opt/tutti

FROM debian:12-slim
COPY tests/packages tests/install.sh /opt/tutti/install/
RUN bash -c '. /opt/tutti/install/install.sh && install_groups image' && rm -rf /opt/tutti/install /var/lib/apt/lists/*
COPY --from=build /opt/tutti /opt/tutti
ENV PATH=/opt/tutti/bin:$PATH
CMD ["tutti-info"]
