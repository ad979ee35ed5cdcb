# The gateway as an image: no compiler, no package manager's cache, no root.
# Another base (a mirror, a hardened one) by --build-arg BASE=...; it needs Python and CA certificates.
ARG BASE=python:3.13-slim

FROM ${BASE} AS builder
WORKDIR /src
RUN python3 -m venv /opt/tapeway
# What is pinned comes first: it changes less often than our own sources.
COPY requirements.txt ./
RUN /opt/tapeway/bin/python -m pip install --no-cache-dir --no-compile --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY tape ./tape
COPY agent ./agent
COPY channels ./channels
COPY gateway ./gateway
COPY deploy/tapeway.service ./deploy/
RUN /opt/tapeway/bin/python -m pip install --no-cache-dir --no-compile --no-deps --no-build-isolation . \
    && /opt/tapeway/bin/python -m pip uninstall --quiet --yes pip hatchling editables pathspec trove-classifiers

FROM ${BASE}
# Without CA certificates no model and no platform is reached: such a base ends the build.
RUN python3 -c 'import ssl; assert ssl.create_default_context().cert_store_stats()["x509_ca"], "no CA certificates"' \
    && useradd --no-log-init --uid 10001 --user-group --no-create-home --home-dir /var/lib/tapeway tapeway \
    && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/tapeway
COPY --from=builder /opt/tapeway /opt/tapeway
# Nothing can write bytecode later. Importing what there is of ours writes what is ever loaded, also of
# the standard library; all of the bytecode would be 35 MB more.
RUN /opt/tapeway/bin/python -c 'import pkgutil, agent, channels, gateway, tape; [__import__(m.name) for p in (agent, channels, gateway, tape) for m in pkgutil.walk_packages(p.__path__, p.__name__ + ".")]'

# The token is made at the first start, in the volume; this is no more than the name of its file.
# hadolint ignore=DL3064
ENV PATH=/opt/tapeway/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TAPEWAY_HOME=/var/lib/tapeway \
    TAPEWAY_HTTP__HOST=0.0.0.0 \
    TAPEWAY_HTTP__TOKEN_FILE=http-token

LABEL org.opencontainers.image.title="Tapeway" \
      org.opencontainers.image.description="One agent in your group chats, every chat remembered on an append-only tape." \
      org.opencontainers.image.licenses="Apache-2.0"

# By number, so that a cluster can tell that it is not root.
USER 10001:10001
WORKDIR /var/lib/tapeway
VOLUME /var/lib/tapeway
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["tapeway", "health"]
ENTRYPOINT ["tapeway"]
CMD ["gateway"]
