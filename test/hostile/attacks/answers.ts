import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../support/client.js';
import { startModels } from '../../support/models-process.js';
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
  type Surroundings,
  type Target,
} from '../attack.js';
import { closeAll, headOf, openMany } from '../connections.js';

/** More than a process has under way at once, of all callers together. */
const SLOW_ANSWERS = 96;
const SMALL_QUESTIONS = 5;

interface SlowModel {
  readonly surround: () => Promise<Surroundings>;
  /** The slow answers that one caller has under way at least. */
  readonly share: number;
  /** The time for a small question. */
  readonly withinSeconds: number;
}

/** Two words a second. */
const REMOTE: SlowModel = { surround: startSlowCompleter, share: 16, withinSeconds: 2 };

/** It holds two conversations, and each of the slow answers is 3,000 tokens long. */
const LOCAL: SlowModel = {
  surround: async () => {
    const models = await startModels();
    await models.write('chat.gguf', { kind: 'chat' });
    const completer = { QUIRE_COMPLETER: 'local', QUIRE_COMPLETION_MODEL: 'chat.gguf' };
    return { env: { ...models.env, ...completer }, stop: () => models.stop() };
  },
  share: 2,
  withinSeconds: 5,
};

const MODEST = 'a modest asker';

const SLOW_QUESTION = { query: `How does the snail answer ${SLOWLY}?`, max_tokens: 3_000, stream: true };
const SMALL_QUESTION = { query: 'How high is the tower?', max_tokens: 16 };

const queryOf = (client: Client, body: string): string =>
  headOf(client, 'POST /query', 'Content-Type: application/json', `Content-Length: ${String(body.length)}`) +
  body;

async function ingest(client: Client, content: string): Promise<void> {
  const { status } = await client.ingestText(content, {}, { prefer: 'wait=100' });
  if (status !== 200) throw new Error(`a text to ask about: ${String(status)}`);
}

/** Asks one after the other. */
async function askSmallQuestions(
  { as, service, slowness }: Target,
  withinSeconds: number,
): Promise<Observed> {
  const slowdown = await watchSlowest(searching(service));
  const seconds: number[] = [];
  const statuses: (number | string)[] = [];
  for (let number = 0; number < SMALL_QUESTIONS; number += 1) {
    const start = performance.now();
    statuses.push(await statusOf(as(MODEST).post('/query', SMALL_QUESTION)));
    seconds.push((performance.now() - start) / 1_000);
  }
  const within = withinSeconds * slowness * (await slowdown());
  const late = seconds.filter((each) => each > within).length;
  const { answer, wrong } = observed(statuses, oneOf(200));
  return {
    answer: `small questions ${answer} after at most ${Math.max(...seconds).toFixed(2)} s`,
    // A single late one says nothing on a machine that is shared.
    wrong:
      wrong ?? (late > 1 ? `${String(late)} small questions took more than ${within.toFixed(1)} s` : null),
  };
}

async function askSlowly(target: Target, { share, withinSeconds }: SlowModel): Promise<Observed> {
  const { port, attacker, slowness } = target;
  const connections = await openMany(port, SLOW_ANSWERS);
  for (const { socket } of connections) socket.write(queryOf(attacker, JSON.stringify(SLOW_QUESTION)));
  const begun = () => connections.filter(({ received }) => received().includes('data: ')).length;
  await until(() => begun() >= share, 20 * slowness);
  // Where nothing bounded them, they would have all turns by now.
  await sleep(2_000);
  const slow = begun();
  const { answer, wrong } = await askSmallQuestions(target, withinSeconds);
  closeAll(connections);
  return { answer: `${String(slow)} slow answers begun; ${answer}`, wrong };
}

const prepare = async ({ attacker, as }: Target) => {
  // The remote model's answer of some forty words takes twenty seconds.
  await ingest(attacker, `The snail answers ${SLOWLY}, says number one of many. `.repeat(20));
  await ingest(as(MODEST), 'The tower is ninety metres high.');
};

export const answerAttacks: readonly Attack[] = [
  {
    name: 'answers of a slow remote model to one caller beside small questions of another',
    surround: REMOTE.surround,
    prepare,
    run: (target) => askSlowly(target, REMOTE),
  },
  {
    name: 'long answers of a local model to one caller beside small questions of another',
    isLong: true,
    patienceSeconds: 120,
    surround: LOCAL.surround,
    prepare,
    run: (target) => askSlowly(target, LOCAL),
  },
];
