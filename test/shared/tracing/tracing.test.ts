import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  AlwaysOnSampler,
  ParentBasedSampler,
} from '@opentelemetry/sdk-trace';
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { AbandonedError } from '../../../src/api/services/abandoned-error.js';
import { GaveWayError } from '../../../src/shared/fair-scheduling/giving-way.js';
import { ingestOf } from '../../../src/shared/queues/job-kinds.js';
import { beginJobSpan, tracedAdding } from '../../../src/shared/queues/jobs.js';
import { createTracer, parseTraceparent } from '../../../src/shared/tracing/open-telemetry.js';
import {
  beginTrace,
  traced,
  tracedBy,
  tracedStream,
  traceIds,
  tracePlace,
  useTracer,
  withinTraces,
} from '../../../src/shared/tracing/tracing.js';
import { TurnOverError, NotYetError } from '../../../src/workers/job-turn.js';
import { makeDocument } from '../../support/documents.js';

const exporter = new InMemorySpanExporter();
const spans = () => exporter.getFinishedSpans();
const named = (name: string) => spans().filter((span) => span.name === name);

beforeEach(() => {
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  useTracer(createTracer(provider.getTracer('test')));
});
afterEach(() => {
  useTracer(null);
  exporter.reset();
});

const THEIRS = '4bf92f3577b34da6a3ce929d0e0e4736';
const from = (flags: string, isContinued: boolean) => ({
  traceparent: `00-${THEIRS}-00f067aa0ba902b7-${flags}`,
  isContinued,
});
const inTrace = <Result>(work: () => Promise<Result>) => tracedBy(beginTrace('root', { from: null }), work);

describe('the traceparent of a caller', () => {
  test.each(['00', '01'])(
    'with flags %s is only referred to, and everything is kept all the same',
    async (flags) => {
      await tracedBy(beginTrace('request', { from: from(flags, false) }), () => Promise.resolve());
      const [request] = named('request');
      expect(request?.spanContext().traceId).not.toBe(THEIRS);
      expect(request?.links.map(({ context }) => context.traceId)).toEqual([THEIRS]);
    },
  );

  test('is continued where that is set, with what it says of sampling', async () => {
    const run = (flags: string) =>
      tracedBy(beginTrace(flags, { from: from(flags, true) }), () =>
        traced('inner', {}, () => Promise.resolve()),
      );
    await run('01');
    await run('00');
    expect(spans().map((span) => [span.name, span.spanContext().traceId])).toEqual([
      ['inner', THEIRS],
      ['01', THEIRS],
    ]);
  });

  test.each([
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${THEIRS}-${'0'.repeat(16)}-01`,
    `ff-${THEIRS}-00f067aa0ba902b7-01`,
    `00-${THEIRS}-00f067aa0ba902b7-01-more`,
    `00-${THEIRS.toUpperCase()}-00f067aa0ba902b7-01`,
  ])('that is not valid counts as none: %p', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});

/** Errors that end work for a while, or because nobody waits for it any more. */
const INTERRUPTIONS = [
  new GaveWayError(),
  new NotYetError(1, 'room'),
  new TurnOverError(),
  new AbandonedError('client_closed'),
  new DelayedError(),
  new WaitingError(),
];

describe('spans', () => {
  test('begin no trace by themselves', async () => {
    await traced('alone', {}, () => Promise.resolve());
    expect(spans()).toEqual([]);
    expect(traceIds()).toBeNull();
  });

  test('say that work failed by the kind of the error alone, and not where it only gave way', async () => {
    const fail = (error: Error) => traced(error.name, {}, () => Promise.reject(error)).catch(() => undefined);
    await inTrace(async () => {
      await fail(new TypeError('quotes a document'));
      for (const interruption of INTERRUPTIONS) await fail(interruption);
    });
    expect(named('TypeError')[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'TypeError' },
    });
    for (const { name } of INTERRUPTIONS) expect(named(name)[0]?.status.code).toBe(SpanStatusCode.UNSET);
    const told = spans().map(({ attributes, status, events }) => ({ attributes, status, events }));
    expect(JSON.stringify(told)).not.toContain('quotes');
  });

  test('of a stream last from its first piece to its last, whoever reads it, and also when the reader leaves', async () => {
    const places: unknown[] = [];
    async function* pieces() {
      for (const piece of [1, 2, 3]) {
        await Promise.resolve();
        places.push(tracePlace());
        yield piece;
      }
    }
    const stream = await inTrace(() => {
      const opened = tracedStream('stream', {}, pieces);
      return Promise.resolve(opened[Symbol.asyncIterator]());
    });
    expect((await stream.next()).value).toBe(1);
    await stream.return?.();
    expect(named('stream')[0]?.parentSpanContext?.spanId).toBe(named('root')[0]?.spanContext().spanId);
    await inTrace(async () => {
      for await (const piece of tracedStream('left', {}, pieces)) if (piece === 2) break;
      for await (const piece of tracedStream('read', {}, pieces)) expect(piece).toBeLessThan(4);
    });
    expect(named('left')).toHaveLength(1);
    expect(named('read')).toHaveLength(1);
    expect(places.at(-1)).not.toBeNull();
  });

  test('of work for several are part of the first trace and linked to the others; those that are not kept are left out', async () => {
    const place = (name: string) =>
      tracedBy(beginTrace(name, { from: null }), () => Promise.resolve(tracePlace()));
    const unkept = await tracedBy(beginTrace('unkept', { from: from('00', true) }), () =>
      Promise.resolve(tracePlace()),
    );
    expect(unkept).toBeNull();
    const places = [unkept, await place('a'), await place('b'), await place('c')];
    await withinTraces([...places, ...places], () => traced('together', {}, () => Promise.resolve()));
    const [together] = named('together');
    expect(together?.spanContext().traceId).toBe(named('a')[0]?.spanContext().traceId);
    expect(together?.links.map(({ context }) => context.traceId)).toEqual(
      ['b', 'c'].map((name) => named(name)[0]?.spanContext().traceId),
    );
    await withinTraces([null], () => traced('nobody', {}, () => Promise.resolve()));
    expect(named('nobody')).toEqual([]);
  });
});

describe('a job', () => {
  const addition = ingestOf(makeDocument(), { requestId: 'r' });
  /** The job as BullMQ gives it to a worker, as far as traces look at it. */
  const jobOf = (opts: object, attemptsStarted = 1): Job =>
    // @NOTE a real one needs a queue
    ({ id: 'j', name: 'ingest', opts, attemptsStarted, timestamp: Date.now() - 1_000 }) as unknown as Job;
  const added = async () => {
    let opts: object = {};
    await tracedAdding(addition, (given) => {
      opts = given.jobs[0]?.opts ?? {};
      return Promise.resolve();
    });
    return opts;
  };

  test('takes the trace of the request that adds it to its worker, at each try, and tells its wait once', async () => {
    const opts = await inTrace(added);
    for (const attempt of [1, 2])
      await tracedBy(beginJobSpan('ingestion', jobOf(opts, attempt)), () => Promise.resolve());
    const [sent] = named('send ingestion-quick');
    expect(named('process ingestion').map((span) => span.parentSpanContext?.spanId)).toEqual([
      sent?.spanContext().spanId,
      sent?.spanContext().spanId,
    ]);
    const [wait, ...more] = named('queue wait');
    expect(more).toEqual([]);
    expect(wait?.duration[0]).toBeGreaterThanOrEqual(1);
  });

  test('that comes from elsewhere is as it was, and runs without a trace', async () => {
    const telemetry = { telemetry: { metadata: 'no JSON' } };
    expect(await added()).toEqual(addition.jobs[0]?.opts);
    for (const opts of [{}, telemetry, { telemetry: { metadata: '{"other":1}' } }]) {
      const outcome = tracedBy(beginJobSpan('ingestion', jobOf(opts)), () => Promise.resolve('done'));
      expect(await outcome).toBe('done');
    }
    expect(spans()).toEqual([]);
  });
});
