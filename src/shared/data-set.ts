import { randomUUID } from 'node:crypto';
import { UnavailableError } from './errors.js';
import { keys } from './keys.js';
import type { Redis } from './redis.js';

const KEY_SCHEMA_VERSION = '1';

/** The data in Redis does not fit this program or its settings; starting would mix what must not be mixed. */
export class DataSetError extends Error {
  override readonly name = 'DataSetError';
}

/** Marks an empty data set as made by this key layout and model; refuses one that was made by another. */
export async function openDataSet(redis: Redis, { model }: { model: string }): Promise<void> {
  const isEmpty = (await redis.exists(keys.changes)) === 0;
  if (isEmpty) await redis.hSet(keys.schema, { version: KEY_SCHEMA_VERSION, model });
  await redis.set(keys.epoch, randomUUID(), { condition: 'NX' });
  const found = await redis.hGetAll(keys.schema);
  if (found['version'] !== KEY_SCHEMA_VERSION) {
    throw new DataSetError(
      `the data in Redis has key layout ${found['version'] ?? 'unknown'}; this program reads ${KEY_SCHEMA_VERSION}`,
    );
  }
  if (found['model'] !== model) {
    throw new DataSetError(
      `the data was embedded with ${found['model'] ?? 'unknown'}, but the settings name ${model} ` +
        '(embedder, embedding.model, embedding.dimensions). Vectors of two models cannot be compared: ' +
        'set the first again, or start with an empty Redis and data folder and ingest anew.',
    );
  }
}

/** @throws UnavailableError when the data has vectors of another length: the provider changed its model under us */
export async function checkDimensions(redis: Redis, dimensions: number): Promise<void> {
  await redis.hSetNX(keys.schema, 'dimensions', String(dimensions));
  const known = Number(await redis.hGet(keys.schema, 'dimensions'));
  if (known !== dimensions) {
    const cause = new DataSetError(
      `the model answers vectors of ${String(dimensions)}, the data has ${String(known)}`,
    );
    throw new UnavailableError('embedding provider', { retryAfterSeconds: 60, cause });
  }
}

interface ServerReport {
  /** What makes this Redis unfit; empty when it is fit. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the server's version, eviction policy and durability. */
export async function inspectServer(redis: Redis): Promise<ServerReport> {
  const info = await redis.info('server');
  const version = /redis_version:(\d+)\.(\d+)/.exec(info);
  const problems: string[] = [];
  const warnings: string[] = [];
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  if (major < 6 || (major === 6 && minor < 2))
    problems.push(`Redis ${String(major)}.${String(minor)} is older than 6.2`);
  const settings = await readServerSettings(redis);
  if (!settings)
    return { problems, warnings: ['Redis does not show its settings: set maxmemory-policy noeviction'] };
  if (settings['maxmemory'] !== '0' && settings['maxmemory-policy'] !== 'noeviction') {
    problems.push(
      `Redis would evict data (maxmemory-policy ${settings['maxmemory-policy'] ?? ''}): set noeviction`,
    );
  }
  if (settings['appendonly'] !== 'yes') warnings.push('Redis has no append-only file: its crash loses data');
  else if (settings['appendfsync'] !== 'always') {
    warnings.push(
      `appendfsync ${settings['appendfsync'] ?? ''}: a crash of the machine may lose two seconds`,
    );
  }
  return { problems, warnings };
}

async function readServerSettings(redis: Redis): Promise<Record<string, string> | null> {
  try {
    return await redis.configGet(['maxmemory', 'maxmemory-policy', 'appendonly', 'appendfsync']);
  } catch (error) {
    // Managed servers forbid CONFIG; that alone is no reason not to start.
    if (error instanceof Error && /NOPERM|unknown command|not allowed/i.test(error.message)) return null;
    throw error;
  }
}
