/**
 * Measures the whole service as `npm start` runs it, over HTTP, on a Redis of its own: `npm run bench`.
 * Prints tables, then one line of JSON.
 */
import { startService } from '../test/support/service.js';
import { measureChunking } from './chunking.js';
import { ingestCollection } from './ingest.js';
import { measureRankings } from './quality.js';
import { loadSearch } from './search.js';
import { COLLECTIONS, loadCollection } from './support/collections.js';
import { describeMachine, residentMegabytes } from './support/machine.js';

const SCIFACT_COPIES = 3;
const secret = 'a secret of the benchmark, long enough for HS256';

const machine = describeMachine();
console.table(machine);
const scifact = loadCollection('scifact');
if (!scifact) process.exit(0);

const chunking = measureChunking(scifact);
console.table([chunking]);
const quality = await measureRankings(COLLECTIONS);

const service = await startService({
  workers: ['ingestion', 'embedding', 'cache,usage,maintenance'],
  env: { JWT_SECRET_KEY: secret, QUIRE_LOG_LEVEL: 'warn', QUIRE_WORKERS_LOCK_SECONDS: '30' },
});
try {
  const target = { url: service.url, secret };
  const memory = () => ({
    api: residentMegabytes(service.api.child.pid ?? 0),
    ingestion: residentMegabytes(service.workers[0]?.child.pid ?? 0),
    embedding: residentMegabytes(service.workers[1]?.child.pid ?? 0),
    others: residentMegabytes(service.workers[2]?.child.pid ?? 0),
    redis: residentMegabytes(service.redis.pid),
  });
  const idleMegabytes = memory();

  const ingests = [];
  for (let copy = 1; copy <= SCIFACT_COPIES; copy += 1) {
    const { figures } = await ingestCollection(target, scifact, { user: 'load' });
    ingests.push({ copy, ...figures });
  }
  console.table(ingests);

  const queries = scifact.queries.map(({ text }) => text);
  const searches = [];
  for (const clients of [1, 8, 32])
    searches.push(await loadSearch(target, { user: 'load', queries, clients }));
  console.table(searches);
  const megabytes = memory();
  console.table({ idle: idleMegabytes, 'with 15,549 documents': megabytes });

  console.log(JSON.stringify({ machine, chunking, ingests, searches, idleMegabytes, megabytes, quality }));
} finally {
  await service.stop();
}
