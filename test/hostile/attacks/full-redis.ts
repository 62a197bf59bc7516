import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { createRandom } from '../../chaos/random.js';
import { withRedis } from '../../chaos/with-redis.js';
import type { Client, WireDocument } from '../../support/client.js';
import { randomWords } from '../../support/random-words.js';
import {
  ingesting,
  observed,
  oneOf,
  statusOf,
  watchSlowest,
  type Attack,
  type Observed,
  type Target,
} from '../attack.js';
import { watchFigure } from '../watch-figure.js';

/** Room for two of the texts, and with the Query Engine for one: they take 26 MB, and 100 MB, since Redis has its index. */
const MEMORY = { exact: '96mb', 'query-engine': '256mb' };
const TEXTS = 4;
/** They are 2 MB. */
const WORDS = 400_000;
/** The texts for which there is no room have asked for it several times by then. */
const SETTLED_AFTER_MS = 12_000;
const INGESTED_WITHIN_SECONDS = 5;

/** Sends texts of nearly all words that there are of four letters. */
async function sendManyWords(client: Client) {
  const ids: string[] = [];
  const statuses: (number | string)[] = [];
  for (let number = 0; number < TEXTS; number += 1) {
    const text = randomWords(createRandom(`text ${String(number)}`), { count: WORDS, length: 4 });
    const { status, body } = await client.ingestText(text, {}, { prefer: 'respond-async' });
    statuses.push(status);
    if (status === 202) ids.push(body.external_id);
  }
  return { ids, statuses };
}

/** Tells whether each text is ingested or waits for room, and has done so for a while. */
function createSettling(redis: Redis, client: Client) {
  let since = Infinity;
  return async (ids: readonly string[]): Promise<boolean> => {
    const waiting = new Set(await redis.hKeys(keys.waitingForRoom));
    const documents = await Promise.all(ids.map((id) => client.get<WireDocument>(`/documents/${id}`)));
    const isStill = documents.every(
      ({ body }) => waiting.has(body.external_id) || body.system_metadata.status === 'completed',
    );
    since = isStill && waiting.size > 0 ? Math.min(since, performance.now()) : Infinity;
    return performance.now() - since > SETTLED_AFTER_MS;
  };
}

/** Ingests one small text after the other, as long as it is told to. */
async function ingestSmall(
  { as, service, slowness }: Target,
  goesOn: () => Promise<boolean>,
): Promise<Observed> {
  const slowdown = await watchSlowest(ingesting(service));
  const seconds: number[] = [];
  const statuses: (number | string)[] = [];
  while (await goesOn()) {
    const start = performance.now();
    const text = `A small text with the number ${String(seconds.length)}.`;
    statuses.push(await statusOf(as('a modest writer').ingestText(text, {}, { prefer: 'wait=60' })));
    seconds.push((performance.now() - start) / 1_000);
    await sleep(250);
  }
  const within = INGESTED_WITHIN_SECONDS * slowness * (await slowdown());
  const late = seconds.filter((each) => each > within).length;
  const { answer, wrong } = observed(statuses, oneOf(200));
  return {
    answer: `small texts ${answer} after at most ${Math.max(...seconds).toFixed(1)} s`,
    // A single late one says nothing on a machine that is shared.
    wrong: wrong ?? (late > 1 ? `${String(late)} small texts took more than ${within.toFixed(1)} s` : null),
  };
}

async function fillRedis(target: Target, redis: Redis): Promise<Observed> {
  const { attacker } = target;
  const memory = createMemoryWatch(redis, 1);
  const isSettled = createSettling(redis, attacker);
  const sending = sendManyWords(attacker);
  const { result: small, most } = await watchFigure(
    async () => (await memory.state()).used,
    () => ingestSmall(target, async () => !(await isSettled((await sending).ids))),
  );
  const { max } = await memory.state();
  const { ids, statuses } = await sending;
  const deletions = await Promise.all(ids.map((id) => statusOf(attacker.delete(`/documents/${id}`))));
  const megabytes = [most, max].map((bytes) => String(Math.round(bytes / 2 ** 20))).join(' of ');
  const sent = observed(statuses, oneOf(202));
  const deleted = observed(deletions, oneOf(200));
  return {
    answer: `texts ${sent.answer}; ${small.answer}; ${megabytes} MB; deletions ${deleted.answer}`,
    wrong:
      small.wrong ?? sent.wrong ?? deleted.wrong ?? (most > max ? 'the limit of Redis was passed' : null),
  };
}

export const fullRedisAttacks: readonly Attack[] = [
  {
    name: 'texts of many different short words that fill Redis beside small texts of another',
    isLong: true,
    patienceSeconds: 600,
    surround: (index) =>
      Promise.resolve({
        env: { QUIRE_CHUNK_SIZE: '512', QUIRE_INGEST_PARSE_SECONDS: '120' },
        redis: ['--maxmemory', MEMORY[index]],
        stop: () => Promise.resolve(),
      }),
    run: (target) => withRedis(target.service.redis.url, (redis) => fillRedis(target, redis)),
  },
];
