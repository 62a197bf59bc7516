import { DataSetError } from './data-set.js';
import type { Redis } from './redis.js';
import type { Settings } from './settings.js';

/** Of the search module: the first release that all of this was tried with. */
const OLDEST_MODULE = 21_000;

export interface IndexChoice {
  readonly name: 'exact' | 'query-engine';
  readonly reason: string;
}

/**
 * Which index the settings and the server make: `auto` takes the Query Engine where there is one that is new enough.
 * @throws DataSetError when the settings ask for one that the server does not have
 */
export async function chooseIndex(redis: Redis, setting: Settings['index']): Promise<IndexChoice> {
  if (setting === 'exact') return { name: 'exact', reason: 'the settings say so' };
  const missing = await whyNoQueryEngine(redis);
  if (missing === null) return { name: 'query-engine', reason: 'this Redis has the Query Engine' };
  if (setting === 'auto') return { name: 'exact', reason: missing };
  throw new DataSetError(
    `index is "query-engine", but ${missing}: connect Redis 8 or Redis Stack, or set "auto" or "exact"`,
  );
}

/** Null when the engine is there. */
async function whyNoQueryEngine(redis: Redis): Promise<string | null> {
  try {
    await redis.ft._list();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return 'this Redis has no Query Engine';
  }
  const version = await moduleVersion(redis);
  return version !== null && version < OLDEST_MODULE
    ? `the search module of this Redis is ${dotted(version)}, older than ${dotted(OLDEST_MODULE)}`
    : null;
}

/** As in 21005 for 2.10.5; null when the server does not tell. */
async function moduleVersion(redis: Redis): Promise<number | null> {
  try {
    const modules = await redis.moduleList();
    return modules.find(({ name }) => ['search', 'searchlight', 'ft'].includes(name))?.ver ?? null;
  } catch (error) {
    // Managed servers forbid MODULE; that they have FT commands is enough.
    if (isRefusal(error)) return null;
    throw error;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && /NOPERM|unknown command|not allowed/i.test(error.message);

function dotted(version: number): string {
  const [major, minor, patch] = [
    Math.floor(version / 10_000),
    Math.floor(version / 100) % 100,
    version % 100,
  ];
  return [major, minor, patch].join('.');
}
