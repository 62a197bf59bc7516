import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ask, type Actor, type TimedOutcome } from '../arena.js';
import { observe } from '../observe.js';
import { unsureReads } from '../unsure-reads.js';
import { exists, may, visibleContents, type ModelDocument } from '../world.js';

type View = 'get' | 'status' | 'chunks' | 'download' | 'link';

export async function readDocument(actor: Actor, document: ModelDocument): Promise<void> {
  const view = actor.random.weighted({ get: 4, status: 1, chunks: 2, download: 2, link: 1 });
  if (view === 'link') return followLink(actor, document);
  const path = `/documents/${document.id}${view === 'get' ? '' : `/${view}`}`;
  const asked = await ask(actor, { method: 'GET', path, label: view, about: document.id });
  checkRead(actor, document, { view, asked });
}

/** Looks for a deleted document a last time; if it turns up later, its words and its id tell. */
export async function retire(actor: Actor, document: ModelDocument): Promise<void> {
  const path = `/documents/${document.id}`;
  const asked = await ask(actor, { method: 'GET', path, label: 'get', about: document.id });
  checkRead(actor, document, { view: 'get', asked });
  if (asked.outcome.type === 'answer' && [200, 404].includes(asked.outcome.status))
    actor.arena.world.retire(document);
}

/**
 * Follows the address in a search result, which is good for everybody who has it, as long as the caller it was made for may
 * read.
 */
async function followLink(actor: Actor, document: ModelDocument): Promise<void> {
  const { arena, name } = actor;
  const json = { query: 'badger', k: 1, filters: { key: document.key } };
  arena.ledger.begin(name, 'retrieve_chunks');
  const found = await ask(actor, {
    method: 'POST',
    path: '/retrieve/chunks',
    json,
    label: 'search for a link',
    about: document.id,
  });
  if (found.outcome.type === 'refused') arena.ledger.end(name, 'retrieve_chunks', 'refused');
  if (found.outcome.type !== 'answer' || found.outcome.status !== 200) return;
  arena.ledger.end(name, 'retrieve_chunks', 'success');
  arena.ledger.read(name, 'retrieve_chunks', found.api);
  const [hit] = z.array(z.object({ download_url: z.string().nullable() })).parse(found.outcome.json);
  if (hit?.download_url == null) return;
  const { pathname, search } = new URL(hit.download_url);
  const asked = await ask(actor, {
    method: 'GET',
    path: pathname + search,
    label: 'link',
    about: document.id,
  });
  checkRead(actor, document, { view: 'link', asked });
}

function checkRead(
  { arena, name }: Actor,
  document: ModelDocument,
  { view, asked: { outcome, start, end } }: { view: View; asked: TimedOutcome },
): void {
  if (outcome.type !== 'answer' || outcome.status === 503 || outcome.status === 429) return;
  const { status, json, bytes, text } = outcome;
  const span = { start, end };
  const violate = (promise: string) => {
    arena.history.violate(promise, `${name} ${view}: ${String(status)} ${text.slice(0, 200)}`, document.id);
  };
  const [isThere, allowed] = [exists(document, span), may('read', name, { document, ...span })];
  if (status === 404 && isThere === 'always') violate('an acknowledged document stays');
  else if (status === 403 && allowed === 'always') violate('who may read can');
  else if (status === 200 && isThere === 'never') violate('what was deleted is not seen again');
  else if (status === 200 && allowed === 'never') violate('nobody sees anything foreign');
  else if (![200, 403, 404].includes(status)) violate('a document is shown or refused for a reason');
  if (status !== 200) return;
  if (view === 'get') observe(arena, json, { document, label: view, ...span });
  if ((view === 'download' || view === 'link') && !isSource(document, bytes, span))
    violate('a source is downloaded byte for byte');
}

function isSource(document: ModelDocument, bytes: Uint8Array, span: { start: number; end: number }): boolean {
  const digest = createHash('sha256').update(bytes).digest('hex');
  return visibleContents(document, span).some(({ sha256 }) => sha256 === digest);
}

const listed = z.array(z.object({ external_id: z.string() }));

export async function listDocuments(actor: Actor): Promise<void> {
  const { arena, name, random } = actor;
  const filters = random.chance(0.5) ? { group: `g${String(random.whole(0, 3))}` } : null;
  const [skip, limit] = [random.whole(0, 60), random.whole(1, 100)];
  const query = new URLSearchParams({
    skip: String(skip),
    limit: String(limit),
    ...(filters ? { filters: JSON.stringify(filters) } : {}),
  });
  const label = `list ${query.toString()}`;
  const { outcome, start, end } = await ask(actor, {
    method: 'GET',
    path: `/documents?${query.toString()}`,
    label,
    about: null,
  });
  if (outcome.type !== 'answer' || outcome.status === 503 || outcome.status === 429) return;
  const parsed = listed.safeParse(outcome.json);
  if (outcome.status !== 200 || !parsed.success) {
    arena.history.violate('a list is answered', `${name} ${label}: ${outcome.text.slice(0, 200)}`);
    return;
  }
  if (parsed.data.length > limit) arena.history.violate('at most limit documents come', label);
  // @NOTE the same items, once as their ids and once whole.
  const items = outcome.json as readonly unknown[];
  parsed.data.forEach(({ external_id: id }, i) => {
    if (arena.world.retired.has(id))
      arena.history.violate('what was deleted is not seen again', `${name} ${label}`, id);
    const document = arena.world.documents.get(id);
    if (!document) return;
    if (may('read', name, { document, start, end }) === 'never')
      arena.history.violate('nobody sees anything foreign', `${name} ${label}`, id);
    const view = observe(arena, items[i], { document, label, start, end });
    if (filters && view && view.metadata['group'] !== filters.group)
      arena.history.violate(
        'a filter is never widened',
        `${name} ${label}: ${JSON.stringify(view.metadata)}`,
        id,
      );
  });
}

const counts = z.record(z.string(), z.number());

/** Reads the usage. Answered requests are counted already, unless there was trouble, and nothing else is. */
export async function readUsage(actor: Actor): Promise<void> {
  const { arena, name } = actor;
  const operations = [
    'retrieve_chunks',
    'retrieve_docs',
    'query',
    'ingest_text',
    'ingest_file',
    'query_cache',
  ];
  const askedAt = performance.now();
  const before = operations.map((each) => arena.ledger.successes(name, each).min);
  const { outcome } = await ask(actor, { method: 'GET', path: '/usage/stats', label: 'stats', about: null });
  if (outcome.type !== 'answer' || outcome.status !== 200) return;
  const stats = counts.parse(outcome.json);
  operations.forEach((operation, i) => {
    const unsure = unsureReads(arena, { caller: name, operation, askedAt });
    const [min, count, max] = [
      (before[i] ?? 0) - unsure,
      stats[operation] ?? 0,
      arena.ledger.successes(name, operation).max,
    ];
    if (count < min || count > max)
      arena.history.violate(
        'usage counts what was answered, once',
        `${name} ${operation}: ${String(count)}, not ${String(min)} to ${String(max)}`,
      );
  });
}
