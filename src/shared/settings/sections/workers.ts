import { z } from 'zod';
import { whole } from '../setting-kinds.js';

const hour = 3600;
const day = 24 * hour;

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
