import { z } from 'zod';

/** How a setting is written in the environment, and what may be said about it. */
export interface SettingNote {
  readonly kind: 'text' | 'integer' | 'boolean' | 'list';
  readonly description: string;
  /** Completes "allowed: …" in messages and the settings table. */
  readonly allowed: string;
  /** Values of secret settings are never shown. */
  readonly secret?: true;
  /** Further environment variable, beside `QUIRE_<SECTION>_<KEY>` which wins over it. */
  readonly alias?: string;
}

/** What is known about each setting; a schema without a note is a section. */
const settingNotes = z.registry<SettingNote>();

type Extra = Pick<SettingNote, 'secret' | 'alias'>;

function flag(value: boolean, description: string) {
  const schema = z.boolean().default(value);
  return schema.register(settingNotes, { kind: 'boolean', description, allowed: 'true or false' });
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

function whole(value: number, { min, max }: Bounds, description: string, extra: Extra = {}) {
  const schema = z.int().min(min).max(max).default(value);
  const allowed = `a whole number from ${String(min)} to ${String(max)}`;
  return schema.register(settingNotes, { kind: 'integer', description, allowed, ...extra });
}

function choice<const Values extends readonly [string, ...string[]]>(
  values: Values,
  value: NoInfer<Values[number]>,
  description: string,
) {
  const allowed = values.map((name) => JSON.stringify(name)).join(' or ');
  // @NOTE the enum's output type is the union of `values`, which zod cannot see through the generic
  const schema = z.enum(values).default(value as never);
  return schema.register(settingNotes, { kind: 'text', description, allowed });
}

interface Pattern {
  readonly accepts: (value: string) => boolean;
  readonly allowed: string;
}

function text(value: string, { accepts, allowed }: Pattern, description: string, extra: Extra = {}) {
  const schema = z.string().refine(accepts).default(value);
  return schema.register(settingNotes, { kind: 'text', description, allowed, ...extra });
}

function urlWith(protocols: readonly string[]): (value: string) => boolean {
  return (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol);
}
const isHttpUrl = urlWith(['http:', 'https:']);
const isRedisUrl = urlWith(['redis:', 'rediss:']);

const host = {
  accepts: (value: string) => /^[A-Za-z0-9._:-]{1,253}$/.test(value),
  allowed: 'a host name or an IP address, without brackets or port',
};
const httpUrl = { accepts: isHttpUrl, allowed: 'an http:// or https:// address' };
const modelName = {
  accepts: (value: string) => /^\S{1,200}$/.test(value),
  allowed: 'the name of a model, 1 to 200 characters without spaces',
};
function orEmpty({ accepts, allowed }: Pattern): Pattern {
  return { accepts: (value) => value === '' || accepts(value), allowed: `${allowed}, or empty` };
}

const origins = z
  .array(z.string().refine((value) => isHttpUrl(value) && new URL(value).origin === value))
  .default([])
  .register(settingNotes, {
    kind: 'list',
    description: 'Origins of web pages that may call the API; in dev mode loopback origins always may.',
    allowed: 'a list of origins such as "https://app.example.com" (in the environment: separated by commas)',
  });

const hour = 3600;
const day = 24 * hour;
const gigabyte = 1024 ** 3;

const api = z.strictObject({
  host: text('127.0.0.1', host, 'Address that the API listens on.', { alias: 'HOST' }),
  port: whole(8000, { min: 1, max: 65_535 }, 'Port that the API listens on.', { alias: 'PORT' }),
  publicUrl: text(
    '',
    orEmpty(httpUrl),
    'Address that clients know the API by, for links; empty: as requested.',
  ),
  maxJsonBytes: whole(8_388_608, { min: 1024, max: gigabyte }, 'Largest JSON body, in bytes.'),
  corsOrigins: origins,
  uriScheme: text(
    'databridge',
    { accepts: (value) => /^[a-z][a-z0-9+.-]{0,31}$/.test(value), allowed: 'a URI scheme in lower case' },
    'Scheme of the connection URIs that /local/generate_uri makes.',
  ),
  uriHost: text('', orEmpty(host), 'Host of connection URIs; empty: as requested.'),
  uriPort: whole(0, { min: 0, max: 65_535 }, 'Port of connection URIs; 0: as requested.'),
  downloadUrlSeconds: whole(hour, { min: 1, max: 7 * day }, 'How long a download_url is good for.'),
  rateLimitPerMinute: whole(
    0,
    { min: 0, max: 1_000_000 },
    'Requests that a caller may make in a minute; 0: no limit.',
  ),
  requestTimeoutSeconds: whole(
    300,
    { min: 1, max: day },
    'Longest time for a request, upload included, to arrive.',
  ),
  trustProxy: flag(false, 'Whether X-Forwarded-* headers of a reverse proxy are believed.'),
});

const redis = z.strictObject({
  url: text(
    '',
    orEmpty({ accepts: isRedisUrl, allowed: 'a redis:// or rediss:// address' }),
    'Redis to use; empty: `npm start` finds or starts one.',
    { secret: true, alias: 'REDIS_URL' },
  ),
});

const ingest = z.strictObject({
  waitSeconds: whole(20, { min: 0, max: 120 }, 'How long an ingest waits for its document to be searchable.'),
  maxFileBytes: whole(104_857_600, { min: 1, max: 16 * gigabyte }, 'Largest uploaded file, in bytes.'),
  maxChunks: whole(20_000, { min: 1, max: 1_000_000 }, 'Most chunks of a document; more is `too_large`.'),
  parseSeconds: whole(120, { min: 1, max: hour }, 'Longest time for parsing and chunking a document.'),
  parseMemoryMegabytes: whole(2048, { min: 1536, max: 1_048_576 }, 'Address space of a parser process.'),
  parserProcesses: whole(2, { min: 1, max: 64 }, 'Parser processes of an ingestion worker.'),
});

const chunk = z.strictObject({
  size: whole(512, { min: 16, max: 8192 }, 'Most tokens of a chunk.'),
  overlap: whole(
    64,
    { min: 0, max: 8191 },
    'Tokens that a chunk repeats of the one before; less than chunk.size.',
  ),
});

export const openaiUrl = 'https://api.openai.com/v1';

const embedding = z.strictObject({
  model: text('text-embedding-3-small', modelName, 'Model of the openai embedder.'),
  baseUrl: text(openaiUrl, httpUrl, 'Address of the embeddings provider, any compatible one.'),
  dimensions: whole(0, { min: 0, max: 16_384 }, "Length of the vectors to ask for; 0: the model's own."),
  timeoutSeconds: whole(60, { min: 1, max: hour }, 'Longest time for an answer of the provider.'),
  maxInputs: whole(2048, { min: 1, max: 2048 }, 'Most texts in a request to the provider.'),
  maxTokens: whole(300_000, { min: 8192, max: 10_000_000 }, 'Most tokens in a request to the provider.'),
});

const completion = z.strictObject({
  model: text('gpt-4o-mini', modelName, 'Model of the openai completer.'),
  baseUrl: text(openaiUrl, httpUrl, 'Address of the completions provider, any compatible one.'),
  contextWindow: whole(32_768, { min: 1024, max: 10_000_000 }, 'Tokens of prompt and completion together.'),
  maxTokens: whole(1024, { min: 1, max: 32_768 }, 'Most tokens of a completion whose request does not say.'),
  timeoutSeconds: whole(120, { min: 1, max: hour }, 'Longest silence of the provider within an answer.'),
});

const search = z.strictObject({
  timeoutSeconds: whole(10, { min: 1, max: 300 }, 'Longest time for the index to answer.'),
});

const concurrency = { min: 1, max: 256 };
const workers = z.strictObject({
  ingestionConcurrency: whole(8, concurrency, 'Documents that an ingestion worker handles at once.'),
  embeddingConcurrency: whole(8, concurrency, 'Batches that an embedding worker handles at once.'),
  cacheConcurrency: whole(2, concurrency, 'Caches that a cache worker builds at once.'),
  lockSeconds: whole(
    10,
    { min: 2, max: hour },
    'After how long the job of a worker that died goes to another.',
  ),
  sweepSeconds: whole(
    15,
    { min: 1, max: hour },
    'How often unfinished documents without a job are looked for.',
  ),
  drainSeconds: whole(25, { min: 1, max: 300 }, 'How long a stopping process waits for what it has begun.'),
});

const usage = z.strictObject({
  keepDays: whole(90, { min: 1, max: 3650 }, 'Days that usage records are kept.'),
  keepRecords: whole(10_000, { min: 1, max: 1_000_000 }, 'Most usage records kept of a user.'),
});

const admin = z.strictObject({
  queuesReadOnly: flag(true, 'Whether /admin/queues only shows, without retry and remove.'),
  sessionMinutes: whole(60, { min: 1, max: 1440 }, 'How long a login at /admin/login is good for.'),
});

const metrics = z.strictObject({
  token: text(
    '',
    orEmpty({
      accepts: (value) => /^[\x21-\x7e]{16,}$/.test(value),
      allowed: 'at least 16 printable characters',
    }),
    'Bearer token for scraping /metrics; empty: admin tokens only.',
    { secret: true },
  ),
});

const log = z.strictObject({
  level: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Least level that is logged.',
  ),
});

/** Everything `quire.toml` may say, with its defaults; keys are in snake_case there. */
export const fileSettingsSchema = z.strictObject({
  devMode: flag(false, 'No authentication: every caller is `dev_user` with all permissions. Loopback only.'),
  allowRemoteDevMode: flag(false, 'Lets dev mode listen on other than loopback addresses.'),
  index: choice(['auto', 'exact'], 'auto', 'Search engine; `auto` takes the best that Redis offers.'),
  embedder: choice(['builtin', 'openai'], 'builtin', 'What makes vectors of texts.'),
  completer: choice(['builtin', 'openai'], 'builtin', 'What answers questions.'),
  objectStorage: choice(['disk'], 'disk', 'Where source files are kept.'),
  cacheEngine: choice(['prompt'], 'prompt', 'What prepares named caches and answers from them.'),
  api: api.prefault({}),
  redis: redis.prefault({}),
  ingest: ingest.prefault({}),
  chunk: chunk.prefault({}),
  embedding: embedding.prefault({}),
  completion: completion.prefault({}),
  search: search.prefault({}),
  workers: workers.prefault({}),
  usage: usage.prefault({}),
  admin: admin.prefault({}),
  metrics: metrics.prefault({}),
  log: log.prefault({}),
});
export type FileSettings = z.infer<typeof fileSettingsSchema>;

/** Settings that only the environment gives. */
export interface EnvironmentSettings {
  /** Absolute path of the folder for everything that is kept. */
  readonly dataDirectory: string;
  /** null in dev mode when none is set: `loadOrCreateSecret` then makes one. */
  readonly jwtSecretKey: string | null;
  readonly jwtSecretKeyPrevious: string | null;
  readonly localUriPassword: string | null;
  readonly openaiApiKey: string | null;
}

export type Settings = FileSettings & EnvironmentSettings;

export interface Leaf {
  /** As in `quire.toml`: `api.max_json_bytes`; without a dot at the top level. */
  readonly name: string;
  readonly section: string | null;
  /** Property names within `Settings`. */
  readonly path: readonly [string] | readonly [string, string];
  /** Environment variables that set it, the one that wins first. */
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

/** Every setting of `quire.toml`, in its order. */
export const leaves: readonly Leaf[] = Object.entries(fileSettingsSchema.shape).flatMap(([key, schema]) =>
  leavesOf(schema, key),
);
