import { isAbsolute } from 'node:path';
import { z } from 'zod';
import {
  choice,
  day,
  flag,
  hour,
  isRedisUrl,
  orEmpty,
  text,
  whole,
  httpUrl,
  share,
} from '../setting-kinds.js';

export const redis = z.strictObject({
  url: text(
    '',
    orEmpty({ accepts: isRedisUrl, allowed: 'a redis://, rediss:// or unix:// address' }),
    'Redis to use; empty: `npm start` finds or starts one.',
    { secret: true, alias: 'REDIS_URL' },
  ),
  directory: text(
    '',
    orEmpty({ accepts: isAbsolute, allowed: 'an absolute path' }),
    "The folder of Redis' data where it is on a disk of this machine, so that the disk is not filled; `npm start` sets it for its own Redis.",
  ),
});

export const disk = z.strictObject({
  minFreeMegabytes: whole(
    512,
    { min: 0, max: 1_000_000 },
    'Space that stays free on each disk that is written. With less, nothing is taken that makes data grow.',
  ),
});

export const usage = z.strictObject({
  keepDays: whole(90, { min: 1, max: 3650 }, 'Days that usage records are kept.'),
  keepRecords: whole(10_000, { min: 1, max: 1_000_000 }, 'Maximum number of usage records kept of a user.'),
});

const most = Number.MAX_SAFE_INTEGER;

export const quota = z.strictObject({
  documents: whole(
    0,
    { min: 0, max: most },
    'Documents that a user may own; more are answered 507; 0: no quota.',
  ),
  bytes: whole(
    0,
    { min: 0, max: most },
    'Bytes of the sources of all documents that a user owns; 0: no quota.',
  ),
  chunks: whole(
    0,
    { min: 0, max: most },
    'Chunks of all documents that a user owns; a document that would pass it fails as `too_large`; 0: no quota.',
  ),
});

export const admin = z.strictObject({
  queuesReadOnly: flag(true, 'Lets /admin/queues only show jobs, without buttons to retry and remove them.'),
  sessionMinutes: whole(
    60,
    { min: 1, max: 1440 },
    'Time for which a login at /admin/login or /view/login is valid.',
  ),
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

export const audit = z.strictObject({
  log: flag(
    false,
    'Writes a line for each request and each change of a document: who read, changed, searched and shared what, by ids alone.',
  ),
  folder: text(
    '',
    orEmpty({ accepts: isAbsolute, allowed: 'an absolute path' }),
    'Folder that these lines are written to; empty: `audit` in the data folder.',
  ),
  keepDays: whole(365, { min: 1, max: 3650 }, 'Days that files of the audit log are kept.'),
  maxMegabytes: whole(
    10_240,
    { min: 0, max: 1_000_000 },
    'Most that all files of the audit log may take together; beyond it the oldest are removed first, and the files of today hold no more lines; 0: no limit.',
  ),
  required: flag(
    false,
    'Refuses requests (503) while the audit log cannot be written; otherwise they go on, and lines may be lost.',
  ),
});

export const log = z.strictObject({
  level: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Lowest level that is logged.',
  ),
});

const concurrency = { min: 1, max: 256 };
export const workers = z.strictObject({
  ingestionConcurrency: whole(
    8,
    concurrency,
    'Quick documents that an ingestion worker handles at once; the same for others, but at most three for each parser process.',
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
    'Time between two searches for unfinished documents without a job.',
  ),
  keepSourcesSeconds: whole(
    hour,
    { min: 0, max: 90 * day },
    'Time for which source files that no document refers to any more are kept, for a Redis that comes back with older data.',
  ),
  drainSeconds: whole(
    25,
    { min: 1, max: 300 },
    'Time for which a stopping process waits for the work that it has begun.',
  ),
});

/** The samplers of OpenTelemetry's specification that need no package of their own. */
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

/** `key=value` pairs as in the header `baggage`, whose values may be percent-encoded. */
const isHeaderList = (value: string): boolean => {
  const pairs = value.split(',').map((pair) => pair.trim());
  return pairs.every((pair) => /^[\w!#$%&'*+.^`|~-]+\s*=[\x20-\x7e]*$/.test(pair));
};

export const traces = z.strictObject({
  endpoint: text(
    '',
    orEmpty(httpUrl),
    'Address that traces are sent to: a collector of OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` is added. Empty: no traces are made.',
    { alias: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  ),
  disabled: flag(false, 'Makes no traces, whatever else is set.', { alias: 'OTEL_SDK_DISABLED' }),
  headers: text(
    '',
    orEmpty({ accepts: isHeaderList, allowed: '`name=value` pairs, separated by commas' }),
    'Headers of what is sent to the collector, such as `authorization=Bearer%20…`.',
    { secret: true, alias: 'OTEL_EXPORTER_OTLP_HEADERS' },
  ),
  serviceName: text(
    'quire',
    { accepts: (value) => /^\S.{0,99}$/.test(value), allowed: 'a name of 1 to 100 characters' },
    'Name of the service in traces.',
    { alias: 'OTEL_SERVICE_NAME' },
  ),
  sampler: choice(SAMPLERS, 'parentbased_always_on', 'Choice of the requests that become traces.', {
    alias: 'OTEL_TRACES_SAMPLER',
  }),
  ratio: share(1, 'The share of requests that become traces, for the samplers with `traceidratio`.', {
    alias: 'OTEL_TRACES_SAMPLER_ARG',
  }),
  parent: choice(
    ['link', 'continue'],
    'link',
    'Treatment of the `traceparent` of a request: `link` begins a trace of its own, which refers to it and is sampled by its own rule; `continue` goes on with the trace, and samples as the caller says. Only where all callers are trusted.',
  ),
  toProviders: flag(
    false,
    'Sends a `traceparent` to providers of models, for servers of your own that continue traces.',
  ),
});
