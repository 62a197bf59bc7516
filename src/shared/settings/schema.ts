import { z } from 'zod';
import { completers, embedders, objectStorages, rerankers } from '../adapters/registry.js';
import { describedModels, describedStorages, sectionsOf } from './adapter-settings.js';
import type { EnvironmentSettings } from './environment-settings.js';
import { choice, flag, settingNotes, type SettingNote } from './setting-kinds.js';
import { api } from './sections/api.js';
import { chunk, ingest } from './sections/ingest.js';
import { caches, models } from './sections/models.js';
import { admin, audit, disk, log, metrics, quota, redis, usage } from './sections/operations.js';
import { completion, embedding } from './sections/providers.js';
import { queryEngine } from './sections/query-engine.js';
import { reranking } from './sections/reranking.js';
import { search } from './sections/search.js';
import { traces } from './sections/traces.js';
import { workers } from './sections/workers.js';

/** The value of `reranker` without one. */
const NO_RERANKER = 'none';

/** Everything that `quire.toml` may contain, with defaults. Its keys are in snake_case there. */
export const fileSettingsSchema = z.strictObject({
  devMode: flag(false, 'No authentication: every caller is `dev_user` with all permissions. Loopback only.'),
  allowRemoteDevMode: flag(false, 'Lets dev mode listen on addresses that other machines can reach.'),
  index: choice(
    ['auto', 'exact', 'query-engine'],
    'auto',
    'Index that is searched: `exact` scans in each API process, `query-engine` uses the one of Redis 8, `auto` takes that if Redis has it.',
  ),
  embedder: choice(
    embedders.map(({ name }) => name),
    'builtin',
    `Model that makes vectors of texts: ${describedModels(embedders)}.`,
  ),
  completer: choice(
    completers.map(({ name }) => name),
    'builtin',
    `Model that answers questions: ${describedModels(completers)}.`,
  ),
  reranker: choice(
    [NO_RERANKER, ...rerankers.map(({ name }) => name)],
    NO_RERANKER,
    `Model that reranks hits for requests with \`rerank\`: ${describedModels(rerankers)}.`,
  ),
  objectStorage: choice(
    objectStorages.map(({ name }) => name),
    'disk',
    `Place of source files: ${describedStorages(objectStorages)}.`,
  ),
  api: api.prefault({}),
  redis: redis.prefault({}),
  disk: disk.prefault({}),
  ...sectionsOf(objectStorages),
  ingest: ingest.prefault({}),
  chunk: chunk.prefault({}),
  embedding: embedding.prefault({}),
  ...sectionsOf(embedders),
  completion: completion.prefault({}),
  ...sectionsOf(completers),
  search: search.prefault({}),
  reranking: reranking.prefault({}),
  ...sectionsOf(rerankers),
  queryEngine: queryEngine.prefault({}),
  models: models.prefault({}),
  caches: caches.prefault({}),
  workers: workers.prefault({}),
  usage: usage.prefault({}),
  quota: quota.prefault({}),
  admin: admin.prefault({}),
  metrics: metrics.prefault({}),
  audit: audit.prefault({}),
  traces: traces.prefault({}),
  log: log.prefault({}),
});
export type FileSettings = z.infer<typeof fileSettingsSchema>;

export type Settings = FileSettings & EnvironmentSettings;

export interface Leaf {
  /** The name in `quire.toml`, such as `api.max_json_bytes`, without a dot at the top level. */
  readonly name: string;
  readonly section: string | null;
  /** The property names within `Settings`. */
  readonly path: readonly [string] | readonly [string, string];
  /** The environment variables that set it, in the order of precedence. */
  readonly variables: readonly string[];
  readonly note: SettingNote;
  readonly schema: z.ZodType;
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function leafOf(schema: z.ZodType, path: Leaf['path']): Leaf | null {
  const note = settingNotes.get(schema);
  if (!note) return null;
  const names = path.map(snakeCase);
  const variable = `QUIRE_${names.join('_').toUpperCase()}`;
  const variables = note.alias === undefined ? [variable] : [variable, note.alias];
  const section = path.length === 2 ? snakeCase(path[0]) : null;
  return { name: names.join('.'), section, path, variables, note, schema };
}

function leavesOf(schema: z.ZodType, key: string): Leaf[] {
  const leaf = leafOf(schema, [key]);
  if (leaf) return [leaf];
  const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
  if (!(inner instanceof z.ZodObject)) throw new Error(`setting ${key} has no note`);
  return Object.entries(inner.shape).map(([name, child]) => {
    const found = child instanceof z.ZodType ? leafOf(child, [key, name]) : null;
    if (!found) throw new Error(`setting ${key}.${name} has no note`);
    return found;
  });
}

/** Every setting of `quire.toml`, in the order of the file. */
export const leaves: readonly Leaf[] = Object.entries(fileSettingsSchema.shape).flatMap(([key, schema]) =>
  leavesOf(schema, key),
);
