import { once } from 'node:events';
import express from 'express';
import { z } from 'zod';
import type { Engine, MakeEngine } from './engines.js';

const searchBody = z.object({ query: z.string() });
const batchBody = z.object({ documents: z.array(z.object({ content: z.string() })) });

/**
 * A bare server over an engine for texts, with the two routes of the service that are measured: no access control, no
 * filters, nothing kept. What is ingested goes into an engine of its own. @returns its port
 */
export async function serveEngine(
  make: MakeEngine<string>,
  engine: Engine<string>,
  items: readonly string[],
): Promise<number> {
  const grown = make({ capacity: 0, dimensions: 0 });
  let added = 0;
  const server = express()
    .use(express.json({ limit: '64mb' }))
    .post('/retrieve/chunks', async (request, response) => {
      const { query } = searchBody.parse(request.body);
      const hits = await engine.search(query);
      response.json(
        hits.map(({ place, score }) => ({ document_id: String(place), score, content: items[place] ?? '' })),
      );
    })
    .post('/ingest/batch', async (request, response) => {
      const { documents } = batchBody.parse(request.body);
      const first = added;
      added += documents.length;
      await grown.add(documents.map(({ content }) => content));
      response.json(
        documents.map((_, index) => ({ index, status: 'completed', document_id: String(first + index) })),
      );
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
