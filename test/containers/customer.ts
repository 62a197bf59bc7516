import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const PATIENCE_MILLISECONDS = 120_000;
const documentSchema = z.object({ external_id: z.string() });
const chunksSchema = z.array(z.object({ document_id: z.string(), content: z.string() }));

export type Customer = ReturnType<typeof createCustomer>;

/** Somebody who uses the service, and remembers what it has acknowledged. */
export function createCustomer(origin: string, token: string) {
  const acknowledged = new Map<string, string>();
  let count = 0;

  const ask = async (path: string, body: string | FormData | null, headers: Record<string, string> = {}) => {
    const response = await fetch(`${origin}${path}`, {
      method: body === null ? 'GET' : 'POST',
      body,
      headers: {
        authorization: `Bearer ${token}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      signal: AbortSignal.timeout(60_000),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${answer.slice(0, 200)}`);
    const parsed: unknown = JSON.parse(answer);
    return parsed;
  };
  /** A word that no other document has. */
  const nextWord = () => `word${String((count += 1)).padStart(6, 'x')}z`;
  const remember = (answer: unknown, word: string) => {
    acknowledged.set(documentSchema.parse(answer).external_id, word);
  };
  const isFound = async (id: string, word: string): Promise<boolean> => {
    const chunks = chunksSchema.parse(await ask('/retrieve/chunks', JSON.stringify({ query: word, k: 3 })));
    return chunks.some(({ document_id, content }) => document_id === id && content.includes(word));
  };
  const ingest = async (content: string, prefer = 'wait=60'): Promise<void> => {
    const word = nextWord();
    remember(await ask('/ingest/text', JSON.stringify({ content: `${content} ${word}` }), { prefer }), word);
  };

  return {
    ingest,
    async ingestFile(html: string): Promise<void> {
      const word = nextWord();
      const form = new FormData();
      form.set('file', new Blob([`${html}<p>${word}</p>`], { type: 'text/html' }), 'page.html');
      remember(await ask('/ingest/file', form, { prefer: 'wait=60' }), word);
    },
    /** @throws unless all that was acknowledged is found in time */
    async checkAll(): Promise<void> {
      const end = Date.now() + PATIENCE_MILLISECONDS;
      for (const [id, word] of acknowledged)
        while (!(await isFound(id, word).catch(() => false))) {
          if (Date.now() > end) throw new Error(`document ${id} is not found`);
          await sleep(200);
        }
    },
    /** Ingests and searches, without a second try of anything, until it is stopped. */
    startLoad() {
      const failures: string[] = [];
      let asked = 0;
      let isOver = false;
      const run = async (request: () => Promise<unknown>) => {
        while (!isOver) {
          asked += 1;
          await request().catch((error: unknown) => failures.push(String(error)));
          await sleep(50);
        }
      };
      const list = () => ask('/documents', null);
      const search = () => ask('/retrieve/chunks', JSON.stringify({ query: 'folded leaves', k: 3 }));
      const running = [
        run(search),
        run(search),
        run(list),
        run(() => ingest('under load', 'respond-async')),
        run(() => ingest('waited for', 'wait=10')),
      ];
      return {
        async stop() {
          isOver = true;
          await Promise.all(running);
          return { asked, failures };
        },
      };
    },
  };
}
