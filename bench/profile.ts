/**
 * Shows where the CPU time of one process goes under the benchmark's load: `npm run profile -- api` (searches of 8 clients)
 * or `npm run profile -- ingestion` (ingest). Writes CPU profiles, which Chrome's developer tools open, and prints the ten
 * functions that ran longest.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startService } from '../test/support/service.js';
import { ingestCollection } from './load/ingest-collection.js';
import { loadSearch } from './load/search-load.js';
import { loadCollection } from './support/collections.js';
import { dearest, type CpuProfile } from './support/cpu-profile.js';

const SHOWN = 10;
const KINDS = ['api', 'ingestion'] as const;
const secret = 'a secret of the benchmark, long enough for HS256';

const kind = KINDS.find((each) => each === process.argv[2]);
if (kind === undefined) {
  console.error(`npm run profile -- ${KINDS.join('|')}`);
  process.exit(1);
}
const collection = loadCollection('scifact');
if (!collection) process.exit(0);

const folder = join('.quire', 'profiles', `${kind}-${new Date().toISOString().replaceAll(':', '-')}`);
await mkdir(folder, { recursive: true });
const service = await startService({
  workers: ['ingestion', 'embedding', 'cache,usage,maintenance'],
  env: { JWT_SECRET_KEY: secret, QUIRE_LOG_LEVEL: 'warn', QUIRE_WORKERS_LOCK_SECONDS: '30' },
  execArgv: ['--cpu-prof', `--cpu-prof-dir=${folder}`],
});
const profiled = kind === 'api' ? service.api : service.workers[0];
try {
  const target = { url: service.url, secret };
  const { figures } = await ingestCollection(target, collection, { user: 'load' });
  console.table([figures]);
  if (kind === 'api') {
    const queries = collection.queries.map(({ text }) => text);
    console.table([await loadSearch({ ...target, users: ['load'], queries, clients: 8 })]);
  }
} finally {
  await service.stop();
}

// Node names them CPU.<day>.<time>.<process>.<thread>.<number>.cpuprofile.
const names = (await readdir(folder)).filter((name) => name.split('.')[3] === String(profiled?.child.pid));
const profiles = await Promise.all(
  names.map(async (name): Promise<CpuProfile> => {
    // @NOTE the format of V8's profiles
    return JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile;
  }),
);
console.table(dearest(profiles, SHOWN));
console.log(`${String(names.length)} threads of ${kind}; profiles of all processes are in ${folder}`);
