# The image holds the static binary, certificate roots and time zones, and nothing else: no
# shell, no package manager, nothing to write to. It runs as a user without a name, on a
# read-only root.
#
#   docker build --build-arg VERSION="$(git describe --tags --always)" --build-arg COMMIT="$(git rev-parse HEAD)" -t coffer .

ARG GO_VERSION=1.26.8
ARG NODE_VERSION=24

# The web app: the same files whichever Node builds them.
FROM node:${NODE_VERSION}-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci
COPY web ./
COPY internal/surface/htmlpage/tokens.css /src/internal/surface/htmlpage/tokens.css
RUN npm run build

FROM golang:${GO_VERSION}-bookworm AS build
WORKDIR /src
# Dependencies change less often than the code: a layer of their own.
COPY go.mod go.sum ./
RUN go mod download && go mod verify
COPY . .
COPY --from=web /src/internal/surface/web/dist/app internal/surface/web/dist/app
ARG VERSION=dev
ARG COMMIT=unknown
RUN make build WEB=0 OUT=/out/coffer VERSION="$VERSION" COMMIT="$COMMIT" \
 && cp /etc/ssl/certs/ca-certificates.crt "$(go env GOROOT)/lib/time/zoneinfo.zip" /out/ \
 && mkdir /out/backups /out/data

FROM scratch
COPY --from=build /out/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/zoneinfo.zip /zoneinfo.zip
COPY --from=build /out/coffer /coffer
# Where volumes are mounted, for backups and for the certificate authority of --lan: new ones get
# this owner.
COPY --from=build --chown=65532:65532 --chmod=700 /out/backups /backups
COPY --from=build --chown=65532:65532 --chmod=700 /out/data /data
# Go reads time zones from here where the system has none.
ENV ZONEINFO=/zoneinfo.zip
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["/coffer", "health"]
ENTRYPOINT ["/coffer"]
CMD ["serve"]
