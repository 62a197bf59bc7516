# Tried on 2026-11-28 with buildah and podman, on a stand-in for the base image (Debian 12, Node.js 24.21), not with Docker
# nor on the image itself: `npm run try:containers`, and test/verification.md.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
# Packages of providers that LangChain has classes for (docs/how-to/use-langchain.md), such as "@langchain/anthropic@1.5.11".
ARG LANGCHAIN_PACKAGES=""
# 1: keeps the engine of local models (node-llama-cpp), for the process `models`. The image of API and workers needs none.
# This argument was not tried with a build yet.
ARG LOCAL_MODELS=""
# Other optional packages stay: without @llamaindex/liteparse there is no PDFium, no text recognition and no page picture.
RUN if [ -z "$LOCAL_MODELS" ]; then npm pkg delete optionalDependencies.node-llama-cpp; fi \
    && npm run build:service && npm prune --omit=dev \
    && if [ -n "$LANGCHAIN_PACKAGES" ]; then npm install --no-save --omit=dev $LANGCHAIN_PACKAGES; fi
# Files that nothing reads as the service runs (scripts/dependencies/README.md): maps and types, llama.cpp's sources, and the
# build of liteparse in its main package, where the build for this platform is there, which is the one that is loaded.
RUN rm -rf node_modules/.bin node_modules/node-llama-cpp/llama/gitRelease.bundle \
    && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' \) -delete \
    && if ls node_modules/@llamaindex/liteparse-*/*.node >/dev/null 2>&1; then \
      rm -f node_modules/@llamaindex/liteparse/*.node node_modules/@llamaindex/liteparse/*.so; fi

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8000 \
    QUIRE_DATA_DIR=/data
WORKDIR /app
# A font for Chinese, Japanese and Korean, which PDFs may leave to the system (docs/reference/formats.md): 1.6 MB to load and
# 5.2 MB installed. FONTS="" leaves it out. The lists of packages go in the same step, since a layer keeps what it has.
ARG FONTS="fonts-wqy-microhei"
RUN if [ -n "$FONTS" ]; then apt-get update && apt-get install -y --no-install-recommends $FONTS; fi \
    && rm -rf /var/lib/apt/lists /var/cache/apt
# Nothing is installed any more: what could, goes. Debian's list of its packages stays, for scanners.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn* /opt/yarn* /usr/bin/apt* /usr/bin/dpkg* /usr/lib/apt /usr/lib/dpkg /var/lib/apt \
    # A volume mounted here takes its owner; only the API and the workers of ingestion and maintenance need one.
    && mkdir /data && chown node:node /data
# No quire.toml: what containers run with is said in the environment, and dev mode is off.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
EXPOSE 8000
CMD ["node", "dist/api/main.js"]
