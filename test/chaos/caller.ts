import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from './arena.js';
import { ingestBatch } from './operations/batch.js';
import { useCache } from './operations/caches.js';
import { cancelOrRetry, patchAccess, patchMetadata, putContent, remove } from './operations/change.js';
import { ingest } from './operations/ingest.js';
import { listDocuments, readDocument, readUsage, retire } from './operations/read.js';
import { search } from './operations/search.js';
import { exists, type ModelDocument } from './world.js';

/** The frequency of each doing, beside the others. */
const DOINGS = {
  ingest: 14,
  batch: 5,
  put: 8,
  'patch metadata': 5,
  'patch access': 5,
  delete: 4,
  cancel: 3,
  retry: 2,
  search: 24,
  read: 14,
  list: 5,
  cache: 9,
  usage: 3,
  trespass: 4,
} as const;

/** Does one thing after the other until it is told to stop. What it does comes from its random numbers alone. */
export async function play(actor: Actor, signal: AbortSignal): Promise<void> {
  const { random } = actor;
  while (!signal.aborted) {
    await act(actor);
    await sleep(random.whole(0, 120));
  }
}

/** Documents that a caller has at most, and deleted ones that are remembered to be met again. */
const MAX = { living: 60, deleted: 20 };

/** Keeps a long run from growing: deletes the oldest document, and forgets a deleted one once it is seen to be gone. */
async function tidy(actor: Actor): Promise<void> {
  const { arena, name } = actor;
  const now = arena.history.tick();
  const isGone = (document: ModelDocument) => exists(document, { start: now, end: now }) === 'never';
  const own = arena.world.documentsOf(name);
  const gone = own.filter(isGone);
  const living = own.filter((document) => !gone.includes(document));
  const [oldest, oldestGone] = [living[0], gone[0]];
  if (oldest && living.length > MAX.living) await remove(actor, oldest);
  if (oldestGone && gone.length > MAX.deleted) await retire(actor, oldestGone);
}

async function act(actor: Actor): Promise<void> {
  const { arena, name, random } = actor;
  await tidy(actor);
  const all = [...arena.world.documents.values()];
  const own = arena.world.documentsOf(name);
  const document = pickRecent(actor, random.chance(0.8) ? own : all);
  const doing = random.weighted(DOINGS);
  switch (doing) {
    case 'search':
      return search(actor, document);
    case 'list':
      return listDocuments(actor);
    case 'cache':
      return useCache(actor);
    case 'usage':
      return readUsage(actor);
    case 'trespass':
      return trespass(
        actor,
        pickRecent(
          actor,
          all.filter(({ owner }) => owner !== name),
        ),
      );
    case 'batch':
      return ingestBatch(actor);
    case 'ingest':
      return ingest(actor);
    default:
      return document ? change(actor, document, doing) : ingest(actor);
  }
}

function change(
  actor: Actor,
  document: ModelDocument,
  doing: 'put' | 'patch metadata' | 'patch access' | 'delete' | 'cancel' | 'retry' | 'read',
): Promise<void> {
  switch (doing) {
    case 'put':
      return putContent(actor, document);
    case 'patch metadata':
      return patchMetadata(actor, document);
    case 'patch access':
      return document.owner === actor.name ? patchAccess(actor, document) : readDocument(actor, document);
    case 'delete':
      return remove(actor, document);
    case 'cancel':
    case 'retry':
      return cancelOrRetry(actor, document, doing);
    case 'read':
      return readDocument(actor, document);
  }
}

/** Tries requests that are mostly forbidden: every answer is compared with the lists of the document. */
async function trespass(actor: Actor, document: ModelDocument | undefined): Promise<void> {
  if (!document) return;
  const doing = actor.random.weighted({ read: 4, search: 3, put: 1, metadata: 1, delete: 1 });
  switch (doing) {
    case 'read':
      return readDocument(actor, document);
    case 'search':
      return search(actor, document);
    case 'put':
      return putContent(actor, document);
    case 'metadata':
      return patchMetadata(actor, document);
    case 'delete':
      return remove(actor, document);
  }
}

/** Mostly one of the newest, so that things meet. */
function pickRecent({ random }: Actor, documents: readonly ModelDocument[]): ModelDocument | undefined {
  return random.pickAny(random.chance(0.7) ? documents.slice(-5) : documents);
}
