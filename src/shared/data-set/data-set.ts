import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { IncompatibleDataError, UnavailableError } from '../errors.js';
import { unlessRefused, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { ANALYSIS_VERSION } from '../text/analysis/version.js';
import { repeat } from '../tools/repeat.js';
import { FIRST_VECTORS, vectorTypeSchema, type VectorSet, type VectorType } from './stored-vectors.js';

const KEY_SCHEMA_VERSION = '2';

const schemaSchema = z.object({
  version: z.string(),
  model: z.string(),
  /** Data of the first release has neither of these two fields. */
  vectorField: z.string().default(FIRST_VECTORS.field),
  vectorType: vectorTypeSchema.default(FIRST_VECTORS.type),
  dimensions: z.coerce.number().int().optional(),
  /** The version of analysis. Data from before there were versions has the first. */
  analysis: z.string().default('1'),
  /** The Query Engine's index that serves; absent before there is one. */
  index: z.string().optional(),
});

/** The model and the vectors that the data in Redis was made with. */
export interface DataSet {
  readonly model: string;
  readonly vectors: VectorSet;
  /** Version of the analysis that made the terms of its chunks, see `ANALYSIS_VERSION`. */
  readonly analysis: string;
  /** Length of the vectors; null before the first one is there. */
  readonly dimensions: number | null;
  readonly index: string | null;
}

/** The data that the settings expect. */
export interface WantedData {
  readonly model: string;
  readonly vectorType: VectorType;
}

/** @throws IncompatibleDataError for data of another key layout, and for data that is not restored to its end */
export async function readDataSet(redis: Redis): Promise<DataSet | null> {
  const restoring = await redis.get(keys.restoring);
  if (restoring !== null)
    throw new IncompatibleDataError(
      `the restore of ${restoring} has not come to its end: run \`npx quire restore\` again, or empty this Redis.`,
    );
  const found = await redis.hGetAll(keys.schema);
  if (found['version'] === undefined) return null;
  const { version, model, vectorField, vectorType, dimensions, analysis, index } = schemaSchema.parse({
    ...found,
  });
  if (version !== KEY_SCHEMA_VERSION) {
    throw new IncompatibleDataError(
      `the data in Redis has key layout ${version}; this program reads ${KEY_SCHEMA_VERSION}`,
    );
  }
  return {
    model,
    vectors: { field: vectorField, type: vectorType },
    analysis,
    dimensions: dimensions ?? null,
    index: index ?? null,
  };
}

/**
 * Marks an empty data set with this key layout and model.
 * @throws IncompatibleDataError when the data was made by another layout or model
 */
export async function openDataSet(redis: Redis, { model, vectorType }: WantedData): Promise<DataSet> {
  const isEmpty = (await redis.exists(keys.changes)) === 0;
  if (isEmpty) {
    const marked = await redis.hGetAll(keys.schema);
    const mark = { version: KEY_SCHEMA_VERSION, model, vectorType, analysis: ANALYSIS_VERSION };
    const isOurs = Object.entries(mark).every(([name, value]) => marked[name] === value);
    if (!isOurs) await redis.multi().del(keys.schema).hSet(keys.schema, mark).exec();
  }
  // EXISTS comes first, since a process that removes things must be able to start on a full Redis.
  if ((await redis.exists(keys.epoch)) === 0) await redis.set(keys.epoch, randomUUID(), { condition: 'NX' });
  const found = await readDataSet(redis);
  if (!found) throw new IncompatibleDataError('the data in Redis does not say what key layout it has');
  // It comes before the model, since the builtin model has a new name with each analysis, which no setting brings back.
  if (found.analysis !== ANALYSIS_VERSION) {
    throw new IncompatibleDataError(
      `the words of the data were made by version ${found.analysis} of the analysis; this program searches with version ` +
        `${ANALYSIS_VERSION}: make them anew with \`npx quire reindex\`.`,
    );
  }
  if (found.model !== model) {
    throw new IncompatibleDataError(
      `the data was embedded with ${found.model}, but the settings name ${model} ` +
        '(embedder, embedding.model, .dimensions, .provider, .options). Vectors of two models cannot be compared: ' +
        'set the first again, or embed the data anew with `npx quire reindex`.',
    );
  }
  if (found.vectors.type !== vectorType) {
    throw new IncompatibleDataError(
      `the data has vectors of ${found.vectors.type}, but the settings name ${vectorType} (embedding.vector_type): ` +
        'set the first again, or convert the data with `npx quire reindex`.',
    );
  }
  return found;
}

/** Marks data that has lost its mark (FLUSHALL) with the data set of the running processes. */
async function markAgain(
  redis: Redis,
  { model, vectors }: Pick<DataSet, 'model' | 'vectors'>,
): Promise<void> {
  const marks = Object.entries({
    model,
    analysis: ANALYSIS_VERSION,
    vectorField: vectors.field,
    vectorType: vectors.type,
  });
  for (const [name, value] of marks) await redis.hSetNX(keys.schema, name, value);
  await redis.set(keys.epoch, randomUUID(), { condition: 'NX' });
  // The version is written last, because the mark is complete with it.
  await redis.hSetNX(keys.schema, 'version', KEY_SCHEMA_VERSION);
}

/**
 * Registers the Query Engine's index over `vectors` that is to serve.
 * @throws IncompatibleDataError when another index serves
 */
export async function claimIndex(redis: Redis, name: string, vectors: VectorSet): Promise<void> {
  const data = await readDataSet(redis);
  if (data && data.vectors.field !== vectors.field) {
    throw new IncompatibleDataError('the data was reindexed: this process must start again');
  }
  let serving = await redis.hGet(keys.schema, 'index');
  if (serving === null) {
    await redis.hSetNX(keys.schema, 'index', name);
    serving = await redis.hGet(keys.schema, 'index');
  }
  if (serving !== name) {
    throw new IncompatibleDataError(
      `the data is served by the index ${serving ?? 'unknown'}, but the settings ask for ${name} (query_engine.*): ` +
        'set the first again, or build the other with `npx quire reindex`.',
    );
  }
}

/** @throws UnavailableError when the data has vectors of another length, because the provider has changed its model */
export async function checkDimensions(redis: Redis, dimensions: number): Promise<void> {
  await redis.hSetNX(keys.schema, 'dimensions', String(dimensions));
  const known = Number(await redis.hGet(keys.schema, 'dimensions'));
  if (known !== dimensions) {
    const cause = new IncompatibleDataError(
      `the model answers vectors of ${String(dimensions)}, the data has ${String(known)}`,
    );
    throw new UnavailableError('embedding provider', { retryAfterSeconds: 60, cause });
  }
}

interface ServerReport {
  /** The reasons why this Redis cannot be used; empty when it can. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const NO_MAXMEMORY =
  'Redis has no maxmemory: nothing is refused or put off for want of memory (ingest.max_memory_share), until the machine has none left';

/** Valkey calls it `server_mode`. */
const CLUSTER_MODE = /^(?:redis|server)_mode:cluster\r?$/m;

const CLUSTER =
  'this is a Redis Cluster (redis_mode:cluster), which Quire does not support: its scripts use keys of several hash slots. ' +
  'Give REDIS_URL (redis.url) the address of a Redis without cluster mode; replicas of it are no obstacle';

/** @throws IncompatibleDataError for a Redis in cluster mode */
export async function refuseCluster(redis: Pick<Redis, 'info'>): Promise<void> {
  if (CLUSTER_MODE.test(await redis.info('server'))) throw new IncompatibleDataError(CLUSTER);
}

/** Reads the server's mode, version, eviction policy and durability. */
export async function inspectServer(redis: Redis): Promise<ServerReport> {
  const info = await redis.info('server');
  const [, major = 0, minor = 0] = (/redis_version:(\d+)\.(\d+)/.exec(info) ?? []).map(Number);
  const problems = CLUSTER_MODE.test(info) ? [CLUSTER] : [];
  const warnings: string[] = [];
  if (major < 6 || (major === 6 && minor < 2))
    problems.push(`Redis ${String(major)}.${String(minor)} is older than 6.2`);
  // INFO has it too, and managed servers forbid CONFIG.
  if (/^maxmemory:0\r?$/m.test(await redis.info('memory'))) warnings.push(NO_MAXMEMORY);
  const names = ['maxmemory', 'maxmemory-policy', 'appendonly', 'appendfsync'];
  // Managed servers forbid CONFIG, which alone is no reason not to start.
  const settings = await unlessRefused(redis.configGet(names));
  if (!settings)
    return {
      problems,
      warnings: [...warnings, 'Redis does not show its settings: set maxmemory-policy noeviction'],
    };
  const { maxmemory, 'maxmemory-policy': policy = '', appendonly, appendfsync = '' } = settings;
  if (maxmemory !== '0' && policy !== 'noeviction')
    problems.push(`Redis would evict data (maxmemory-policy ${policy}): set noeviction`);
  if (appendonly !== 'yes') warnings.push('Redis has no append-only file: its crash loses data');
  else if (appendfsync !== 'always')
    warnings.push(`appendfsync ${appendfsync}: a crash of the machine may lose two seconds`);
  return { problems, warnings };
}

const reindexingSchema = z.object({
  /** The model that the data is being embedded with. */
  model: z.string(),
  vectorField: z.string(),
  vectorType: vectorTypeSchema,
  /** All changes up to this sequence number have been looked at. */
  since: z.coerce.number().int(),
  documents: z.coerce.number().int(),
  chunks: z.coerce.number().int(),
});

/** The progress of a reindexing. Redis holds it, so that it continues after a crash and operators can see it. */
export type Reindexing = z.infer<typeof reindexingSchema>;

/** Null when no reindexing is under way. */
export async function readReindexing(redis: Redis): Promise<Reindexing | null> {
  const found = await redis.hGetAll(keys.reindexing);
  return found['model'] === undefined ? null : reindexingSchema.parse({ ...found });
}

export async function writeReindexing(redis: Redis, reindexing: Reindexing): Promise<void> {
  const fields = Object.entries(reindexing).map(([name, value]): [string, string] => [name, String(value)]);
  await redis.hSet(keys.reindexing, Object.fromEntries(fields));
}

const LOOK_MILLISECONDS = 1_000;

/**
 * Notices when `npx quire reindex` has made other vectors or another index serve than this process knows. The process must end
 * then, since its settings are old. Data that lost its mark is marked again. @returns a function that ends the watch
 */
export function watchDataSet(
  redis: Redis,
  known: Pick<DataSet, 'model' | 'vectors'>,
  { index, onChange }: { index: () => string | null; onChange: () => void },
): () => void {
  const look = async () => {
    const found = await readDataSet(redis);
    if (!found) {
      await markAgain(redis, known);
      return;
    }
    const mine = index();
    const isSame =
      found.model === known.model &&
      found.vectors.field === known.vectors.field &&
      found.vectors.type === known.vectors.type &&
      (mine === null || found.index === null || found.index === mine);
    if (!isSame) onChange();
  };
  const onError = (error: unknown) => {
    // A Redis that is away is reported elsewhere and no reason to end. Data of another key layout is one.
    if (error instanceof IncompatibleDataError) onChange();
  };
  return repeat(look, { everyMilliseconds: LOOK_MILLISECONDS, onError });
}

/** The random id of the installation whose data this Redis holds. It is made when it is first asked for. */
export async function readInstallation(redis: Redis): Promise<string> {
  for (;;) {
    const id = await redis.get(keys.installation);
    if (id !== null) return id;
    await redis.set(keys.installation, randomUUID(), { condition: 'NX' });
  }
}
