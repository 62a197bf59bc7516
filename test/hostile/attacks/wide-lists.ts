import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';
import { widest } from './unread.js';

/** Each has a record of two megabytes. */
const DOCUMENTS = 10;
const CONTENT = 'Wide is the zebra crossing.';

/** Ingests documents of the widest lists, whose ids are the answer. */
async function ingestWide({ as }: Target): Promise<string[]> {
  const access_control = { readers: widest('r'), writers: widest('w') };
  const ids: string[] = [];
  for (let n = 0; n < DOCUMENTS; n += 1) {
    const answer = await as('wide').ingestText(CONTENT, { access_control }, { prefer: 'wait=60' });
    if (answer.status !== 200) throw new Error(`a wide document: ${String(answer.status)}`);
    ids.push(answer.body.external_id);
  }
  return ids;
}

/** Sends many requests at once that each read records of megabytes. */
function manyOf(
  name: string,
  send: (target: Target, ids: readonly string[], n: number) => Promise<{ readonly status: number }>,
): Attack {
  let ids: readonly string[] = [];
  return {
    name: `many at once: ${name} of documents of the widest lists`,
    growth: 600,
    patienceSeconds: 300,
    prepare: async (target) => {
      ids = await ingestWide(target);
    },
    run: async (target) => {
      const count = target.isShort ? 40 : 150;
      const sent = Array.from({ length: count }, (_, n) => statusOf(send(target, ids, n)));
      return observed(await Promise.all(sent), oneOf(200, 202, 409, 429, 503));
    },
  };
}

export const wideListAttacks: readonly Attack[] = [
  manyOf('lists', ({ as }) => as('wide').get('/documents?limit=1')),
  manyOf('searches', ({ as }) => as('wide').searchChunks('zebra crossing', { k: 5 })),
  manyOf('texts that are there already', ({ as }) =>
    as('wide').ingestText(CONTENT, { on_duplicate: 'return' }),
  ),
  manyOf('caches', ({ as }, docs, n) =>
    as('wide').post('/cache/create', { name: `c${String(n)}`, model: 'none', gguf_file: 'none', docs }),
  ),
];
