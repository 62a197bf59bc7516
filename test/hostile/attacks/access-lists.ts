import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';
import { closeAll, headOf, openMany } from '../connections.js';

/** Makes as many and as long ids as a list may have, which are 0.75 MB in three lists. */
const listOf = (letter: string): string[] =>
  Array.from({ length: 1_000 }, (_, i) => `${String(i)}-`.padEnd(250, letter));
const full = { readers: listOf('r'), writers: listOf('w'), admins: listOf('a') };

const documentsOf = ({ isShort }: Target): number => (isShort ? 10 : 40);

async function ingestFull(target: Target): Promise<void> {
  const statuses: (number | string)[] = [];
  for (let n = 0; n < documentsOf(target); n += 1)
    statuses.push(
      await statusOf(
        target.as('lister').ingestText(`Full list number ${String(n)}.`, { access_control: full }),
      ),
    );
  const { wrong } = observed(statuses, oneOf(200));
  if (wrong !== null) throw new Error(`documents with full lists: ${wrong}`);
}

export const accessListAttacks: readonly Attack[] = [
  {
    name: 'a PATCH that gives full access lists another order, again and again',
    growth: 250,
    patienceSeconds: 180,
    run: async ({ as, isShort }) => {
      const owner = as('shuffler');
      const { body } = await owner.ingestText('Of many.', { access_control: full }, { prefer: 'wait=100' });
      // The same users each time, so that no chunk needs another tag.
      const most = full.admins.slice(1);
      const statuses: (number | string)[] = [];
      for (let n = 0; n < (isShort ? 40 : 120); n += 1) {
        const turned = [...most.slice(n), ...most.slice(0, n)];
        const change = { access_control: { ...full, admins: ['shuffler', ...turned] } };
        statuses.push(await statusOf(owner.patch(`/documents/${body.external_id}`, change)));
      }
      return observed(statuses, oneOf(200, 429));
    },
  },
  {
    name: 'searches and lists of documents with full access lists, all at once',
    patienceSeconds: 120,
    // 60 MB of answers are among it, and the records that are being read.
    growth: 500,
    prepare: ingestFull,
    run: async ({ as, isShort }) => {
      const lister = as('lister');
      const asked = Array.from({ length: isShort ? 4 : 16 }, () => [
        statusOf(lister.searchChunks('full list', { k: 40 })),
        statusOf(lister.searchChunks('full list', { k: 40, filters: { none: { $exists: false } } })),
        statusOf(lister.get('/documents?limit=5')),
      ]).flat();
      return observed(await Promise.all(asked), oneOf(200, 503));
    },
  },
  {
    name: 'lists of documents with full access lists that nobody reads',
    prepare: async (target) => {
      const { body } = await target.as('lister').get<unknown[]>('/documents?limit=40');
      if (body.length < documentsOf(target)) await ingestFull(target);
    },
    run: async ({ port, as, isShort }) => {
      const connections = await openMany(port, 24);
      for (const { socket } of connections) {
        socket.write(headOf(as('lister'), 'GET /documents?limit=40'));
        socket.pause();
      }
      const other = as('other');
      const statuses: (number | string)[] = [];
      const end = performance.now() + (isShort ? 2_000 : 4_000);
      while (performance.now() < end) statuses.push(await statusOf(other.get('/documents')));
      closeAll(connections);
      const { answer, wrong } = observed(statuses, oneOf(200));
      return { answer: `to others: ${answer}`, wrong };
    },
  },
];
