import { createBenchClient, eachAtOnce, percentile, round } from '../support/client.js';
import type { Target } from './bench-service.js';

const BATCH = 500;
/** Batches under way at once. */
const CLIENTS = 4;

/**
 * Ingests documents in batches of 500 and waits until each is searchable. `ids` maps the service's ids to those of the
 * documents. @throws when one of them did not go in
 */
export async function ingestBatches(
  { url, secret }: Target,
  documents: readonly { readonly id: string; readonly text: string }[],
  { user, clients = CLIENTS }: { readonly user: string; readonly clients?: number },
) {
  const client = createBenchClient({ url, secret, user });
  const ids = new Map<string, string>();
  const milliseconds: number[] = [];
  const batches = Array.from({ length: Math.ceil(documents.length / BATCH) }, (_, at) =>
    documents.slice(at * BATCH, (at + 1) * BATCH),
  );
  const started = performance.now();
  await eachAtOnce(batches, clients, async (batch) => {
    const body = { documents: batch.map(({ text }) => ({ content: text })) };
    const sent = performance.now();
    const answer = await client.post('/ingest/batch', body, { prefer: 'wait=120' });
    milliseconds.push(performance.now() - sent);
    if (answer.status !== 200)
      throw new Error(`a batch was answered ${String(answer.status)}: ${answer.body}`);
    for (const { index, status, document_id } of outcomesOf(answer.body)) {
      if (status !== 'completed') throw new Error(`a text of a batch did not go in: ${answer.body}`);
      ids.set(document_id, batch[index]?.id ?? '');
    }
  });
  const seconds = (performance.now() - started) / 1_000;
  client.close();
  const figures = {
    documents: documents.length,
    clients,
    seconds: round(seconds),
    documentsPerSecond: round(documents.length / seconds, 1),
    p50Ms: round(percentile(milliseconds, 0.5), 1),
    p99Ms: round(percentile(milliseconds, 0.99), 1),
  };
  return { figures, ids };
}

interface Outcome {
  readonly index: number;
  readonly status?: string;
  readonly document_id: string;
}

function outcomesOf(body: string): Outcome[] {
  // @NOTE the service's own answer, which its tests hold against its schema; what is not completed throws above
  return JSON.parse(body) as Outcome[];
}
