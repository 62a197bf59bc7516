import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Actor, type Ask, type TimedOutcome } from '../arena.js';
import { makeText } from '../contents.js';
import { linesOf, outcomesOf, type WireOutcome } from '../../support/batches.js';
import { modelDocument, type LostIngest } from '../world.js';
import { countIngest, metadataOf, patience, randomAccess } from './ingest.js';

const OPERATION = 'ingest_text';

/** Ingests many texts at once, as a list or as lines. Short ones of them share a job. */
export async function ingestBatch(actor: Actor): Promise<void> {
  const { arena, name, random } = actor;
  const all = Array.from({ length: random.chance(0.1) ? 40 : random.whole(2, 8) }, () => makeAsked(actor));
  for (const asked of all) {
    arena.world.introduce(asked.content, asked);
    arena.ledger.begin(name, OPERATION);
  }
  const documents = all.map(({ content, key, metadata, access }) => ({
    content: Buffer.from(content.bytes).toString(),
    metadata: metadataOf(key, metadata),
    access_control: access,
  }));
  const body = random.chance(0.5) ? { json: { documents } } : { lines: documents };
  const label = `batch of ${String(all.length)} from ${all[0]?.content.marker ?? ''} on`;
  const send = (wait: Pick<Ask, 'headers' | 'giveUpAfter'>) =>
    ask(actor, { method: 'POST', path: '/ingest/batch', ...body, about: null, label, ...wait });
  const first = patience(actor);
  const asked = random.chance(0.5) ? await repeat(actor, all, { first, send }) : await send(first);
  takeAll(actor, all, asked);
}

function makeAsked(actor: Actor): LostIngest {
  const { arena, name, random } = actor;
  const content = makeText(random, arena.world.nextMarker());
  const key = `key-${content.marker.slice(2, -2)}`;
  return { owner: name, content, access: randomAccess(actor, 0.3), key, metadata: random.whole(0, 999) };
}

interface Repeatable {
  readonly first: Pick<Ask, 'headers' | 'giveUpAfter'>;
  readonly send: (wait: Pick<Ask, 'headers' | 'giveUpAfter'>) => Promise<TimedOutcome>;
}

/** Longer than a process that died holds its key, and than an API and Redis take to be back. */
const MAX_REPEATS = 80;

/** Sends a batch with an `Idempotency-Key` until each item is answered. It makes one document of each. */
async function repeat(
  { arena: { ledger }, name }: Actor,
  all: readonly LostIngest[],
  { first, send }: Repeatable,
): Promise<TimedOutcome> {
  const keyed = { ...first.headers, 'idempotency-key': `${name} batch ${all[0]?.key ?? ''}` };
  let reply = await send({ ...first, headers: keyed });
  const { start } = reply;
  for (let repeats = 0; isOpen(reply) && repeats < MAX_REPEATS; repeats += 1) {
    await sleep(500);
    // What failed before it was stored is a record of its own.
    ledger.records(name, OPERATION).max += all.length;
    const again = await send({ headers: keyed });
    // Where nobody listens any more, what came before still counts.
    if (again.outcome.type !== 'refused') reply = again;
  }
  return { ...reply, start };
}

function isOpen(asked: TimedOutcome): boolean {
  const { outcome } = asked;
  if (outcome.type !== 'answer') return outcome.type === 'broken';
  if (outcome.status >= 300) return [409, 503].includes(outcome.status);
  return answersIn(asked).some(({ error }) => error && isPassing(error));
}

const isPassing = ({ type }: NonNullable<WireOutcome['error']>): boolean => type.startsWith('try_later');

function answersIn({ outcome }: TimedOutcome): WireOutcome[] {
  if (outcome.type !== 'answer' || outcome.status >= 300) return [];
  return outcome.json === undefined ? linesOf(outcome.text) : outcomesOf(outcome.json);
}

function takeAll(actor: Actor, all: readonly LostIngest[], asked: TimedOutcome): void {
  const { world, history, ledger } = actor.arena;
  const { outcome } = asked;
  if (outcome.type === 'refused' || (outcome.type === 'answer' && outcome.status === 429)) {
    all.forEach(() => {
      ledger.end(actor.name, OPERATION, 'refused');
    });
    return;
  }
  if (outcome.type === 'answer' && ![200, 202, 409, 503].includes(outcome.status))
    history.violate('a batch is taken', `${String(outcome.status)} ${outcome.text.slice(0, 200)}`);
  const answers = answersIn(asked);
  if (answers.length > 0 && answers.some(({ index }, i) => index !== i))
    history.violate('each item is answered in its order', JSON.stringify(answers).slice(0, 300));
  for (const [i, each] of all.entries()) {
    const answer = answers[i];
    if (answer?.document_id !== undefined) take(actor, each, { answer, asked });
    else world.lost.push(each);
    if (answer?.error && !isPassing(answer.error))
      history.violate('an item is taken', JSON.stringify(answer), each.content.marker);
  }
}

function take(
  { arena, name }: Actor,
  one: LostIngest,
  { answer, asked: { start, end } }: { readonly answer: WireOutcome; readonly asked: TimedOutcome },
): void {
  const document = modelDocument(one, { id: answer.document_id ?? '', start, end });
  arena.world.adopt(document);
  countIngest({ arena, name }, document, one.content);
  if (answer.status !== 'completed') return;
  arena.ledger.successes(name, OPERATION).min += 1;
  document.publishedAt.set(one.content, end);
}
