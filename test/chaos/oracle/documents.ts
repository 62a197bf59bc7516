import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DocumentView } from '../../../src/api/routes/document-view.js';
import type { Arena } from '../arena.js';
import { askCalmly, forEachOf } from '../calm.js';
import { markersIn, type Content } from '../contents.js';
import { observe } from '../observe.js';
import { exists, may, visibleContents, type ModelDocument } from '../world.js';

/** Compares every document that was ever acknowledged with its state when all is quiet. */
export async function checkDocuments(arena: Arena): Promise<void> {
  await forEachOf([...arena.world.documents.values()], async (document, at) => {
    const api = at % 2;
    const now = arena.history.tick();
    const isThere = exists(document, { start: now, end: now });
    const got = await askCalmly(arena, document.owner, {
      method: 'GET',
      path: `/documents/${document.id}`,
      api,
    });
    const end = arena.history.tick();
    if (got.status === 404) {
      if (isThere === 'always')
        arena.history.violate('an acknowledged document stays', 'gone when all is quiet', document.id);
      return checkGone(arena, document, api);
    }
    const view = observe(arena, got.json, { document, label: 'when all is quiet', start: now, end });
    if (view === null) return;
    const shown = checkState(arena, document, view);
    if (view.system_metadata.published_version === null) await checkUnfound(arena, document, api);
    else if (shown) await checkPublished(arena, document, { view, shown, api });
    await checkOthers(arena, document, { isFindable: view.system_metadata.published_version !== null, api });
  });
}

/** Checks that its status fits the changes that were made to it, and that it shows its newest content. */
function checkState({ history }: Arena, document: ModelDocument, view: DocumentView): Content | null {
  const now = history.tick();
  const { status, content_sha256: digest, error, published_version: published } = view.system_metadata;
  const violate = (promise: string) => {
    const told = JSON.stringify({ status, error, published, digest });
    history.violate(promise, `when all is quiet: ${told}`, document.id);
  };
  const newest = document.contents.possible(now, now);
  const wasCancelled = document.cancels.writes.some(({ outcome }) => outcome !== 'undone');
  const isExplained =
    (status === 'completed' && newest.some(({ isReadable }) => isReadable)) ||
    (status === 'failed' && newest.some(({ isReadable }) => !isReadable) && error?.code !== 'internal') ||
    (status === 'cancelled' && wasCancelled);
  if (!isExplained) violate('an acknowledged document becomes final with its newest content');
  const possible = status === 'completed' ? newest : visibleContents(document, { start: now, end: now });
  const shown = possible.find(({ sha256 }) => sha256 === digest) ?? null;
  if (!shown) violate('the newest content is the one that is shown');
  return shown;
}

const chunk = z.object({ document_id: z.string(), content: z.string(), score: z.number() });
const chunks = z.array(chunk);
const storedChunks = z.array(z.object({ content: z.string() }));

async function checkPublished(
  arena: Arena,
  document: ModelDocument,
  { view, shown, api }: { view: DocumentView; shown: Content; api: number },
): Promise<void> {
  const { owner, id, key } = document;
  const violate = (promise: string, detail: string) => {
    arena.history.violate(promise, `when all is quiet: ${detail}`, id);
  };
  const path = `/documents/${id}`;
  const download = await askCalmly(arena, owner, { method: 'GET', path: `${path}/download`, api });
  if (download.status !== 200 || createHash('sha256').update(download.bytes).digest('hex') !== shown.sha256)
    violate(
      'a source is downloaded byte for byte',
      `${String(download.status)} ${download.text.slice(0, 200)}`,
    );
  const count = view.system_metadata.chunk_count;
  const listed = await askCalmly(arena, owner, { method: 'GET', path: `${path}/chunks?limit=100`, api });
  const stored = storedChunks.parse(listed.json);
  if (stored.length !== Math.min(100, count) || count === 0 || view.chunk_ids.length !== count)
    violate('all chunks of a document are there', `${String(stored.length)} of ${String(count)}`);
  const isOwn = ({ content }: { content: string }) => markersIn(content).join() === shown.marker;
  if (!stored.every(isOwn))
    violate('chunks are of the published content', JSON.stringify(stored).slice(0, 300));
  for (const ranking of ['lexical', 'semantic', 'hybrid']) {
    const json = { query: shown.marker, k: 1000, ranking, filters: { key } };
    const found = await askCalmly(arena, owner, { method: 'POST', path: '/retrieve/chunks', json, api });
    const results = chunks.parse(found.json);
    const isWhole =
      results.length === Math.min(1000, count) &&
      results.every((each) => each.document_id === id && isOwn(each));
    if (!isWhole)
      violate(
        'what was published is found',
        `${ranking}: ${String(results.length)} of ${String(count)} chunks`,
      );
  }
  const json = { query: shown.marker, k: 1, ranking: 'lexical' };
  const best = await askCalmly(arena, owner, { method: 'POST', path: '/retrieve/chunks', json, api });
  const [first] = chunks.parse(best.json);
  if (first?.document_id !== id)
    violate('what was published is found', `without a filter: ${JSON.stringify(first)}`);
}

/** Checks that a deleted document is gone on every way to it. */
export async function checkGone(arena: Arena, document: ModelDocument, api: number): Promise<void> {
  const { owner, id } = document;
  for (const view of ['', '/status', '/chunks', '/download']) {
    const { status } = await askCalmly(arena, owner, { method: 'GET', path: `/documents/${id}${view}`, api });
    if (status !== 404)
      arena.history.violate('what was deleted is gone', `${view} answers ${String(status)}`, id);
  }
  await checkUnfound(arena, document, api);
}

async function checkUnfound(arena: Arena, document: ModelDocument, api: number): Promise<void> {
  const json = { query: 'badger', k: 10, filters: { key: document.key } };
  const found = await askCalmly(arena, document.owner, {
    method: 'POST',
    path: '/retrieve/chunks',
    json,
    api,
  });
  if (chunks.parse(found.json).length > 0)
    arena.history.violate('what is not published is not found', found.text.slice(0, 300), document.id);
}

/** Checks that the others see it just as its lists say. */
async function checkOthers(
  arena: Arena,
  document: ModelDocument,
  { isFindable, api }: { isFindable: boolean; api: number },
): Promise<void> {
  const now = arena.history.tick();
  for (const caller of arena.callers.filter((each) => each !== document.owner)) {
    const right = may('read', caller, { document, start: now, end: now });
    if (right === 'sometimes') continue;
    const path = `/documents/${document.id}`;
    const { status } = await askCalmly(arena, caller, { method: 'GET', path, api });
    const json = { query: 'badger', k: 1, filters: { key: document.key } };
    const found = await askCalmly(arena, caller, { method: 'POST', path: '/retrieve/chunks', json, api });
    const count = chunks.parse(found.json).length;
    const told = `${caller} may ${right} read: ${String(status)}, ${String(count)} found`;
    const expected = right === 'always' ? [200, isFindable ? 1 : 0] : [403, 0];
    if (status !== expected[0] || count !== expected[1])
      arena.history.violate('who may read does, and nobody else', told, document.id);
  }
}
