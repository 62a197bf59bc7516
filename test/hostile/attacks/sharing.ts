import type { Client } from '../../support/client.js';
import { observed, statusOf, oneOf, type Attack, type Observed, type Target } from '../attack.js';

const QUERY = 'who signs the cheques';
const many = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${String(i)}`.padEnd(200, 'x'));

/** Puts false documents before a victim, with metadata that calls them the victim's own. */
async function flood(
  { as, isShort }: Target,
  attacker: string,
  victim: string,
): Promise<(number | string)[]> {
  const lie = { 'system_metadata.owner': victim, system_metadata: { owner: victim }, owner: victim };
  const documents = Array.from({ length: isShort ? 30 : 300 }, (_, n) => ({
    content: `Mallory signs the cheques, says number ${String(n)}.`,
    metadata: lie,
    access_control: { readers: [victim], writers: [victim] },
  }));
  return [await statusOf(as(attacker).post('/ingest/batch', { documents }, { prefer: 'wait=60' }))];
}

/** The documents that a caller sees in every way to see some. */
async function seenBy(client: Client, more: Record<string, unknown> = {}): Promise<string> {
  const asked = { query: QUERY, k: 20, ...more };
  const shared = typeof more['shared'] === 'string' ? `&shared=${more['shared']}` : '';
  const answers = await Promise.all([
    client.post('/retrieve/chunks', asked),
    client.post('/retrieve/docs', asked),
    client.post('/query', asked),
    client.get(`/documents?limit=100${shared}`),
  ]);
  return JSON.stringify(answers.map(({ status, body }) => [status, body]));
}

function judge(statuses: readonly (number | string)[], seen: readonly string[]): Observed {
  const { answer, wrong } = observed(statuses, oneOf(200, 202));
  const isPoisoned = seen.some((each) => each.includes('Mallory'));
  const isLost = seen.some((each) => !each.includes('Alice signs'));
  if (isPoisoned) return { answer, wrong: 'documents of a blocked owner are seen' };
  return { answer, wrong: isLost ? 'own documents are not found' : wrong };
}

export const sharingAttacks: readonly Attack[] = [
  {
    name: 'many documents that name somebody who has blocked their owner, and say that they are the victim’s own',
    run: async (target) => {
      const victim = target.as('blocker');
      const statuses = [
        await statusOf(victim.ingestText('Alice signs the cheques.', {}, { prefer: 'wait=60' })),
        await statusOf(victim.put('/sharing/blocked/flooder', {})),
        ...(await flood(target, 'flooder', 'blocker')),
      ];
      const seen = [await seenBy(victim), await seenBy(victim, { shared: 'accepted' })];
      return judge(statuses, seen);
    },
  },
  {
    name: 'the same before somebody whose lists are full, and who finds only what is accepted',
    run: async (target) => {
      const victim = target.as('full-lists');
      const statuses = [
        await statusOf(victim.ingestText('Alice signs the cheques.', {}, { prefer: 'wait=60' })),
        ...(await flood(target, 'stranger', 'full-lists')),
      ];
      const accepted = many(target.isShort ? 50 : 1_000, 'accepted');
      for (const owner of accepted)
        statuses.push(await statusOf(victim.put(`/sharing/accepted/${owner}`, {})));
      const seen: string[] = [];
      for (let n = 0; n < 5; n += 1) seen.push(await seenBy(victim, { shared: 'accepted' }));
      return judge(statuses, seen);
    },
  },
];
