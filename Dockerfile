# The image runs quickstart.sh on the host's GPU, or on a virtual GPU if the host has none:
#   docker build -t evo-tune . && docker run --rm --gpus all -v "$PWD/out:/evo-tune/out" evo-tune
FROM debian:12-slim
WORKDIR /evo-tune
COPY . .
# Installs, fetches and builds everything, so that a container only has to search.
RUN ./quickstart.sh --help >/dev/null && rm -rf /var/lib/apt/lists/*
# Makes the host's driver available, if the container gets a GPU.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENV PATH=/evo-tune/build/release/bin:$PATH
ENTRYPOINT ["./quickstart.sh"]
