# The server in a container: no root, nothing written but in /data (and /tmp).
#
#   docker build -t askone .
#   docker run -it --rm -v askone:/data askone users add ann --role admin
#   docker run -d --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#       -p 127.0.0.1:8000:8000 -v askone:/data askone

FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY requirements ./requirements
COPY src ./src
RUN python -m venv /opt/askone \
 && /opt/askone/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/server.txt \
 && /opt/askone/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps .

FROM python:3.12-slim-bookworm
# LightGBM's threads; the image has no compiler that would bring it.
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin askone \
 && mkdir /data && chown 10001:10001 /data && chmod 700 /data
COPY --from=build /opt/askone /opt/askone
ENV PATH=/opt/askone/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    NUMBA_CACHE_DIR=/data/cache \
    ASKONE_STORE=/data/askone.db
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
ENTRYPOINT ["askone"]
CMD ["serve", "--host", "0.0.0.0"]
