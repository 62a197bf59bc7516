import { unlessRefused, type Redis } from '../redis/client.js';
import type { Settings } from '../settings/schema.js';
import { IncompatibleDataError } from '../errors.js';

/** The oldest version of the search module that was tried. */
const OLDEST_MODULE = 21_000;
/** The commands that are used. Other servers have a search of their own with only a part of these. */
const COMMANDS = [
  'FT.CREATE',
  'FT.DROPINDEX',
  'FT.ALIASADD',
  'FT.INFO',
  'FT.SEARCH',
  'FT.AGGREGATE',
  'FT.CURSOR',
];

export interface IndexChoice {
  readonly name: 'exact' | 'query-engine';
  readonly reason: string;
}

/**
 * Chooses the index by the settings and the server; `auto` takes the Query Engine of a server where it is new enough.
 * @throws IncompatibleDataError when the settings ask for a Query Engine that the server does not have
 */
export async function chooseIndex(redis: Redis, setting: Settings['index']): Promise<IndexChoice> {
  if (setting === 'exact') return { name: 'exact', reason: 'the settings say so' };
  const missing = await whyNoQueryEngine(redis);
  if (missing === null) return { name: 'query-engine', reason: 'this Redis has the Query Engine' };
  if (setting === 'auto') return { name: 'exact', reason: missing };
  throw new IncompatibleDataError(
    `index is "query-engine", but ${missing}: connect Redis 8 or Redis Stack, or set "auto" or "exact"`,
  );
}

/** Returns the algorithm by which the Query Engine is to index vectors, by the settings. */
export function algorithmOf({ algorithm, hnswM, hnswEfConstruction }: Settings['queryEngine']) {
  switch (algorithm) {
    case 'flat':
      return { name: algorithm };
    case 'hnsw':
      return { name: algorithm, m: hnswM, efConstruction: hnswEfConstruction };
  }
}

/** Returns the reason why the Query Engine cannot be used; null when it is there, complete and new enough. */
async function whyNoQueryEngine(redis: Redis): Promise<string | null> {
  const list = await unlessRefused(redis.ft._list());
  if (list === null) return 'this Redis has no Query Engine';
  const missing = await missingCommands(redis);
  if (missing.length > 0) return `the search module of this Redis has no ${missing.join(', ')}`;
  const version = await moduleVersion(redis);
  return version !== null && version < OLDEST_MODULE
    ? `the search module of this Redis is ${dotted(version)}, older than ${dotted(OLDEST_MODULE)}`
    : null;
}

/** The commands that the server lacks; none when it does not tell. */
async function missingCommands(redis: Redis): Promise<readonly string[]> {
  const known = await unlessRefused(redis.sendCommand(['COMMAND', 'INFO', ...COMMANDS]));
  return Array.isArray(known) ? COMMANDS.filter((_, i) => known[i] === null) : [];
}

/** The version as a number, such as 21005 for 2.10.5; null when the server does not tell. */
async function moduleVersion(redis: Redis): Promise<number | null> {
  const modules = await unlessRefused(redis.moduleList());
  return modules?.find(({ name }) => ['search', 'searchlight', 'ft'].includes(name))?.ver ?? null;
}

function dotted(version: number): string {
  const [major, minor, patch] = [
    Math.floor(version / 10_000),
    Math.floor(version / 100) % 100,
    version % 100,
  ];
  return [major, minor, patch].join('.');
}
