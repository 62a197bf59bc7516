import { expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { EMBEDDING } from '../support/shared/environments.js';
import { useFakeOpenAI } from '../support/shared/use-fake-openai.js';
import { useService } from '../support/shared/use-service.js';

const provider = useFakeOpenAI();
const service = useService({ ...EMBEDDING, provider });

interface Extraction {
  readonly gap_counts: Readonly<Record<string, number>>;
}
interface Sent {
  readonly external_id: string;
  readonly system_metadata: {
    readonly gaps: number;
    readonly chunk_count: number;
    readonly version: number;
  };
}

/** Sends a file, as a new document or in place of another, and says what of it was not read. */
async function send(client: Client, text: string, id?: string) {
  const form = new FormData();
  form.set('file', new Blob([text]), 'walrus.txt');
  const [method, path] = id === undefined ? ['POST', '/ingest/file'] : ['PUT', `/documents/${id}/content`];
  const { status, body } = await client.send<Sent>(method, path, {
    body: form,
    headers: { prefer: 'wait=20' },
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  const extraction = await client.get<Extraction>(`/documents/${body.external_id}/extraction`);
  expect(body.system_metadata.gaps).toBe(extraction.body.gap_counts['limit'] ?? 0);
  const { chunk_count: chunks, version } = body.system_metadata;
  return { id: body.external_id, gaps: extraction.body.gap_counts, chunks, version };
}

const words = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name}${String(i)}`).join(' ');

test('content that keeps a passage which was embedded in parts says so as well, and content without it does not', async () => {
  provider.configure({ maxInputTokens: 256 });
  const client = service.client('parts');
  // One chunk, which is longer than the model reads.
  const long = words('walrus', 150);
  const first = await send(client, long);
  expect(first).toMatchObject({ gaps: { limit: 1 }, chunks: 1 });

  const texts = provider.stats.embeddedTexts;
  const kept = await send(client, `${long}\n\n`, first.id);
  expect(kept).toMatchObject({ gaps: { limit: 1 }, chunks: 1, version: 2 });
  expect(provider.stats.embeddedTexts).toBe(texts);

  const without = await send(client, 'A short text alone.', first.id);
  expect(without.gaps).toEqual({});
  expect(without.version).toBe(3);
});
