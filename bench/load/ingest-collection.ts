import { createBenchClient, eachAtOnce, percentile, round } from '../support/client.js';
import type { Collection } from '../support/collections.js';

interface Target {
  readonly url: string;
  readonly secret: string;
}

/** Ingests every document and waits until each is searchable. `ids` maps the service's ids to the collection's. */
export async function ingestCollection(
  target: Target,
  { documents }: Pick<Collection, 'documents'>,
  { user, clients = 32 }: { user: string; clients?: number },
) {
  const client = createBenchClient({ ...target, user });
  const ids = new Map<string, string>();
  const milliseconds: number[] = [];
  const started = performance.now();
  await eachAtOnce(documents, clients, async ({ id, text }) => {
    const sent = performance.now();
    const { status, body } = await client.post('/ingest/text', { content: text }, { prefer: 'wait=120' });
    if (status !== 200) throw new Error(`ingest answered ${String(status)}: ${body}`);
    milliseconds.push(performance.now() - sent);
    // @NOTE the service's own answer, which its tests hold against its schema
    ids.set((JSON.parse(body) as { external_id: string }).external_id, id);
  });
  const seconds = (performance.now() - started) / 1_000;
  client.close();
  const bytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const figures = {
    documents: documents.length,
    clients,
    seconds: round(seconds),
    documentsPerSecond: round(documents.length / seconds, 1),
    megabytesPerSecond: round(bytes / 1e6 / seconds, 3),
    p50Ms: round(percentile(milliseconds, 0.5), 1),
    p99Ms: round(percentile(milliseconds, 0.99), 1),
  };
  return { figures, ids };
}
