import type { Job } from 'bullmq';
import { warnOfMissingLanguages } from '../../readers/index.js';
import type { DocumentRecord } from '../../shared/document.js';
import type { Fence } from '../../shared/documents/transitions.js';
import { wasDeleted } from '../../shared/documents/tombstones.js';
import { createPagePictures } from '../../shared/page-pictures/page-pictures.js';
import { createPageWaits, MAX_PAGE_WAITS } from '../../shared/page-pictures/page-waits.js';
import { attachmentsJob, ingestGroupJob, ingestJob, renderJob } from '../../shared/queues/job-kinds.js';
import type { WorkerContext } from '../context.js';
import { attachmentLimits, createMakeAttachments } from '../ingestion/attachments/make-attachments.js';
import { createRefuseToWait } from '../ingestion/attachments/make-one.js';
import { createMakeWaiting } from '../ingestion/attachments/make-waiting.js';
import { createIngestJob } from '../ingestion/ingest-job.js';
import { createReadContent, type ReadContent } from '../ingestion/read-source.js';
import { requireMemory, writeOnlyWithMemory } from '../ingestion/write-only-with-memory.js';
import type { JobHandler } from '../lane-worker.js';
import { createPageTurns } from '../pages/page-turns.js';
import { createRenderJob } from '../pages/render-job.js';
import { startParserPool, type ParserPool } from '../parse/pool.js';
import { failJob } from './fail-job.js';
import { GROUPS_AT_ONCE, groupHandler, openIngestShort } from './group-handler.js';
import type { LaneService, QueueService } from './queue-service.js';
import { createSlowFiles } from './slow-files.js';

export async function serveIngestion(context: WorkerContext): Promise<QueueService> {
  const { settings, storage } = context;
  const { ingest } = settings;
  const concurrency = settings.workers.ingestionConcurrency;
  const parser = await startParsers(context);
  const readContent = createReadContent({ storage, parser });
  const attachments = createAttachments(context);
  const chunks = writeOnlyWithMemory(context.chunks, context.memory);
  const run = createIngestJob({ ...context, chunks, readContent, attachments });
  const failJobs = failJob(context, 'parsing');
  const quick: JobHandler = { isNews: true, run: runQuick(context, run), failJob: failJobs };
  const files = createSlowFiles({ ...context, parsers: ingest.parserProcesses, concurrency });
  const slow: JobHandler = {
    isNews: true,
    run: (job, signal) => files.run(job, signal, (reading) => run(...callOf(job, reading))),
    nextTurn: files.nextTurn,
    failJob: failJobs,
  };
  const waiting = waitingAttachments(context, { ...attachments, readContent, files });
  return {
    lanes: [
      { lane: 'ingestion-quick', concurrency, handlers: { ingest: quick } },
      groupLane(context),
      pageLane(context, parser),
      { lane: 'ingestion', concurrency: files.concurrency, handlers: { ingest: slow, ...waiting } },
    ],
    close: () => parser.close(),
  };
}

/** Reads the data of a job, and adds how it is run. */
function callOf<How extends object>({ data }: Job, how: How): [Fence, How & { readonly requestId: string }] {
  const { requestId, ...fence } = ingestJob.parse(data);
  return [fence, { ...how, requestId }];
}

function createAttachments(context: WorkerContext) {
  const { redis, memory, settings } = context;
  const parts = {
    ...context,
    refuseToWait: createRefuseToWait(redis, settings.ingest, memory),
    wasDeleted: (id: string) => wasDeleted(redis, id),
  };
  return {
    parts,
    limitsOf: (record: DocumentRecord) => attachmentLimits(settings.ingest, record),
    make: createMakeAttachments(parts),
  };
}

interface WaitingParts extends ReturnType<typeof createAttachments> {
  readonly readContent: ReadContent;
  readonly files: ReturnType<typeof createSlowFiles>;
}

/** Makes documents of attachments for which there was no room. Their file is read in the turns that slow files have. */
function waitingAttachments(
  context: WorkerContext,
  { parts, limitsOf, readContent, files }: WaitingParts,
): LaneService['handlers'] {
  const { makeWaiting, giveUp } = createMakeWaiting({ ...context, ...parts, limitsOf, readContent });
  return {
    'make-waiting': {
      isNews: true,
      run: (job, signal) => {
        const { requestId, documentId } = attachmentsJob.parse(job.data);
        const tries = job.attemptsStarted;
        return files.run(job, signal, (reading) => makeWaiting(documentId, { requestId, tries, ...reading }));
      },
      nextTurn: files.nextTurn,
      failJob: (job) => giveUp(attachmentsJob.parse(job.data).documentId),
    },
  };
}

function startParsers({ settings: { ingest, chunk }, logger }: WorkerContext) {
  const ocrLanguages = ingest.ocrLanguages.split('+');
  warnOfMissingLanguages(ingest.ocr === 'off' ? [] : ocrLanguages, logger);
  return startParserPool({
    user: { uid: ingest.parserUid, gid: ingest.parserGid },
    size: ingest.parserProcesses,
    idleMilliseconds: ingest.parserIdleSeconds * 1_000,
    memoryMegabytes: ingest.parseMemoryMegabytes,
    timeoutMilliseconds: ingest.parseSeconds * 1_000,
    maxChunks: ingest.maxChunks,
    chunk,
    readOptions: {
      hiddenText: ingest.hiddenText,
      ocr: ingest.ocr,
      ocrLanguages,
      keepsPartial: ingest.partial,
    },
    logger,
  });
}

const groupLane = (context: WorkerContext): LaneService => ({
  lane: 'ingestion-groups',
  concurrency: Math.min(context.settings.workers.ingestionConcurrency, GROUPS_AT_ONCE),
  handlers: {
    'ingest-group': context.isEmbeddingRemote ? passToEmbedding(context) : groupHandler(context),
  },
});

/** A provider may be slow or away, so that groups wait for it in the lane of embedding. */
const passToEmbedding = ({ jobs }: WorkerContext): LaneService['handlers'][string] => ({
  isNews: true,
  run: async ({ id, data }) => {
    if (id === undefined) throw new Error('a job without an id');
    await jobs.addEmbedGroup(id, ingestGroupJob.parse(data));
    return 'done';
  },
});

/**
 * Runs the jobs of quick documents. A short text is a group of one, which waits for no turn, unless a provider makes its
 * vectors: that may be slow or away. As with groups, a job that has failed or ended its worker tries the way of files.
 */
function runQuick(context: WorkerContext, run: ReturnType<typeof createIngestJob>): JobHandler['run'] {
  const ingestShort = context.isEmbeddingRemote ? null : openIngestShort(context);
  return async (job, signal) => {
    const [fence, call] = callOf(job, { signal });
    const isFirst = job.attemptsMade === 0 && job.stalledCounter === 0;
    const alone = { signal, inTurn: <Result>(work: () => Promise<Result>) => work() };
    const done = isFirst ? await ingestShort?.([fence], alone) : null;
    return done?.published === 1 ? 'published' : await run(fence, call);
  };
}

/**
 * Every request that waits has its job in hand, so that the one goes next whose caller has used least; and as many pages are
 * drawn at last whose requests have left.
 */
const JOBS_AT_ONCE = 2 * MAX_PAGE_WAITS;

/** The lane of pages that callers wait to see. */
function pageLane(context: WorkerContext, parser: ParserPool): LaneService {
  const pictures = createPagePictures(context.redis);
  const run = createRenderJob({
    ...context,
    parser,
    pictures,
    waits: createPageWaits(context.redis),
    turns: createPageTurns(),
    requireMemory: () => requireMemory(context.memory),
  });
  return {
    lane: 'ingestion-pages',
    concurrency: JOBS_AT_ONCE,
    handlers: {
      render: {
        run: ({ data }, signal) => run(renderJob.parse(data), signal),
        failJob: ({ data }) =>
          pictures.fail(renderJob.parse(data), {
            code: 'internal',
            message: 'The page could not be rendered',
          }),
      },
    },
  };
}
