# mirror-bot in a container: the program beside Swift's own libraries, no compiler, no shell needed.
FROM swift:6.3-noble AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update -q && apt-get install -y -q --no-install-recommends \
        libarchive-dev libcurl4-openssl-dev libhiredis-dev libmecab-dev libpq-dev libsqlite3-dev libssl-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY migrations migrations
COPY Sources Sources
COPY Tests Tests
# What --version names: docker build --build-arg SOURCE_VERSION=$(git rev-parse HEAD) .
ARG SOURCE_VERSION
RUN swift build -c release --product mirror-bot \
    && mkdir -p /out \
    && cp -r .build/release/mirror-bot .build/release/*.resources /out/ \
    && strip /out/mirror-bot

FROM swift:6.3-noble-slim
# hadolint ignore=DL3008
RUN apt-get update -q && apt-get install -y -q --no-install-recommends \
        ca-certificates libarchive13t64 libcurl4t64 libhiredis1.1.0 libmecab2 libpq5 libsqlite3-0 libssl3t64 \
        mecab-ipadic-utf8 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --home-dir /data mirror-bot \
    && install -d -o mirror-bot -g mirror-bot -m 0700 /data
COPY --from=build /out/ /usr/local/bin/
USER 10001
# Where the embedded database is, if DATABASE_URL is not set; the only folder that is written to.
ENV MIRROR_BOT_HOME=/data
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=15s --start-period=120s --retries=3 CMD ["mirror-bot", "status", "--check"]
CMD ["mirror-bot", "run"]
