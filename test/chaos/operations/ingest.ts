import { setTimeout as sleep } from 'node:timers/promises';
import { documentView } from '../../../src/api/routes/document-view.js';
import { ask, type Actor, type Ask, type TimedOutcome } from '../arena.js';
import { makeContent, type Content } from '../contents.js';
import type { Outcome } from '../exchange.js';
import { observe } from '../observe.js';
import { modelDocument, type Access, type LostIngest, type ModelDocument } from '../world.js';

export const operationOf = ({ filename }: Content) => (filename === null ? 'ingest_text' : 'ingest_file');

/** The group of a document's metadata, to filter by. */
export const groupOf = (metadata: number): string => `g${String(metadata % 4)}`;

export const metadataOf = (key: string, metadata: number) => ({ key, n: metadata, group: groupOf(metadata) });

export async function ingest(actor: Actor): Promise<void> {
  const { arena, name, random } = actor;
  const content = makeContent(random, arena.world.nextMarker());
  const asked = newIngest(actor, content);
  const { access } = asked;
  arena.world.introduce(content, asked);
  const operation = operationOf(content);
  arena.ledger.begin(name, operation);
  const label = `${operation} ${content.kind} ${content.marker} readers ${access.readers.join()} writers ${access.writers.join()}`;
  const send = (wait: Pick<Ask, 'headers' | 'giveUpAfter'>) =>
    ask(actor, { method: 'POST', ...ingestRequest(asked), about: content.marker, label, ...wait });
  const first = patience(actor);
  const isRepeated = random.chance(0.5);
  take(actor, asked, isRepeated ? await repeat(actor, asked, { first, send }) : await send(first));
}

/** Makes the ingest of a content by a caller. */
export function newIngest(actor: Actor, content: Content): LostIngest {
  return {
    owner: actor.name,
    content,
    access: randomAccess(actor, 0.3),
    key: `key-${content.marker.slice(2, -2)}`,
    metadata: actor.random.whole(0, 999),
  };
}

interface Repeatable {
  readonly first: Pick<Ask, 'headers' | 'giveUpAfter'>;
  readonly send: (wait: Pick<Ask, 'headers' | 'giveUpAfter'>) => Promise<TimedOutcome>;
}

/** Longer than a process that died holds its key, and than an API and Redis take to be back. */
export const MAX_REPEATS = 80;

/** Sends an ingest with an `Idempotency-Key` until it is answered. It makes one document, whatever became of the others. */
async function repeat(actor: Actor, asked: LostIngest, { first, send }: Repeatable): Promise<TimedOutcome> {
  const {
    arena: { ledger },
    name,
  } = actor;
  const keyed = { ...first.headers, 'idempotency-key': `${name} ${asked.key}` };
  let reply = await send({ ...first, headers: keyed });
  const { start } = reply;
  const holder = watchHolder(actor, { key: asked.key, marker: asked.content.marker });
  for (let repeats = 0; isOpen(reply) && (repeats < MAX_REPEATS || holder.isHeld()); repeats += 1) {
    await sleep(500);
    // A failure before it was stored is a record of its own.
    ledger.records(name, operationOf(asked.content)).max += 1;
    const again = await send({ headers: keyed });
    // An earlier answer still counts where nobody listens any more.
    if (again.outcome.type !== 'refused') reply = again;
    if (holder.note(again.outcome)) break;
  }
  return { ...reply, start };
}

/** Three leases. A frozen Redis lets the time of a lease pass later. */
const MAX_HELD_MS = 30_000;

/** Watches for how long a key is held: each try may take it and die with it, but for the dead it is held no longer than a lease. */
export function watchHolder(
  { arena: { history } }: Actor,
  { key, marker }: { readonly key: string; readonly marker: string },
) {
  let heldSince: number | null = null;
  return {
    isHeld: () => heldSince !== null,
    /** Notes the answer to a repeat. @returns true once the key has been held for too long */
    note: (outcome: Outcome): boolean => {
      // A request that was refused on its way has not taken the key.
      if (outcome.type === 'refused') return false;
      if (!isKeyHeld(outcome)) heldSince = null;
      else heldSince ??= performance.now();
      const isTooLong = heldSince !== null && performance.now() - heldSince > MAX_HELD_MS;
      if (isTooLong) history.violate('a key is held by the living', key, marker);
      return isTooLong;
    },
  };
}

export const isKeyHeld = (outcome: Outcome): boolean =>
  outcome.type === 'answer' && outcome.status === 409 && outcome.text.includes('still under way');

const isOpen = ({ outcome }: TimedOutcome): boolean =>
  outcome.type === 'broken' || (outcome.type === 'answer' && [409, 503].includes(outcome.status));

/**
 * Returns the patience of a caller: the time that it asks the service to wait, and waits itself; a few go away without an
 * answer.
 */
export function patience({ random }: Actor): Pick<Ask, 'headers' | 'giveUpAfter'> {
  const prefer = random.weighted({ '': 5, 'respond-async': 3, 'wait=1': 1, 'wait=0': 1 });
  return {
    headers: prefer === '' ? {} : { prefer },
    ...(random.chance(0.02) ? { giveUpAfter: random.whole(5, 400) } : {}),
  };
}

export function randomAccess({ random, others }: Actor, probability: number): Access {
  return {
    readers: others.filter(() => random.chance(probability)),
    writers: others.filter(() => random.chance(probability / 4)),
  };
}

function ingestRequest({ content, key, metadata, access }: LostIngest): Pick<Ask, 'path' | 'json' | 'form'> {
  const more = { metadata: metadataOf(key, metadata), access_control: access };
  if (content.filename === null)
    return { path: '/ingest/text', json: { content: Buffer.from(content.bytes).toString(), ...more } };
  const form = new FormData();
  form.set('metadata', JSON.stringify(more.metadata));
  form.set('access_control', JSON.stringify(more.access_control));
  form.set('file', new Blob([new Uint8Array(content.bytes)]), content.filename);
  return { path: '/ingest/file', form };
}

function take({ arena, name }: Actor, asked: LostIngest, { outcome, start, end }: TimedOutcome): void {
  const { world, history, ledger } = arena;
  const { content } = asked;
  const operation = operationOf(content);
  if (outcome.type === 'refused') {
    ledger.end(name, operation, 'refused');
    return;
  }
  if (outcome.type === 'broken' || outcome.status === 503 || isKeyHeld(outcome)) {
    world.lost.push(asked);
    return;
  }
  const { status, json, headers } = outcome;
  const isFailed = status === 400 && !content.isReadable;
  const id = isFailed ? (headers.get('location') ?? '').replace('/documents/', '') : idOf(json);
  if ((status !== 200 && status !== 202 && !isFailed) || id === null) {
    if (status === 429) ledger.end(name, operation, 'refused');
    else {
      world.lost.push(asked);
      history.violate(
        'an ingest is taken',
        `${String(status)} ${outcome.text.slice(0, 200)}`,
        content.marker,
      );
    }
    return;
  }
  const document = modelDocument(asked, { id, start, end });
  world.adopt(document);
  countIngest({ arena, name }, document, content);
  if (status === 200) ledger.successes(name, operation).min += 1;
  if (status === 200 && !content.isReadable)
    history.violate('nothing is completed without text', content.kind, id);
  if (!isFailed) observe(arena, json, { document, label: 'ingest', start, end });
}

/** Counts an ingest that was answered. It ends in one event, which names its document. */
export function countIngest(
  { arena: { ledger }, name }: Pick<Actor, 'arena' | 'name'>,
  document: ModelDocument,
  content: Content,
): void {
  ledger.records(name, operationOf(content)).min += 1;
  ledger.ingest(document.id).min += 1;
  ledger.ingest(document.id).max += 1;
}

function idOf(json: unknown): string | null {
  const parsed = documentView.safeParse(json);
  return parsed.success ? parsed.data.external_id : null;
}
