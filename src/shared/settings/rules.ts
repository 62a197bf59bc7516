import { completers, embedders, objectStorages, rerankers } from '../adapters/registry.js';
import { isLoopbackHost } from './loopback.js';
import type { Rule } from './rule.js';
import type { Settings } from './schema.js';

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
