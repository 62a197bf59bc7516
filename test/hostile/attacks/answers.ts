import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../support/client.js';
import { SLOWLY, startSlowCompleter } from '../../support/slow-completer.js';
import { until } from '../../support/until.js';
import {
  observed,
  oneOf,
  searching,
  statusOf,
  watchSlowest,
  type Attack,
  type Observed,
  type Target,
} from '../attack.js';
import { closeAll, headOf, openMany } from '../connections.js';

/** More than a process has under way at once, of all callers together. */
const SLOW_ANSWERS = 96;
/** One caller has these at least. */
const SHARE = 16;
const SMALL_QUESTIONS = 5;
const ANSWERED_WITHIN_SECONDS = 2;

const MODEST = 'a modest asker';

const queryOf = (client: Client, body: string): string =>
  headOf(client, 'POST /query', 'Content-Type: application/json', `Content-Length: ${String(body.length)}`) +
  body;

async function ingest(client: Client, content: string): Promise<void> {
  const { status } = await client.ingestText(content, {}, { prefer: 'wait=100' });
  if (status !== 200) throw new Error(`a text to ask about: ${String(status)}`);
}

/** Asks one after the other. */
async function askSmallQuestions({ as, service, slowness }: Target): Promise<Observed> {
  const slowdown = await watchSlowest(searching(service));
  const seconds: number[] = [];
  const statuses: (number | string)[] = [];
  for (let number = 0; number < SMALL_QUESTIONS; number += 1) {
    const start = performance.now();
    statuses.push(await statusOf(as(MODEST).post('/query', { query: 'How high is the tower?' })));
    seconds.push((performance.now() - start) / 1_000);
  }
  const within = ANSWERED_WITHIN_SECONDS * slowness * (await slowdown());
  const late = seconds.filter((each) => each > within).length;
  const { answer, wrong } = observed(statuses, oneOf(200));
  return {
    answer: `small questions ${answer} after at most ${Math.max(...seconds).toFixed(2)} s`,
    // A single late one says nothing on a machine that is shared.
    wrong:
      wrong ?? (late > 1 ? `${String(late)} small questions took more than ${within.toFixed(1)} s` : null),
  };
}

async function askSlowly(target: Target): Promise<Observed> {
  const { port, attacker, slowness } = target;
  const connections = await openMany(port, SLOW_ANSWERS);
  const body = JSON.stringify({ query: `How does the snail answer ${SLOWLY}?`, stream: true });
  for (const { socket } of connections) socket.write(queryOf(attacker, body));
  const begun = () => connections.filter(({ received }) => received().includes('data: ')).length;
  await until(() => begun() >= SHARE, 20 * slowness);
  // Where nothing bounded them, they would have all turns by now.
  await sleep(2_000);
  const slow = begun();
  const { answer, wrong } = await askSmallQuestions(target);
  closeAll(connections);
  return { answer: `${String(slow)} slow answers begun; ${answer}`, wrong };
}

export const answerAttacks: readonly Attack[] = [
  {
    name: 'answers of a slow model to one caller beside a small question of another',
    surround: startSlowCompleter,
    prepare: async ({ attacker, as }) => {
      // An answer of some forty words takes twenty seconds.
      await ingest(attacker, `The snail answers ${SLOWLY}, says number one of many. `.repeat(20));
      await ingest(as(MODEST), 'The tower is ninety metres high.');
    },
    run: askSlowly,
  },
];
