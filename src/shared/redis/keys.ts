import { at } from '../at.js';

/**
 * Escapes the parts of keys that clients send. A part that is not the last escapes the separator. All parts escape
 * halves of surrogate pairs, which would all be the same in UTF-8, and a percent sign where the text after it
 * would make it look like an escape. Ordinary ids do not change.
 */
const LAST = /%(?=25|3A|u[\dA-F]{4})|[\uD800-\uDFFF]/gu;
const INNER = /%(?=25|3A|u[\dA-F]{4})|[:\uD800-\uDFFF]/gu;
const ESCAPED = /%(?:25|3A|u([\dA-F]{4}))/g;

const escapeInner = (part: string): string => part.replace(INNER, escapeCharacter);

const escapeLast = (part: string): string => part.replace(LAST, escapeCharacter);

function escapeCharacter(character: string): string {
  if (character === '%') return '%25';
  if (character === ':') return '%3A';
  return `%u${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

const unescapePart = (escaped: string): string =>
  escaped.replace(ESCAPED, (sequence, unit: string | undefined) => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return sequence === '%25' ? '%' : ':';
  });

/** The prefix of every Redis key of the service. All keys but those of BullMQ's queues are defined in this file. */
export const KEY_PREFIX = 'quire:';
const prefix = KEY_PREFIX;
/** The prefix of BullMQ's keys. */
export const QUEUE_PREFIX = `${prefix}queue`;

/**
 * Makes a key of a kind, which we choose, and parts, which may come from
 * clients. Different parts always make different keys.
 */
function keyOf(kind: string, ...parts: readonly [...inner: string[], last: string]): string {
  const inner = parts.slice(0, -1).map((part) => `${escapeInner(part)}:`);
  return `${prefix}${kind}:${inner.join('')}${escapeLast(at(parts, parts.length - 1))}`;
}

export const keys = {
  /** Hash: the version of this key layout and the embedding model of the data. */
  schema: `${prefix}schema`,
  /** Hash: how far a reindexing has come, while one is under way. */
  reindexing: `${prefix}reindexing`,
  /** String: the backup that is being restored into this Redis. No process may use the data until it is whole. */
  restoring: `${prefix}restoring`,
  /** Set: fields of chunk hashes with vectors that nothing uses any more. */
  garbageVectors: `${prefix}garbage:vectors`,
  /** String: the random id of this installation, which tells its objects elsewhere from objects of others. */
  installation: `${prefix}installation`,
  /** String: the random id of this data set. A mirror starts over when it changes. */
  epoch: `${prefix}epoch`,
  /** Counter: the sequence numbers of the change log. */
  sequence: `${prefix}sequence`,
  /** Sorted set: document → sequence number of its last change. Mirrors follow it. */
  changes: `${prefix}changes`,
  /** Sorted set: deleted document → time in ms, which tells when its entry may leave the change log. */
  tombstones: `${prefix}tombstones`,
  /** String: the sequence number of the newest deletion that has left the change log. */
  forgotten: `${prefix}changes:forgotten`,
  /**
   * Sorted set: document → time in ms of its last step or of the sweeper's last
   * look. The sweeper looks after these records.
   */
  unfinished: `${prefix}unfinished`,
  /**
   * Hash: document → caller (as `toMember` writes them) whose ingest of it is not
   * finished. Sorted set: caller → number of these documents.
   */
  ingests: `${prefix}ingests`,
  ingestsByCaller: `${prefix}ingests:callers`,
  /** Hashes: document → bytes of Redis that it will take while it is ingested, and document → bytes for which it waits. */
  reservedRoom: `${prefix}reserved-room`,
  waitingForRoom: `${prefix}waiting-for-room`,
  /** Sorted set: caller (as in `ingests`) → time in ms until which they count as one who waits for room. */
  callersWaitingForRoom: `${prefix}waiting-for-room:callers`,
  /**
   * Sorted set: documents that have waited for long → time in ms since which they stand in the line for a turn. Hash with a
   * short life: the document that has its turn, and the facts about the turn.
   */
  lineForRoom: `${prefix}waiting-for-room:line`,
  turnForRoom: `${prefix}waiting-for-room:turn`,
  /** String with a short life: the process that takes room back. And a string that lives until it may do so again. */
  roomLease: `${prefix}room:lease`,
  roomPause: `${prefix}room:pause`,
  /** String that lives until Redis may be asked again to write its append-only files anew. */
  rewritePause: `${prefix}room:rewrite-pause`,
  /** String with a short life: the process that sweeps. And a string that lives until the next sweep is due. */
  sweepLease: `${prefix}sweep:lease`,
  sweepPause: `${prefix}sweep:pause`,
  /** Sorted set: caller (and kind of job) → virtual time at which its last job in a lane ends. */
  turns: (lane: string) => keyOf('turns', lane),
  /** String: the virtual time of a lane. */
  virtualTime: (lane: string) => keyOf('virtual-time', lane),
  /** String: by how much a lane's jobs are being moved back; it exists while they are. */
  rebase: (lane: string) => keyOf('receding', lane),
  /** Sorted set: mirror of an exact index → Redis' time in ms when it was last heard of. */
  mirrors: `${prefix}mirrors`,
  /** Set with a short life: mirrors that have nothing left to do for a generation before it is published. */
  preparation: (generation: string) => keyOf('preparation', generation),
  /** Set: generations that searches must not answer from. */
  hidden: `${prefix}hidden`,
  /** Set: generations whose chunks are to be unlinked. */
  garbage: `${prefix}garbage`,
  /** Sorted set: source object → Redis' time in ms when it was announced. No record refers to these objects yet. */
  draftObjects: `${prefix}draft-objects`,
  /** String: the object that marks the storage of the API's source files. And a string that lives while an API announces it. */
  storageMarker: `${prefix}storage-marker`,
  storageMarkerAnnounced: `${prefix}storage-marker:announced`,
  /** Sorted set: source object → Redis' time in ms since when no record refers to it. It is removed after a grace period. */
  unreferencedObjects: `${prefix}unreferenced-objects`,
  /** Set: the same without the time, as earlier versions wrote it. */
  garbageObjects: `${prefix}garbage:objects`,
  /** The prefixes of the keys of all document records, and of all chunks. The Query Engine indexes by these. */
  documentPrefix: `${prefix}document:`,
  chunkPrefix: `${prefix}chunk:`,
  /** Hash: a document record. */
  document: (id: string) => keyOf('document', id),
  /** Hash: document, owner and batches of a generation. Chunks can be written only while it exists. */
  generation: (generation: string) => keyOf('generation', generation),
  /** Hash: vector, terms, tags and content of a chunk. */
  chunk: (generation: string, number: number) => keyOf('chunk', generation, String(number)),
  /**
   * Hash: term → number of chunks that hold it, and `chunks` and `length`, over the documents that an owner owns and
   * may read. Scripts that count for nobody get the key for null, which they leave alone.
   */
  statistics: (ownerId: string | null) => keyOf('statistics', ownerId ?? ''),
  /** List: usage events that have not been moved to counters and records yet. */
  usagePending: (userId: string) => keyOf('usage:pending', userId),
  /** List: usage records, oldest first. */
  usageRecords: (userId: string) => keyOf('usage:records', userId),
  /** Hash: operation → number of its successes. */
  usageCounters: (userId: string) => keyOf('usage:counters', userId),
  /** Set: users with pending usage events, as `toMember` writes them. */
  usageDirty: `${prefix}usage:dirty`,
  /** Hash: `operation|status` → finished operations of all users. */
  usageTotals: `${prefix}usage:totals`,
  /** String: the number of a process's last batch of usage events, and which of these were refused. */
  usageBatch: (process: string) => keyOf('usage:batch', process),
  /** Hash: sums of the measurements of workers. */
  metrics: `${prefix}metrics`,
  /** String: the number of a worker's last batch that was added to these sums. */
  metricsBatch: (worker: string) => keyOf('metrics:batch', worker),
  /** Counter with a short life: attempts at a kind of secret from an address, or from `all`. */
  guesses: (kind: string, address: string) => keyOf('guesses', kind, address),
  /** String: marks a session that was logged out, for as long as the session would have lasted. */
  endedSession: (id: string) => keyOf('ended-session', id),
  /** String with a short life, which is renewed while a worker serves the queue. */
  worker: (queue: string) => keyOf('worker', queue),
  /** Counter with a short life: requests of a caller in the present minute. */
  requests: (callerId: string) => keyOf('requests', callerId),
  /**
   * Hash: owner, callers and references of an access group. The names of these
   * keys say `audience`, the first name of groups.
   */
  accessGroup: (id: string) => keyOf('audience', id),
  /** Sorted set (of scores 0): the access groups that a caller, known by their tag, is in. */
  accessGroupsOf: (callerTag: string) => keyOf('audiences-of', callerTag),
  /** Sorted set: access group → time in ms since when no record refers to it. */
  unreferencedAccessGroups: `${prefix}unreferenced-audiences`,
  /** Hash: owner's tag → callers of the owner's groups that no record refers to. */
  accessGroupsWaiting: `${prefix}audiences-waiting`,
  /** Hash: owner's tag → number of the owner's groups, and `*` → number of all groups. */
  accessGroupOwners: `${prefix}audience-owners`,
  /** Set: the owners that have a key below. And a set of callers who ask for all groups of an owner, or of all owners (`*`). */
  accessGroupOverflows: `${prefix}audience-overflows`,
  accessGroupOverflow: (owner: string) => keyOf('audience-overflow', owner),
  /** Hash: the choices of a caller about documents that others share with them, and the name of this state of them. */
  sharing: (callerId: string) => keyOf('sharing', callerId),
  /** Hash that lives for a day: the memory of a caller's request with an `Idempotency-Key`. */
  idempotency: (callerId: string, key: string) => keyOf('idempotency', callerId, key),
  /** Hash: hour since 1970 → bytes that this caller's requests of that hour take above. */
  idempotencyBytes: (callerId: string) => keyOf('idempotency-bytes', callerId),
  /** Sorted set (of scores 0): `digest:document` for the newest content of each document of an owner. */
  contentHashes: (ownerId: string) => keyOf('content-hashes', ownerId),
  /** Hash: how far in the change log documents have got their entry above that an earlier version wrote without one. */
  contentHashesFilled: `${prefix}content-hashes-filled`,
  /** Hash: name of a source → the owner's document of it. */
  sourceIds: (ownerId: string) => keyOf('source-ids', ownerId),
  /** Hash: how far in the change log documents of an earlier version have got the filter tags of this one. */
  filterTagsRenewed: `${prefix}filter-tags-renewed:3`,
  /** Hash: the same of the version before, whose filter tags of owners and ids were those of today. */
  ownerTagsRenewed: `${prefix}filter-tags-renewed:2`,
  /** Hash: documents, bytes of sources and chunks of an owner. The same of all owners, and the refusals by quotas. */
  owned: (ownerId: string) => keyOf('owned', ownerId),
  ownedTotals: `${prefix}owned-totals`,
  /** Hash: how far in the change log documents of an earlier version have been counted above. */
  ownedCounted: `${prefix}owned-counted`,
  /** Hash: a collection. The prefix stands for the schema of its repository. */
  collectionPrefix: `${prefix}collection`,
  collection: (id: string) => keyOf('collection', id),
  /** Sorted set (of scores 0): time of creation and id of each collection whose lists name a caller. */
  collections: (callerId: string) => keyOf('collections', callerId),
  /** Set: the collections of an owner. */
  ownCollections: (ownerId: string) => keyOf('own-collections', ownerId),
  /** Sorted set: collection → time in ms at which it expires where it is not used before. */
  collectionExpiries: `${prefix}collection-expiries`,
  /** Hash: configuration and state of a named cache. */
  cache: (ownerId: string, name: string) => keyOf('cache', ownerId, name),
  /** Set: names of an owner's caches. */
  caches: (ownerId: string) => keyOf('caches', ownerId),
  /** Sorted set: cache key → time in ms when its build was asked for. The sweeper looks after these caches. */
  cachesBuilding: `${prefix}caches-building`,
  /** The share of a cache's build that is done, from 0 to 1. */
  cacheProgress: (build: string) => `${prefix}cache-progress:${build}`,
  /** Hash with a short life: a page of a generation as a picture, with a highlight, or why it cannot be rendered. */
  pagePicture: (generation: string, page: number, highlight: string | null) =>
    keyOf('page-picture', generation, String(page), highlight ?? ''),
  /** Sorted set: `bytes key` of each of these hashes → Redis' time in ms at which it expires. */
  pagePictures: `${prefix}page-pictures`,
  /** Set with a life: pages of a generation that have given way to others while they were rendered. */
  slowPages: (generation: string) => keyOf('slow-pages', generation),
  /**
   * Hash with a life: page of a generation that took too long to render → how often, and until when it is refused. Earlier
   * versions keep a set at `late-pages`.
   */
  refusedPages: (generation: string) => keyOf('refused-pages', generation),
  /** Sorted set: requests that wait for such a picture (id and caller) → Redis' time in ms until which they do. */
  pageWaits: `${prefix}page-waits`,
  /** Pub/sub channel: ids of documents, and keys of caches and pictures of pages, that have changed. */
  changed: `${prefix}changed`,
} as const;

/** Writes an id for a set, a field or a script. Different ids stay different there, and ordinary ids do not change. */
export const toMember = escapeLast;
/** Reads the id that `toMember` wrote. */
export const fromMember = unescapePart;

/** Keys of BullMQ: the sorted set of jobs that wait in a lane by priority, and the hash of a job. */
export const queueKeys = {
  prioritizedJobs: (lane: string) => `${QUEUE_PREFIX}:${lane}:prioritized`,
  job: (lane: string, id: string) => `${QUEUE_PREFIX}:${lane}:${id}`,
  /** The hash of a job that was read from its queue, which has an id then. */
  ofJob: ({ queueName, id = '' }: { readonly queueName: string; readonly id?: string | undefined }) =>
    `${QUEUE_PREFIX}:${queueName}:${id}`,
} as const;
