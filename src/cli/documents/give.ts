import { addTo } from '../../shared/at.js';
import { entityIdOf, isCallerId } from '../../shared/access/access-token.js';
import { auditChanges } from '../../shared/audit/document-changes.js';
import { givenTo } from '../../shared/collections/collection-record.js';
import { createCollectionStore } from '../../shared/collections/collection-store.js';
import { readDataSet } from '../../shared/data-set/data-set.js';
import { FIRST_VECTORS } from '../../shared/data-set/stored-vectors.js';
import { isFinal, type DocumentRecord } from '../../shared/document.js';
import { hasAttachmentWork } from '../../shared/documents/attachments/attachment-changes.js';
import { readOwned } from '../../shared/documents/counts.js';
import { quotasOf } from '../../shared/documents/records-options.js';
import { createRecords, type Records } from '../../shared/documents/records.js';
import { KnownSourceError } from '../../shared/documents/source-ids.js';
import { giveTo } from '../../shared/documents/transitions.js';
import {
  ConflictError,
  InvalidFieldError,
  MalformedRecordError,
  OverQuotaError,
  TooManyError,
} from '../../shared/errors.js';
import { createJobs, type Jobs } from '../../shared/queues/jobs.js';
import { bullConnection, createRedis, type Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { audited, type CommandLog } from '../audited.js';
import { reachOwnData } from '../redis/reach-own-data.js';
import { say, UserError } from '../user-messages.js';

export interface GiveRequest {
  readonly from: string;
  readonly to: string;
}

interface Told {
  readonly text: string;
  /** False where documents are left. */
  readonly isWhole: boolean;
}

/**
 * Gives all documents and collections of one user to another, each in one step, while the service goes on. Given documents are passed over,
 * so that the same command goes on where one was interrupted.
 * @throws UserError
 */
export async function give(request: GiveRequest, env: Environment, signal: AbortSignal): Promise<Told> {
  const { from, to } = request;
  for (const [option, name] of [
    ['--from', from],
    ['--to', to],
  ] as const)
    if (!isCallerId(name))
      throw new UserError(`${option} ${name}: allowed: the name of a user, 1 to 256 characters`);
  if (from === to)
    throw new UserError(`${from} has these documents already: --from and --to are the same user.`);
  const settings = loadSettings(env, []);
  const work = async (log: CommandLog) => {
    const { url, stop } = await reachOwnData(settings, env);
    try {
      return await giveAt(url, request, { settings, log, signal });
    } finally {
      await stop();
    }
  };
  return audited('command.give', settings, work, { user: to, from });
}

interface Giving {
  readonly settings: Settings;
  readonly log: CommandLog;
  readonly signal: AbortSignal;
}

async function giveAt(url: string, request: GiveRequest, { settings, log, signal }: Giving): Promise<Told> {
  // The library reports each attempt to connect again, and each command that fails says why.
  const onError = () => undefined;
  const redis = createRedis(url, { failFast: true, onError });
  await redis.connect();
  const jobs = createJobs({ connection: bullConnection(url, { failFast: true }), redis, onError });
  try {
    if (!(await readDataSet(redis))) throw new UserError('This Redis holds no data of Quire.');
    await requireKnown(redis, request);
    const onChange = auditChanges(log);
    const records = createRecords(redis, FIRST_VECTORS, { quotas: quotasOf(settings), onChange });
    const outcome = await giveAll({ redis, records, jobs, log, signal }, request);
    await giveCollections({ redis, signal }, request, outcome);
    return tell(outcome, (await readOwned(redis, request.from)).documents, request);
  } finally {
    await jobs.close();
    redis.destroy();
  }
}

/** Refuses misspelt names, as far as they can be told: users are not registered anywhere. */
async function requireKnown(redis: Redis, { from, to }: GiveRequest): Promise<void> {
  if (!(await isKnown(redis, from)))
    throw new UserError(`--from ${from}: nobody of this name has used this service.`);
  const ofTokens = entityIdOf(to);
  if (ofTokens === to || (await isKnown(redis, to))) return;
  const advice = ofTokens === null ? '' : ` npx quire token --name makes tokens for ${ofTokens}.`;
  throw new UserError(`--to ${to}: nobody of this name has used this service.${advice}`);
}

/** Tells whether somebody has documents or caches here, or has ever done anything that counts as usage. */
async function isKnown(redis: Redis, id: string): Promise<boolean> {
  const ofUsage = [keys.usageCounters(id), keys.usageRecords(id), keys.usagePending(id)];
  return (
    (await redis.exists([
      keys.owned(id),
      keys.contentHashes(id),
      keys.caches(id),
      keys.ownCollections(id),
      ...ofUsage,
    ])) > 0
  );
}

interface Parts {
  readonly redis: Redis;
  readonly records: Records;
  readonly jobs: Pick<Jobs, 'addRetag'>;
  readonly log: CommandLog;
  readonly signal: AbortSignal;
}

/** The result of one run, and the reason of each document that stays. */
interface Outcome {
  given: number;
  collections: number;
  /** Why collections stay; null where all are given. */
  stayingCollections: string | null;
  readonly stays: Map<string, string>;
}

const PAGE = 200;
const AT_ONCE = 8;
const TELL_MILLISECONDS = 10_000;
/** Whoever ingests all the time would have a run go on for ever. */
const MAX_PASSES = 5;

/**
 * Follows the change log, in which every document is, to where it ends at that time. Documents that come or change meanwhile
 * are behind that: they are looked for as long as a pass finds any.
 */
async function giveAll(parts: Parts, request: GiveRequest): Promise<Outcome> {
  const outcome: Outcome = { given: 0, collections: 0, stayingCollections: null, stays: new Map() };
  const found = () => outcome.given + outcome.stays.size;
  let last = 0;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const before = found();
    const end = Number((await parts.redis.get(keys.sequence)) ?? 0);
    await giveBetween(parts, { ...request, last, end }, outcome);
    last = end;
    if (found() === before) break;
  }
  return outcome;
}

async function giveCollections(
  { redis, signal }: Pick<Parts, 'redis' | 'signal'>,
  { from, to }: GiveRequest,
  outcome: Outcome,
): Promise<void> {
  const store = createCollectionStore(redis);
  try {
    for (const id of await store.ownedBy(from)) {
      signal.throwIfAborted();
      const record = await store.update(id, (now) => (now.ownerId === from ? givenTo(now, to) : null));
      if (record?.ownerId === to) outcome.collections += 1;
    }
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    outcome.stayingCollections = error.message;
  }
}

interface Stretch extends GiveRequest {
  /** The places in the change log behind which it begins, and at which it ends. */
  readonly last: number;
  readonly end: number;
}

async function giveBetween(parts: Parts, stretch: Stretch, outcome: Outcome): Promise<void> {
  const { redis, log, signal } = parts;
  const { from, to, end } = stretch;
  let toldAt = Date.now();
  for (let { last } = stretch; ;) {
    const page = await redis.zRangeWithScores(keys.changes, `(${String(last)}`, end, {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: PAGE },
    });
    const ids = page.map(({ value }) => value);
    const own = await ownedBy(redis, from, ids);
    for (let first = 0; first < own.length; first += AT_ONCE) {
      signal.throwIfAborted();
      const some = own.slice(first, first + AT_ONCE);
      await Promise.all(some.map((id) => giveOne(parts, { id, from, to }, outcome)));
      await log.flush();
    }
    const read = page.at(-1);
    if (!read) return;
    last = read.score;
    if (Date.now() - toldAt < TELL_MILLISECONDS) continue;
    toldAt = Date.now();
    say(`${String(outcome.given)} documents so far`);
  }
}

/** The documents of these that a user owns. */
async function ownedBy(redis: Redis, ownerId: string, ids: readonly string[]): Promise<string[]> {
  const owners = await Promise.all(ids.map((id) => redis.hGet(keys.document(id), 'ownerId')));
  return ids.filter((_, i) => owners[i] === JSON.stringify(ownerId));
}

const BUSY = 'still being ingested, or with attachments that are; run the command again later';

async function giveOne(
  { records, jobs }: Parts,
  { id, from, to }: GiveRequest & { readonly id: string },
  outcome: Outcome,
): Promise<void> {
  try {
    const seen = { isBusy: false };
    const { record, changed } = await records.update(id, (now) => {
      seen.isBusy = now.ownerId === from && !isAtRest(now);
      return now.ownerId !== from || seen.isBusy ? null : giveTo(now, to);
    });
    if (seen.isBusy) outcome.stays.set(id, BUSY);
    if (!record || !changed) return;
    outcome.given += 1;
    outcome.stays.delete(id);
    // The record says that this is to be done: where this process ends before, the sweep adds the job.
    await jobs.addRetag(id, record.retag, { callerId: to, requestId: 'give' });
  } catch (error) {
    const isReason = [
      InvalidFieldError,
      KnownSourceError,
      MalformedRecordError,
      OverQuotaError,
      TooManyError,
    ].some((each) => error instanceof each);
    if (!isReason || !(error instanceof Error)) throw error;
    outcome.stays.set(id, error.message);
  }
}

/** Tells whether nobody works on a document on behalf of its owner, or of who has asked for it. */
const isAtRest = (record: DocumentRecord): boolean =>
  isFinal(record) && !hasAttachmentWork(record) && !record.accessChange;

const LATER = 'added or changed meanwhile; run the command again';

/** @param left the number of documents that the user still has */
function tell(outcome: Outcome, left: number, { from, to }: GiveRequest): Told {
  const { given, collections, stayingCollections, stays } = outcome;
  const reasons = new Map<string, number>();
  for (const reason of stays.values()) addTo(reasons, reason);
  if (left > stays.size) addTo(reasons, LATER, left - stays.size);
  const documents = (count: number) => (count === 1 ? '1 document' : `${String(count)} documents`);
  const areNone = given + collections === 0 && stayingCollections === null;
  if (areNone && reasons.size === 0) return { text: `${from} has no documents to give.`, isWhole: true };
  const ofCollections = collections === 1 ? '1 collection' : `${String(collections)} collections`;
  const lines = [
    `${documents(given)} of ${from} now ${given === 1 ? 'belongs' : 'belong'} to ${to}.`,
    ...(collections > 0
      ? [`${ofCollections} of ${from} now ${collections === 1 ? 'belongs' : 'belong'} to ${to}.`]
      : []),
    ...(stayingCollections === null ? [] : [`Collections of ${from} stay: ${stayingCollections}.`]),
    ...Array.from(
      reasons,
      ([reason, count]) => `${documents(count)} of ${from} ${count === 1 ? 'stays' : 'stay'}: ${reason}.`,
    ),
  ];
  return { text: lines.join('\n'), isWhole: reasons.size === 0 && stayingCollections === null };
}
