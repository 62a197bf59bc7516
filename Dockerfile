# Untried: written where no Docker could run.
FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:20-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8000 \
    QUIRE_DATA_DIR=/data
WORKDIR /app
# No quire.toml: what containers run with is said in the environment, and dev mode is off.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# A volume mounted here takes its owner; only the API and the workers of ingestion and maintenance need one.
RUN mkdir /data && chown node:node /data
USER node
EXPOSE 8000
CMD ["node", "dist/api/main.js"]
