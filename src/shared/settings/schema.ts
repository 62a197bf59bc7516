import { z } from 'zod';
import { completers, embedders, objectStorages, rerankers } from '../adapters/registry.js';
import type { EnvironmentSettings } from './environment-settings.js';
import { isLoopbackHost } from './addresses.js';
import type { Rule } from './rule.js';
import { api } from './sections/api.js';
import { chunk, ingest } from './sections/ingest.js';
import { caches, models } from './sections/models.js';
import {
  admin,
  audit,
  disk,
  log,
  metrics,
  quota,
  redis,
  usage,
  workers,
  traces,
} from './sections/operations.js';
import { completion, embedding } from './sections/providers.js';
import { queryEngine, search, reranking } from './sections/search.js';
import { choice, flag, settingNotes, type SettingNote } from './setting-kinds.js';

/** The intersection of the members of a union. */
type All<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never;

interface WithSections {
  readonly settings?: object;
}
type SectionsOf<Registry extends readonly WithSections[]> = All<NonNullable<Registry[number]['settings']>>;

/** The sections that the adapters of a port have of their own. */
function sectionsOf<const Registry extends readonly WithSections[]>(
  registry: Registry,
): SectionsOf<Registry> {
  const sections: unknown = Object.assign({}, ...registry.map(({ settings }) => settings));
  // @NOTE the type says the properties of all, as here; Object.assign loses them in a list
  return sections as SectionsOf<Registry>;
}

/** Describes the adapters whose names do not say enough. */
const describedModels = (
  registry: readonly { readonly name: string; readonly description?: string }[],
): string =>
  registry
    .filter(({ description }) => description !== undefined)
    .map(({ name, description }) => `\`${name}\` is ${String(description)}`)
    .join('; ');

const describedStorages = (registry: readonly { readonly description: string }[]): string =>
  registry.map(({ description }) => description).join(', or ');

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

export const settingsRules: readonly Rule<Settings>[] = [
  {
    names: ['chunk.size', 'chunk.overlap'],
    broken: ({ chunk }) => chunk.overlap >= chunk.size,
    problem: ({ chunk }) => ({
      setting: 'chunk.overlap',
      value: String(chunk.overlap),
      allowed: `allowed: less than chunk.size, which is ${String(chunk.size)}`,
    }),
  },
  {
    names: ['dev_mode', 'allow_remote_dev_mode', 'api.host'],
    broken: ({ devMode, allowRemoteDevMode, api }) =>
      devMode && !allowRemoteDevMode && !isLoopbackHost(api.host),
    problem: ({ api }) => ({
      setting: 'api.host',
      value: JSON.stringify(api.host),
      allowed:
        'allowed in dev mode: a loopback address such as "127.0.0.1", unless allow_remote_dev_mode is true',
    }),
  },
  {
    names: ['api.max_json_bytes', 'api.body_memory_megabytes'],
    broken: ({ api }) => api.maxJsonBytes > api.bodyMemoryMegabytes * 1024 ** 2 - 1024 ** 2,
    problem: ({ api }) => ({
      setting: 'api.max_json_bytes',
      value: String(api.maxJsonBytes),
      allowed: `allowed: at least 1 MiB less than api.body_memory_megabytes, which is ${String(api.bodyMemoryMegabytes)}`,
    }),
  },
  {
    names: ['api.shutdown_delay_seconds', 'workers.drain_seconds'],
    broken: ({ api, workers }) => api.shutdownDelaySeconds >= workers.drainSeconds,
    problem: ({ api, workers }) => ({
      setting: 'api.shutdown_delay_seconds',
      value: String(api.shutdownDelaySeconds),
      allowed: `allowed: less than workers.drain_seconds, which is ${String(workers.drainSeconds)}`,
    }),
  },
  {
    names: ['completion.context_window', 'completion.max_tokens'],
    broken: ({ completion }) => completion.maxTokens >= completion.contextWindow,
    problem: ({ completion }) => ({
      setting: 'completion.max_tokens',
      value: String(completion.maxTokens),
      allowed: `allowed: less than completion.context_window, which is ${String(completion.contextWindow)}`,
    }),
  },
  ...adapterRules('embedder', embedders),
  ...adapterRules('completer', completers),
  ...adapterRules('reranker', rerankers),
  ...adapterRules('objectStorage', objectStorages),
  {
    names: ['models.host', 'models.token'],
    broken: ({ models }) => !isLoopbackHost(models.host) && models.token === '',
    problem: ({ models }) => ({
      setting: 'models.token',
      value: '""',
      allowed: `needed where models.host is no loopback address: it is ${JSON.stringify(models.host)}`,
    }),
  },
  {
    names: ['redis.url'],
    broken: ({ redis }, { needs }) => needs.includes('redis') && redis.url === '',
    problem: () => ({
      setting: 'REDIS_URL',
      value: '""',
      allowed:
        'needed: the address of a Redis, such as redis://127.0.0.1:6379 (`npm start` finds one by itself)',
    }),
  },
  {
    names: ['dev_mode'],
    broken: ({ devMode, jwtSecretKey }, { needs }) =>
      needs.includes('secret') && !devMode && jwtSecretKey === null,
    problem: () => ({
      setting: 'JWT_SECRET_KEY',
      value: '""',
      allowed: 'needed unless dev_mode is true: at least 32 bytes, for example from `openssl rand -hex 32`',
    }),
  },
];

interface WithRules {
  readonly name: string;
  readonly rules?: readonly Rule<Settings>[];
  readonly sectionRules?: readonly Rule<Settings>[];
}

/** The conditions of the adapter that is chosen, and those on sections of any. */
function adapterRules(
  port: 'embedder' | 'completer' | 'reranker' | 'objectStorage',
  registry: readonly WithRules[],
): Rule<Settings>[] {
  return registry.flatMap(({ name, rules = [], sectionRules = [] }) => [
    ...rules.map((rule): Rule<Settings> => ({
      ...rule,
      broken: (settings, context) => settings[port] === name && rule.broken(settings, context),
    })),
    ...sectionRules,
  ]);
}
