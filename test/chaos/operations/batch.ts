import { setTimeout as sleep } from 'node:timers/promises';
import { linesOf, outcomesOf, type WireOutcome } from '../../support/batches.js';
import { ask, type Actor, type Ask, type TimedOutcome } from '../arena.js';
import { makeContent } from '../contents.js';
import type { Outcome } from '../exchange.js';
import { modelDocument, type LostIngest } from '../world.js';
import {
  countIngest,
  isKeyHeld,
  MAX_REPEATS,
  metadataOf,
  newIngest,
  patience,
  watchHolder,
} from './ingest.js';

/** The outcomes of a batch's items, by their places; nothing was heard of missing items. */
type Heard = Map<number, WireOutcome>;

/**
 * Ingests several texts with one request, in JSON or in lines. Half of the requests have an `Idempotency-Key` and are
 * repeated until each item is answered for good: it makes one document, whatever became of the others.
 */
export async function ingestBatch(actor: Actor): Promise<void> {
  const { arena, name, random } = actor;
  const items = Array.from({ length: random.whole(1, 12) }, () => {
    const kind = random.weighted({ 'short text': 12, 'long text': 1 });
    return newIngest(actor, makeContent(random, arena.world.nextMarker(), kind));
  });
  for (const item of items) {
    arena.world.introduce(item.content, item);
    arena.ledger.begin(name, 'ingest_text');
  }
  const way = random.pick(['json', 'lines'] as const);
  const marker = items[0]?.content.marker ?? '';
  const label = `batch_${way} ${String(items.length)} from ${marker}`;
  const body = bodyOf(items);
  const request = way === 'json' ? { json: { documents: body } } : { lines: body };
  const send = (wait: Pick<Ask, 'headers' | 'giveUpAfter'>) =>
    ask(actor, { method: 'POST', path: '/ingest/batch', ...request, label, about: marker, ...wait });
  const first = patience(actor);
  const key = random.chance(0.5) ? { 'idempotency-key': `${name} batch ${marker}` } : {};
  const heard: Heard = new Map();
  const holder = watchHolder(actor, { key: `batch ${marker}`, marker });
  let reply = await send({ ...first, headers: { ...first.headers, ...key } });
  const { start } = reply;
  hear(actor, heard, { items, outcome: reply.outcome, label });
  const isOpen = () => 'idempotency-key' in key && heardOpen(reply, heard, items.length);
  for (let repeats = 0; isOpen() && (repeats < MAX_REPEATS || holder.isHeld()); repeats += 1) {
    await sleep(500);
    // A failure before it was stored is a record of its own, for each of the items.
    arena.ledger.records(name, 'ingest_text').max += items.length;
    const again = await send({ headers: key });
    // An earlier answer still counts where nobody listens any more.
    if (again.outcome.type !== 'refused') reply = again;
    if (holder.note(again.outcome)) break;
    hear(actor, heard, { items, outcome: again.outcome, label });
  }
  for (const [i, item] of items.entries())
    take(actor, item, { heard: heard.get(i), reply: { ...reply, start }, label });
}

const bodyOf = (items: readonly LostIngest[]) =>
  items.map(({ content, key, metadata, access }) => ({
    content: Buffer.from(content.bytes).toString(),
    metadata: metadataOf(key, metadata),
    access_control: access,
  }));

/** Tells whether the request, or one of its items, is to be sent again. */
function heardOpen({ outcome }: TimedOutcome, heard: Heard, count: number): boolean {
  if (outcome.type === 'broken') return true;
  if (outcome.type === 'answer' && [409, 503].includes(outcome.status)) return true;
  const isAnswered = heard.size === count;
  return !isAnswered || [...heard.values()].some(({ error }) => error?.type.startsWith('try_later'));
}

interface Reply {
  readonly items: readonly LostIngest[];
  readonly outcome: Outcome;
  readonly label: string;
}

/** Notes the outcome of each item that an answer tells. Outcomes that a stream told before it broke off hold as well. */
function hear({ arena: { history } }: Actor, heard: Heard, { items, outcome, label }: Reply): void {
  const said = outcomesIn(outcome);
  const violate = (promise: string, detail: string, i: number) => {
    history.violate(promise, `${label}: ${detail}`, items[i]?.content.marker ?? null);
  };
  if (said.some(({ index }, i) => index !== i))
    violate('a batch is answered item by item, in order', JSON.stringify(said.map(({ index }) => index)), 0);
  const isWhole = said.length === items.length || isCutOff(outcome);
  if (outcome.type === 'answer' && outcome.status < 300 && !isWhole)
    violate('a batch is answered item by item, in order', `${String(said.length)} outcomes`, 0);
  for (const each of said) {
    const before = heard.get(each.index)?.document_id;
    // The item is known, and this answer does not say what became of it.
    if (before !== undefined && each.document_id === undefined && each.error?.type.startsWith('try_later'))
      continue;
    if (before !== undefined && before !== each.document_id)
      violate(
        'an item stays the document that it was',
        `${before}, then ${JSON.stringify(each)}`,
        each.index,
      );
    heard.set(each.index, each);
  }
}

/**
 * Tells whether a stream ended with the error of the first line that was not read. So it ends, in order, when it cannot go
 * on because its process stops.
 */
function isCutOff(outcome: Outcome): boolean {
  const isLines = outcome.type === 'answer' && outcome.json === undefined;
  return isLines && outcomesIn(outcome).at(-1)?.error?.type.startsWith('try_later') === true;
}

function outcomesIn(outcome: Outcome): WireOutcome[] {
  switch (outcome.type) {
    case 'refused':
      return [];
    case 'broken':
      // The last line may be cut off.
      return outcome.isLines ? linesOf(outcome.text.slice(0, outcome.text.lastIndexOf('\n') + 1)) : [];
    case 'answer':
      if (outcome.status >= 300) return [];
      return outcome.json === undefined ? linesOf(outcome.text) : outcomesOf(outcome.json);
  }
}

interface Taken {
  readonly heard: WireOutcome | undefined;
  readonly reply: TimedOutcome;
  readonly label: string;
}

function take({ arena, name }: Actor, item: LostIngest, { heard, reply, label }: Taken): void {
  const { world, history, ledger } = arena;
  const { marker } = item.content;
  history.note(`${name} item of ${label}: ${JSON.stringify(heard ?? 'nothing heard')}`, marker);
  if (heard?.document_id !== undefined) {
    const { start, end } = reply;
    const document = modelDocument(item, { id: heard.document_id, start, end });
    world.adopt(document);
    countIngest({ arena, name }, document, item.content);
    if (heard.status === 'completed') ledger.successes(name, 'ingest_text').min += 1;
    return;
  }
  const isRefused = reply.outcome.type === 'refused' || isTooMany(reply.outcome);
  if (!heard && isRefused) ledger.end(name, 'ingest_text', 'refused');
  else world.lost.push(item);
  const isPassing = heard?.error?.type.startsWith('try_later') ?? isUnanswered(reply.outcome);
  if (!isPassing && !isRefused)
    history.violate('an ingest is taken', `${label}: ${JSON.stringify(heard ?? reply.outcome)}`, marker);
}

const isTooMany = (outcome: Outcome) => outcome.type === 'answer' && outcome.status === 429;

const isUnanswered = (outcome: Outcome) =>
  outcome.type === 'broken' ||
  isCutOff(outcome) ||
  isKeyHeld(outcome) ||
  (outcome.type === 'answer' && outcome.status === 503);
