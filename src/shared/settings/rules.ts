import { isLoopbackHost } from './loopback.js';
import { cohereUrl } from './sections/reranking.js';
import type { Settings } from './schema.js';
import { openaiUrl } from './sections/providers.js';
import { providerClass } from './setting-kinds.js';

/** The needs of a process: `redis` is the address of one, `secret` is a JWT secret, which dev mode makes itself. */
export type Need = 'redis' | 'secret';

/** A wrong setting: its name, its value as it may be shown, and the allowed values. */
export interface Problem {
  readonly setting: string;
  readonly value: string | null;
  readonly allowed: string;
}

/** A condition between several settings. */
interface Rule {
  /** The settings it looks at. The rule is skipped when one of them is wrong by itself. */
  readonly names: readonly string[];
  readonly broken: (settings: Settings, needs: readonly Need[]) => boolean;
  readonly problem: (settings: Settings) => Problem;
}

export const settingsRules: readonly Rule[] = [
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
  ...(['embedder', 'completer'] as const).map((port): Rule => {
    const section = port === 'embedder' ? 'embedding' : 'completion';
    return {
      names: [port, `${section}.base_url`],
      broken: (settings) =>
        settings[port] === 'openai' &&
        settings[section].baseUrl === openaiUrl &&
        settings.openaiApiKey === null,
      problem: () => ({
        setting: port,
        value: '"openai"',
        allowed: `needs OPENAI_API_KEY, or ${section}.base_url of a provider that asks for no key`,
      }),
    };
  }),
  ...(['embedder', 'completer'] as const).flatMap((port): Rule[] => {
    const section = port === 'embedder' ? 'embedding' : 'completion';
    const needed = { provider: providerClass.allowed, model: 'the name of the model at the provider' };
    return (['provider', 'model'] as const).map((name) => ({
      names: [port, `${section}.${name}`],
      broken: (settings) => settings[port] === 'langchain' && settings[section][name] === '',
      problem: () => ({
        setting: `${section}.${name}`,
        value: '""',
        allowed: `needed with ${port} = "langchain": ${needed[name]}`,
      }),
    }));
  }),
  {
    names: ['completer', 'completion.tracing'],
    broken: ({ completer, completion, reportingVariables }) =>
      completer === 'langchain' && !completion.tracing && reportingVariables.length > 0,
    problem: ({ reportingVariables }) => ({
      setting: reportingVariables.join(', '),
      value: null,
      allowed:
        "with it LangChain passes on prompts, which hold the owners' texts: unset it, or set completion.tracing = true",
    }),
  },
  {
    names: ['completer', 'completion.model'],
    broken: ({ completer, completion }) => completer === 'local' && completion.model === '',
    problem: () => ({
      setting: 'completion.model',
      value: '""',
      allowed:
        'needed with completer = "local": the name of a file that `quire models pull` has put into models.dir',
    }),
  },
  {
    names: ['reranker', 'reranking.model'],
    broken: ({ reranker, reranking }) => reranker === 'local' && reranking.model === '',
    problem: () => ({
      setting: 'reranking.model',
      value: '""',
      allowed:
        'needed with reranker = "local": the name of a file that `quire models pull` has put into models.dir',
    }),
  },
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
    names: ['reranker', 'reranking.base_url'],
    broken: ({ reranker, reranking, rerankerApiKey }) =>
      reranker === 'http' && reranking.baseUrl === cohereUrl && rerankerApiKey === null,
    problem: () => ({
      setting: 'reranker',
      value: '"http"',
      allowed: 'needs RERANKER_API_KEY, or reranking.base_url of a provider that asks for no key',
    }),
  },
  {
    names: ['object_storage', 's3.bucket'],
    broken: ({ objectStorage, s3 }) => objectStorage === 's3' && s3.bucket === '',
    problem: () => ({
      setting: 's3.bucket',
      value: '""',
      allowed: 'needed with object_storage = "s3": the name of a bucket that exists',
    }),
  },
  {
    names: ['s3.access_key_id', 's3.secret_access_key'],
    broken: ({ s3 }) => (s3.accessKeyId === '') !== (s3.secretAccessKey === ''),
    problem: ({ s3 }) => ({
      setting: s3.accessKeyId === '' ? 's3.access_key_id' : 's3.secret_access_key',
      value: '""',
      allowed: 'needed too where the other of s3.access_key_id and s3.secret_access_key is set',
    }),
  },
  {
    names: ['redis.url'],
    broken: ({ redis }, needs) => needs.includes('redis') && redis.url === '',
    problem: () => ({
      setting: 'REDIS_URL',
      value: '""',
      allowed:
        'needed: the address of a Redis, such as redis://127.0.0.1:6379 (`npm start` finds one by itself)',
    }),
  },
  {
    names: ['dev_mode'],
    broken: ({ devMode, jwtSecretKey }, needs) =>
      needs.includes('secret') && !devMode && jwtSecretKey === null,
    problem: () => ({
      setting: 'JWT_SECRET_KEY',
      value: '""',
      allowed: 'needed unless dev_mode is true: at least 32 bytes, for example from `openssl rand -hex 32`',
    }),
  },
];
