import { ask, type Actor, type Ask, type TimedOutcome } from '../arena.js';
import { makeContent, type Content } from '../contents.js';
import { observe } from '../observe.js';
import type { Write } from '../register.js';
import { exists, may, type ModelDocument } from '../world.js';
import { countIngest, metadataOf, operationOf, patience, randomAccess } from './ingest.js';

export async function putContent(actor: Actor, document: ModelDocument): Promise<void> {
  const { arena, name, random } = actor;
  const content = makeContent(random, arena.world.nextMarker());
  arena.world.introduce(content, document);
  const operation = operationOf(content);
  arena.ledger.begin(name, operation);
  arena.ledger.ingest(document.id).max += 1;
  const request = { ...putRequest(content), ...patience(actor) };
  const label = `PUT ${content.kind} ${content.marker}`;
  const write = arena.history.tick();
  const entered = document.contents.begin(content, write);
  const asked = await ask(actor, {
    method: 'PUT',
    path: `${pathOf(document)}/content`,
    label,
    about: document.id,
    ...request,
  });
  const status = settle(actor, document, { write: entered, asked, label, right: 'write' });
  if (status === 'done') {
    arena.ledger.ingest(document.id).max -= 1;
    countIngest(actor, document, content);
  } else if (status === 'undone') {
    arena.ledger.end(name, operation, 'refused');
    arena.ledger.ingest(document.id).max -= 1;
  }
}

function putRequest(content: Content): Pick<Ask, 'json' | 'form'> {
  if (content.filename === null) return { json: { content: Buffer.from(content.bytes).toString() } };
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(content.bytes)]), content.filename);
  return { form };
}

export async function patchMetadata(actor: Actor, document: ModelDocument): Promise<void> {
  const metadata = actor.random.whole(1_000, 999_999);
  const label = `PATCH metadata n=${String(metadata)}`;
  const write = document.metadata.begin(metadata, actor.arena.history.tick());
  const json = { metadata: metadataOf(document.key, metadata) };
  await patch(actor, document, { label, json, write });
}

/** Only its owner does that, who stays an admin. */
export async function patchAccess(actor: Actor, document: ModelDocument): Promise<void> {
  const access = randomAccess(actor, 0.4);
  const { owner } = document;
  const label = `PATCH access readers ${access.readers.join()} writers ${access.writers.join()}`;
  const write = document.access.begin(access, actor.arena.history.tick());
  const lists = { readers: [owner, ...access.readers], writers: [owner, ...access.writers] };
  await patch(actor, document, { label, json: { access_control: lists }, write });
}

async function patch<Value>(
  actor: Actor,
  document: ModelDocument,
  { label, json, write }: { label: string; json: unknown; write: Write<Value> },
): Promise<void> {
  const request = { method: 'PATCH', path: pathOf(document), about: document.id, ...patience(actor) };
  const asked = await ask(actor, { ...request, label, json });
  settle(actor, document, { write, asked, label, right: 'write' });
}

export async function remove(actor: Actor, document: ModelDocument): Promise<void> {
  const label = 'DELETE';
  const write = document.removal.begin(true, actor.arena.history.tick());
  const asked = await ask(actor, { method: 'DELETE', path: pathOf(document), label, about: document.id });
  settle(actor, document, { write, asked, label, right: 'write' });
}

export async function cancelOrRetry(
  actor: Actor,
  document: ModelDocument,
  which: 'cancel' | 'retry',
): Promise<void> {
  const { arena } = actor;
  const register = which === 'cancel' ? document.cancels : document.retries;
  const write = register.begin(true, arena.history.tick());
  // Its answer does not tell whether it began anything, nor which of the operations it is.
  if (which === 'retry') arena.ledger.ingest(document.id).max += 1;
  for (const operation of which === 'retry' ? ['ingest_text', 'ingest_file'] : [])
    arena.ledger.begin(actor.name, operation);
  const path = `${pathOf(document)}/${which}`;
  const request = { method: 'POST', path, about: document.id, label: which, ...patience(actor) };
  const asked = await ask(actor, request);
  settle(actor, document, { write, asked, label: which, right: 'write' });
}

const pathOf = ({ id }: ModelDocument) => `/documents/${id}`;

interface Settling<Value> {
  readonly write: Write<Value>;
  readonly asked: TimedOutcome;
  readonly label: string;
  readonly right: 'read' | 'write';
}

/** Enters the outcome of a change into the model, and compares the answer with the outcomes that are possible. */
function settle<Value>(
  { arena, name }: Actor,
  document: ModelDocument,
  { write, asked: { outcome, start, end }, label, right }: Settling<Value>,
): Write<Value>['outcome'] {
  const { history } = arena;
  const span = { start, end };
  if (outcome.type === 'broken') {
    void outcome.over.then(() => {
      write.end = history.tick();
    });
    return 'unknown';
  }
  write.end = end;
  if (outcome.type === 'refused') return (write.outcome = 'undone');
  const { status, json, text } = outcome;
  const violate = (promise: string) => {
    history.violate(promise, `${name} ${label}: ${String(status)} ${text.slice(0, 200)}`, document.id);
  };
  const allowed = may(right, name, { document, ...span });
  if (isTaken(document, { status, label, end })) {
    write.outcome = 'done';
    if (allowed === 'never') violate('who may not write changes nothing');
    if (label !== 'DELETE' && exists(document, span) === 'never')
      violate('what was deleted is not seen again');
    if ((status === 200 || status === 202) && label !== 'DELETE')
      observe(arena, json, { document, label, start, end });
    return 'done';
  }
  if (status === 503) return 'unknown';
  // Deleted meanwhile, it may have been changed before; that changes nothing any more.
  write.outcome = 'undone';
  if (status === 404 && exists(document, span) === 'always') violate('an acknowledged document stays');
  if (status === 403 && allowed === 'always') violate('who may write can');
  if (![403, 404, 429].includes(status)) violate('a change is taken or refused for a reason');
  if (status === 404 && label !== 'DELETE') write.outcome = 'unknown';
  return write.outcome;
}

/**
 * Tells whether a change was taken. A PUT also answers with the state of the newest content, even if another caller has put
 * that.
 */
function isTaken(
  document: ModelDocument,
  { status, label, end }: { status: number; label: string; end: number },
): boolean {
  if (status === 200 || status === 202) return true;
  if (!label.startsWith('PUT')) return false;
  const isUnreadable = document.contents.writes.some(({ value, start }) => !value.isReadable && start < end);
  const isCancelled = document.cancels.writes.some((each) => each.outcome !== 'undone' && each.start < end);
  return (status === 400 && isUnreadable) || (status === 409 && isCancelled);
}
