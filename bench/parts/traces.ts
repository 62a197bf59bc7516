import { once } from 'node:events';
import { createServer } from 'node:http';
import { startBenchService, type BenchService } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import { createSearchLoad, type SearchLoad } from '../load/search-load.js';
import type { Collection } from '../support/collections.js';
import { residentMegabytes } from '../support/machine.js';

const DOCUMENTS = 500;
const CLIENTS = 4;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);
const SECONDS_A_ROUND = 3;

/** The differences of services that are measured beside one another. */
const WAYS = {
  unset: {},
  'set, none kept': { QUIRE_TRACES_SAMPLER: 'parentbased_always_off' },
  'set, 1 % kept': { QUIRE_TRACES_SAMPLER: 'parentbased_traceidratio', QUIRE_TRACES_RATIO: '0.01' },
  'set, all kept': { QUIRE_TRACES_SAMPLER: 'parentbased_always_on' },
} as const;

interface Measured {
  readonly traces: string;
  readonly service: BenchService;
  readonly load: SearchLoad;
}

/**
 * Measures the cost of traces for a search: the same searches at services that make none, some and all, in rounds that
 * alternate, so that other work of the machine falls on all alike. The collector takes everything and keeps nothing.
 */
export async function measureTraces(scifact: Collection) {
  const collector = await startCollector();
  const services: Measured[] = [];
  try {
    for (const [traces, env] of Object.entries(WAYS)) {
      const set = traces === 'unset' ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      const service = await startBenchService({ ...set, ...env });
      await ingestBatches(service.target, scifact.documents.slice(0, DOCUMENTS), { user: 'load' });
      const load = createSearchLoad({
        ...service.target,
        users: ['load'],
        queries: scifact.queries.map(({ text }) => text),
        clients: CLIENTS,
      });
      services.push({ traces, service, load });
      await load.warmUp();
    }
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { load } of services) await load.run(SECONDS_A_ROUND);
    const rows = services.map(({ traces, service, load }) => ({
      traces,
      ...load.figures(),
      apiMb: residentMegabytes(service.api.child.pid ?? 0),
    }));
    console.log('searches by words, with traces and without, in alternating rounds');
    console.table(rows);
    return { figures: rows, measured: {} };
  } finally {
    for (const { load, service } of services) {
      load.close();
      await service.stop();
    }
    await collector.stop();
  }
}

async function startCollector() {
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
