import { at } from '../at.js';
import { escapeInner, escapeLast, unescapePart } from './key-parts.js';

/** Every Redis key of the service (BullMQ's queues aside), in one place. */
const prefix = 'quire:';
/** What BullMQ's keys begin with. */
export const QUEUE_PREFIX = `${prefix}queue`;

/** A key of a kind; `kind` is ours, its parts may be what clients send. No two lists of parts make the same key. */
function keyOf(kind: string, ...parts: readonly [...inner: string[], last: string]): string {
  const inner = parts.slice(0, -1).map((part) => `${escapeInner(part)}:`);
  return `${prefix}${kind}:${inner.join('')}${escapeLast(at(parts, parts.length - 1))}`;
}

export const keys = {
  /** Hash: version of this key layout and the embedding model of the data. */
  schema: `${prefix}schema`,
  /** Hash: how far a reindexing has come, while there is one. */
  reindexing: `${prefix}reindexing`,
  /** Set of fields of chunk hashes with vectors that nothing uses any more. */
  garbageVectors: `${prefix}garbage:vectors`,
  /** String: random id of this data set; a mirror that sees it change starts over. */
  epoch: `${prefix}epoch`,
  /** Counter: sequence numbers of the change log. */
  sequence: `${prefix}sequence`,
  /** Sorted set document → sequence of its last change: what mirrors follow. */
  changes: `${prefix}changes`,
  /** Sorted set deleted document → time in ms: when its entry may leave the change log. */
  tombstones: `${prefix}tombstones`,
  /** Sorted set document → time in ms of its last step, or of the sweeper's last look: records it looks after. */
  unfinished: `${prefix}unfinished`,
  /** Hash document → caller (as `toMember` writes them) whose ingest of it is not finished; and sorted set caller → how many those are. */
  ingests: `${prefix}ingests`,
  ingestsByCaller: `${prefix}ingests:callers`,
  /** Bytes that long documents being ingested will take, by document. */
  reservedRoom: `${prefix}reserved-room`,
  /** String with a short life: which process sweeps; and one that lives until the next sweep is due. */
  sweepLease: `${prefix}sweep:lease`,
  sweepPause: `${prefix}sweep:pause`,
  /** Sorted set caller (and kind of job) → virtual time at which its last job in a lane ends. */
  turns: (lane: string) => keyOf('turns', lane),
  /** String: virtual time of a lane; and what its waiting jobs are being taken back by, while they are. */
  virtualTime: (lane: string) => keyOf('virtual-time', lane),
  receding: (lane: string) => keyOf('receding', lane),
  /** Set of generations that searches must not answer from. */
  hidden: `${prefix}hidden`,
  /** Set of generations whose chunks are to be unlinked. */
  garbage: `${prefix}garbage`,
  /** Sorted set source object → Redis' time in ms it was announced: bytes that no record refers to yet. */
  draftObjects: `${prefix}draft-objects`,
  /** String: object that shows which storage the API keeps source files in; and one that lives while an API says so. */
  storageMarker: `${prefix}storage-marker`,
  storageMarkerAnnounced: `${prefix}storage-marker:announced`,
  /** Sorted set source object → Redis' time in ms since when no record refers to it: removed after a grace. */
  unreferencedObjects: `${prefix}unreferenced-objects`,
  /** Set of the same, without the time, as versions before wrote it. */
  garbageObjects: `${prefix}garbage:objects`,
  /** What the keys of all document records begin with, and those of all chunks: an engine indexes by it. */
  documentPrefix: `${prefix}document:`,
  chunkPrefix: `${prefix}chunk:`,
  /** Hash: the document record. */
  document: (id: string) => keyOf('document', id),
  /** Hash: document, owner and batches of a generation; writing chunks needs it to exist. */
  generation: (generation: string) => keyOf('generation', generation),
  /** Hash: vector, terms, tags, content of a chunk. */
  chunk: (generation: string, number: number) => keyOf('chunk', generation, String(number)),
  /**
   * Hash term → chunks that hold it, and `chunks`, `length`: over what the owner owns and may read. Scripts are given
   * that of nobody (null) where they count for nobody, and leave it alone.
   */
  statistics: (ownerId: string | null) => keyOf('statistics', ownerId ?? ''),
  /** List of usage events not yet moved to counters and records. */
  usagePending: (userId: string) => keyOf('usage:pending', userId),
  /** List of usage records, oldest first. */
  usageRecords: (userId: string) => keyOf('usage:records', userId),
  /** Hash operation → count of its successes. */
  usageCounters: (userId: string) => keyOf('usage:counters', userId),
  /** Set of users with pending usage events, as `toMember` writes them. */
  usageDirty: `${prefix}usage:dirty`,
  /** Hash `operation|status` → finished operations of all users. */
  usageTotals: `${prefix}usage:totals`,
  /** Hash: sums of what workers measured. */
  metrics: `${prefix}metrics`,
  /** String: number of the last batch of a worker that was added to them. */
  metricsBatch: (worker: string) => keyOf('metrics:batch', worker),
  /** Counter with a short life: tries at a kind of secret from an address, or from `all`. */
  guesses: (kind: string, address: string) => keyOf('guesses', kind, address),
  /** String that lives as long as the session would have: it was logged out. */
  endedSession: (id: string) => keyOf('ended-session', id),
  /** String with a short life, renewed while a worker serves the queue. */
  worker: (queue: string) => keyOf('worker', queue),
  /** Counter with a short life: requests of a caller in the running minute. */
  requests: (callerId: string) => keyOf('requests', callerId),
  /** Hash: owner, callers and references of an access group. Names of keys say `audience`, as they did at first. */
  accessGroup: (id: string) => keyOf('audience', id),
  /** Sorted set (of scores 0) of the access groups that a caller, known by their token, is in. */
  accessGroupsOf: (callerToken: string) => keyOf('audiences-of', callerToken),
  /** Sorted set access group → time in ms since when no record refers to it. */
  unreferencedAccessGroups: `${prefix}unreferenced-audiences`,
  /** Hash owner's token → callers of their access groups that no record refers to. */
  accessGroupsWaiting: `${prefix}audiences-waiting`,
  /** Hash owner's token → their access groups, and `*` → those of all. */
  accessGroupOwners: `${prefix}audience-owners`,
  /** Set of the owners below; and of callers who ask for all access groups of an owner, or of all (`*`). */
  accessGroupOverflows: `${prefix}audience-overflows`,
  accessGroupOverflow: (owner: string) => keyOf('audience-overflow', owner),
  /** Hash: configuration and state of a named cache. */
  cache: (ownerId: string, name: string) => keyOf('cache', ownerId, name),
  /** Set of names of an owner's caches. */
  caches: (ownerId: string) => keyOf('caches', ownerId),
  /** Sorted set cache key → time in ms its build was asked for: what the sweeper looks after. */
  cachesBuilding: `${prefix}caches-building`,
  /** Pub/sub channel: ids of documents and keys of caches that changed. */
  changed: `${prefix}changed`,
} as const;

/** An id as a set, a field or a script holds it: no two ids are the same there, and ordinary ones stay as they are. */
export const toMember = escapeLast;
/** The id that `toMember` wrote. */
export const fromMember = unescapePart;

/** BullMQ's own: the sorted set of jobs that wait in a lane by priority, and the hash of a job. */
export const queueKeys = {
  prioritizedJobs: (lane: string) => `${QUEUE_PREFIX}:${lane}:prioritized`,
  job: (lane: string, id: string) => `${QUEUE_PREFIX}:${lane}:${id}`,
} as const;
