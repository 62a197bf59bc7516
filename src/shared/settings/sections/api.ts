import { z } from 'zod';
import {
  choice,
  day,
  flag,
  gigabyte,
  host,
  hour,
  httpUrl,
  orEmpty,
  origins,
  text,
  whole,
} from '../setting-kinds.js';
import { trustProxy } from '../addresses.js';

export const api = z.strictObject({
  host: text('127.0.0.1', host, 'Address that the API listens on.', { alias: 'HOST' }),
  port: whole(8000, { min: 1, max: 65_535 }, 'Port that the API listens on.', { alias: 'PORT' }),
  publicUrl: text(
    '',
    orEmpty(httpUrl),
    'Address that clients know the API by, for links; empty: as requested.',
  ),
  maxJsonBytes: whole(8_388_608, { min: 1024, max: gigabyte }, 'Largest JSON body, in bytes.'),
  unknownFields: choice(
    ['ignore', 'refuse'],
    'ignore',
    'Treatment of fields that are not known, where a request does not say it (Prefer: handling=strict or lenient): they are ignored and named in the header Quire-Ignored, or refused.',
  ),
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
  downloadUrlSeconds: whole(hour, { min: 1, max: 7 * day }, 'Time for which a download_url is valid.'),
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
  connectionsPerAddress: whole(
    0,
    { min: 0, max: 10_000 },
    'Connections that an address may have to an API process; 0: a quarter of all. Trusted proxies may have all.',
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
    'Time for which an API process that is asked to stop goes on serving, so that balancers notice; part of workers.drain_seconds, and less than it.',
  ),
  probeModels: flag(
    true,
    'Lets an API process ask the embedder, completer and reranker of other hosts something small when it starts, and say in the log and at /health/ready which of them fail.',
  ),
  trustProxy,
});
