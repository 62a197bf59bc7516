import { startBenchService, type Target } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import { ingestCollection } from '../load/ingest-collection.js';
import type { Collection } from '../support/collections.js';
import type { Measured } from './goals.js';
import { measureGrowth } from './growth.js';
import { measureProviderIngest } from './provider-ingest.js';

/** Documents of each run: by default enough for some seconds. */
const COUNT = Number(process.env['BENCH_DOCUMENTS'] ?? 5_000);
/** Runs of each way: the first one meets cold processes. */
const RUNS = 3;
const CLIENTS = 16;

/**
 * Measures how fast texts are taken in until they can be found: one a request by 16 clients, in batches, in batches with a
 * model of a provider, and in batches while there are more and more.
 */
export async function measureIngest(scifact: Collection, largest: number) {
  const documents = textsOf(scifact, COUNT);
  const service = await startBenchService();
  const rows: IngestRow[] = [];
  try {
    for (let run = 1; run <= RUNS; run += 1) rows.push(await singles(service.target, documents, run));
    for (let run = 1; run <= RUNS; run += 1) rows.push(await batches(service.target, documents, run));
  } finally {
    await service.stop();
  }
  console.log('ingest to searchable, Redis with `appendfsync always`');
  console.table(rows);
  const provider = await measureProviderIngest(documents);
  const growth = await measureGrowth(scifact, largest);
  const measured: Measured = {
    'single ingest': { value: fastest(rows, 'one text a request') },
    'batch ingest': { value: fastest(rows, 'batches of 500') },
    ...provider?.measured,
    ...growth.measured,
  };
  return { figures: { rows, provider: provider?.figures ?? null, growth: growth.figures }, measured };
}

interface IngestRow {
  readonly way: string;
  readonly run: number;
  readonly documentsPerSecond: number;
}

type Documents = readonly { readonly id: string; readonly text: string }[];

/** Makes as many texts as are asked for from the collection, again and again. */
function textsOf({ documents }: Collection, count: number): Documents {
  return Array.from({ length: count }, (_, at) => {
    return { id: String(at), text: documents[at % documents.length]?.text ?? '' };
  });
}

async function singles(target: Target, documents: Documents, run: number): Promise<IngestRow> {
  const { figures } = await ingestCollection(target, { documents }, { user: 'single', clients: CLIENTS });
  return { way: 'one text a request', run, ...figures };
}

async function batches(target: Target, documents: Documents, run: number): Promise<IngestRow> {
  const { figures } = await ingestBatches(target, documents, { user: 'batches' });
  return { way: 'batches of 500', run, ...figures };
}

/** The fastest rate of warm processes. */
function fastest(rows: readonly IngestRow[], way: string): number {
  const warm = rows.filter((row) => row.way === way && row.run > 1);
  return Math.max(...warm.map(({ documentsPerSecond }) => documentsPerSecond));
}
