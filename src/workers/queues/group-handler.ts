import { wholeChunking } from '../../shared/chunking.js';
import { ingestGroupJob } from '../../shared/queues/job-kinds.js';
import { TERMS_AT_ONCE } from '../../shared/term-statistics/count-steps.js';
import { INDEXED_AT_ONCE } from '../../shared/batches.js';
import type { WorkerContext } from '../context.js';
import { createTurns } from '../../shared/fair-scheduling/turns.js';
import { embedPieces } from '../ingestion/embed-pieces.js';
import { createIngestGroup } from '../ingestion/group-job.js';
import { createIngestShort, type IngestShort } from '../ingestion/ingest-short.js';
import { requireMemory } from '../ingestion/write-only-with-memory.js';
import type { JobHandler } from '../lane-worker.js';
import { chunkPlainText } from '../parse/parse-and-chunk.js';

/** The size of one step of publishing, which takes Redis some milliseconds, also where each vector enters an index. */
const STEP_CHUNKS = 64;
const STEP_BYTES = 512 * 1024;
/** The number of texts that this process embeds in a few milliseconds. */
const EMBEDDED_AT_ONCE = 8;
/** More than a group has, so that requests to a provider are as full as they can be. */
const SENT_AT_ONCE = 1_000;
/**
 * While the provider is away, a group waits for it. One that was begun this often may wait for a single text, for which the
 * provider alone fails each time.
 */
const MAX_BEGINNINGS = 5;

/** While one waits for Redis, another has the processor. More of them would only hold up single texts. */
export const GROUPS_AT_ONCE = 3;

/** Ingests short texts in this process, of groups and alone. */
export function openIngestShort(context: WorkerContext): IngestShort {
  const { settings, dataSet, isEmbeddingRemote } = context;
  const { maxChunks } = settings.ingest;
  return createIngestShort({
    ...context,
    chunkText: (text, chunking) =>
      chunkPlainText(text, { ...wholeChunking(chunking, settings.chunk), maxChunks }),
    embedPieces: (pieces, signal) => embedPieces(context, pieces, signal),
    embeddedAtOnce: isEmbeddingRemote ? SENT_AT_ONCE : EMBEDDED_AT_ONCE,
    requireMemory: () => requireMemory(context.memory),
    limits: {
      chunks: dataSet.index === null ? STEP_CHUNKS : INDEXED_AT_ONCE,
      bytes: STEP_BYTES,
      terms: TERMS_AT_ONCE,
    },
  });
}

/** Runs the jobs of groups. A group that has failed is split into jobs of single documents, so that it never fails for good. */
export function groupHandler(context: WorkerContext): JobHandler {
  const { isEmbeddingRemote } = context;
  const run = createIngestGroup({
    ...context,
    ingestShort: openIngestShort(context),
    turns: createTurns(GROUPS_AT_ONCE),
  });
  return {
    isNews: true,
    run: ({ data, attemptsMade, attemptsStarted, stalledCounter }, signal) => {
      const isOften = isEmbeddingRemote && attemptsStarted > MAX_BEGINNINGS;
      const isFirst = attemptsMade === 0 && stalledCounter === 0 && !isOften;
      return run(ingestGroupJob.parse(data), { signal, isFirst });
    },
  };
}
