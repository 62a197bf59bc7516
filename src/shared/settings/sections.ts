import { z } from 'zod';
import {
  choice,
  flag,
  host,
  httpUrl,
  isRedisUrl,
  orEmpty,
  origins,
  share,
  shareOrAuto,
  text,
  whole,
} from './setting-kinds.js';
import { trustProxy } from './trusted-proxies.js';

const hour = 3600;
const day = 24 * hour;
const gigabyte = 1024 ** 3;

export const api = z.strictObject({
  host: text('127.0.0.1', host, 'Address that the API listens on.', { alias: 'HOST' }),
  port: whole(8000, { min: 1, max: 65_535 }, 'Port that the API listens on.', { alias: 'PORT' }),
  publicUrl: text(
    '',
    orEmpty(httpUrl),
    'Address that clients know the API by, for links; empty: as requested.',
  ),
  maxJsonBytes: whole(8_388_608, { min: 1024, max: gigabyte }, 'Largest JSON body, in bytes.'),
  bodyMemoryMegabytes: whole(
    128,
    { min: 16, max: 1_048_576 },
    'Memory for request bodies in an API process, of which a caller may use a quarter; more is answered 503.',
  ),
  slowBodySeconds: whole(
    20,
    { min: 1, max: hour },
    'After this time a body must have arrived at 500 bytes a second on average; a slower one is answered 408.',
  ),
  corsOrigins: origins,
  uriScheme: text(
    'databridge',
    { accepts: (value) => /^[a-z][a-z0-9+.-]{0,31}$/.test(value), allowed: 'a URI scheme in lower case' },
    'Scheme of the connection URIs that /local/generate_uri makes.',
  ),
  uriHost: text('', orEmpty(host), 'Host of connection URIs; empty: as requested.'),
  uriPort: whole(0, { min: 0, max: 65_535 }, 'Port of connection URIs; 0: as requested.'),
  downloadUrlSeconds: whole(hour, { min: 1, max: 7 * day }, 'How long a download_url is valid.'),
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
  stalledSeconds: whole(
    60,
    { min: 1, max: hour },
    'A client that reads less than 64 KiB of its answer in this time is disconnected.',
  ),
  answerMemoryMegabytes: whole(
    256,
    { min: 16, max: 1_048_576 },
    'Memory for answers that clients have not read yet; beyond it large answers wait, and then become a 503.',
  ),
  idempotencyMegabytes: whole(
    64,
    { min: 1, max: 1_048_576 },
    'Memory of Redis for what is remembered of the requests of a caller with an Idempotency-Key; more keys are answered 429.',
  ),
  shutdownDelaySeconds: whole(
    0,
    { min: 0, max: 299 },
    'How long an API process that is asked to stop goes on serving, so that balancers notice; part of workers.drain_seconds, and less than it.',
  ),
  trustProxy,
});

export const redis = z.strictObject({
  url: text(
    '',
    orEmpty({ accepts: isRedisUrl, allowed: 'a redis:// or rediss:// address' }),
    'Redis to use; empty: `npm start` finds or starts one.',
    { secret: true, alias: 'REDIS_URL' },
  ),
});

/** The user and group without any rights on Debian, Alpine, Fedora and related systems. */
const nobody = 65_534;
const ids = { min: 1, max: 4_294_967_294 };
export const ingest = z.strictObject({
  waitSeconds: whole(20, { min: 0, max: 120 }, 'How long an ingest waits for its document to be searchable.'),
  maxFileBytes: whole(104_857_600, { min: 1, max: 16 * gigabyte }, 'Largest uploaded file, in bytes.'),
  maxBatchDocuments: whole(1_000, { min: 1, max: 100_000 }, 'Maximum number of texts in a JSON batch.'),
  maxBatchFiles: whole(100, { min: 1, max: 10_000 }, 'Maximum number of files in a form with many files.'),
  maxChunks: whole(
    20_000,
    { min: 1, max: 1_000_000 },
    'Maximum number of chunks of a document; a document with more fails as `too_large`.',
  ),
  parseSeconds: whole(120, { min: 1, max: hour }, 'Longest time for parsing and chunking a document.'),
  parseMemoryMegabytes: whole(2048, { min: 1536, max: 1_048_576 }, 'Address space of a parser process.'),
  parserProcesses: whole(
    2,
    { min: 1, max: 64 },
    'Maximum number of parser processes of an ingestion worker.',
  ),
  parserIdleSeconds: whole(
    60,
    { min: 1, max: hour },
    'A parser process without a document for so long ends; the next document starts one.',
  ),
  parserUid: whole(nobody, ids, 'User that parser processes run as where the worker is root; 65534: nobody.'),
  parserGid: whole(nobody, ids, 'Group that parser processes run as where the worker is root.'),
  maxWaiting: whole(
    100_000,
    { min: 1, max: 10_000_000 },
    'Maximum number of documents of all callers that wait or are being ingested; more are answered 503.',
  ),
  maxWaitingPerCaller: whole(
    20_000,
    { min: 1, max: 10_000_000 },
    'Maximum number of documents of a caller that wait or are being ingested; more are answered 429.',
  ),
  maxMemoryShare: share(
    0.85,
    'Share of the `maxmemory` of Redis above which requests that make it grow are answered 503, and waiting ones are put off.',
    { min: 0.1, max: 0.95 },
  ),
});

export const chunk = z.strictObject({
  size: whole(512, { min: 16, max: 8192 }, 'Maximum number of tokens of a chunk.'),
  overlap: whole(
    64,
    { min: 0, max: 8191 },
    'Tokens of the chunk before that a chunk repeats; less than chunk.size.',
  ),
});

export const search = z.strictObject({
  timeoutSeconds: whole(10, { min: 1, max: 300 }, 'Longest time for the index to answer.'),
  ranking: choice(
    ['auto', 'semantic', 'lexical', 'hybrid'],
    'auto',
    'What scores chunks unless a request says: vectors, words or both; `auto`: `lexical` with the builtin embedder, else `semantic`.',
  ),
  words: choice(
    ['auto', 'postings', 'engine'],
    'auto',
    'What finds words beside the Query Engine: `postings` in each API process, or the full-text index of the `engine`; `auto`: `postings`, as always without it.',
  ),
  hybridWeight: shareOrAuto(
    'Share of the vectors in a `hybrid` score; the rest is the share of the words; `auto`: the fewer different terms a query has, the more (half at ten).',
  ),
});

const concurrency = { min: 1, max: 256 };
export const workers = z.strictObject({
  ingestionConcurrency: whole(
    8,
    concurrency,
    'Quick documents that an ingestion worker handles at once; the same for others, but at most two for each parser process.',
  ),
  embeddingConcurrency: whole(
    32,
    concurrency,
    'Batches and groups of short texts that an embedding worker handles at once while a provider embeds them; with the builtin embedder at most 8.',
  ),
  cacheConcurrency: whole(
    2,
    concurrency,
    'Caches of up to 100 documents that a cache worker builds at once; the same for larger ones.',
  ),
  lockSeconds: whole(
    10,
    { min: 2, max: hour },
    'Time after which the job of a worker that died goes to another.',
  ),
  sweepSeconds: whole(
    15,
    { min: 1, max: hour },
    'How often unfinished documents without a job are looked for.',
  ),
  keepSourcesSeconds: whole(
    hour,
    { min: 0, max: 90 * day },
    'How long source files that no document refers to any more are kept, for a Redis that comes back with older data.',
  ),
  drainSeconds: whole(25, { min: 1, max: 300 }, 'How long a stopping process waits for what it has begun.'),
});

export const usage = z.strictObject({
  keepDays: whole(90, { min: 1, max: 3650 }, 'Days that usage records are kept.'),
  keepRecords: whole(10_000, { min: 1, max: 1_000_000 }, 'Maximum number of usage records kept of a user.'),
});

export const admin = z.strictObject({
  queuesReadOnly: flag(
    true,
    'Whether /admin/queues only shows jobs, without buttons to retry and remove them.',
  ),
  sessionMinutes: whole(60, { min: 1, max: 1440 }, 'How long a login at /admin/login is valid.'),
});

export const metrics = z.strictObject({
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

export const log = z.strictObject({
  level: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Lowest level that is logged.',
  ),
});
