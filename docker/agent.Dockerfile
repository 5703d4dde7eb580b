# An agent for NVIDIA GPUs: CUDA, NCCL, Open MPI to start one agent a GPU, and no more rights than
# any program has.  Hardware counters may need a capability: that is in compose.profiling.yaml only.
#   docker build -f docker/agent.Dockerfile --build-arg REVISION=$(git describe --always) .
# CUDA is the image whose toolkit compiles, BASE the one that runs, with libcudart, cuBLAS and NCCL.
ARG CUDA=nvidia/cuda:13.0.1-devel-ubuntu24.04
ARG BASE=nvidia/cuda:13.0.1-runtime-ubuntu24.04
ARG BUILD_BASE=debian:12.12-slim

FROM ${CUDA} AS cuda

FROM ${BUILD_BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
COPY dev /source/dev
RUN /source/dev setup build && rm -rf /var/lib/apt/lists/*
COPY --from=cuda /usr/local/cuda /usr/local/cuda
# NCCL's header: where the toolkit's folder lacks it, it is among the system's.
RUN --mount=type=bind,from=cuda,source=/usr/include,target=/cuda-include \
    [ -e /usr/local/cuda/include/nccl.h ] || cp /cuda-include/nccl.h /usr/local/cuda/include/
COPY . /source
WORKDIR /source
ARG REVISION=unknown
# From nothing: common headers are parsed once, and no source is preprocessed for a cache first.
ENV CCACHE_DISABLE=1 HEADSPLIT_PRECOMPILE=1
RUN ./dev install /opt/headsplit release "${REVISION}"
# Hardware counters: CUPTI is in no runtime image.
RUN for folder in /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64; do \
      [ ! -d "$folder" ] || find -L "$folder" -maxdepth 1 \
        \( -name 'libcupti.so.[0-9]*' -o -name 'libnvperf_*.so' \) \
        -exec cp -L {} /opt/headsplit/lib/ \; || exit 1; \
    done

FROM ${BASE} AS agent
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="headsplit-agent" \
      org.opencontainers.image.description="Agent of headsplit for NVIDIA GPUs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      openmpi-bin openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --no-create-home --home-dir /data --shell /bin/sh headsplit \
 && install -d -o headsplit -g headsplit /data /run/headsplit
COPY --from=build /opt/headsplit /opt/headsplit
ENV PATH=/opt/headsplit/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HEADSPLIT_COORDINATOR=http://coordinator:7077
USER headsplit
WORKDIR /data
VOLUME /data
# Whether the coordinator knows an agent of this host.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
  CMD headsplit status | grep -q "^$(hostname)-"
ENTRYPOINT ["headsplit-agent"]
