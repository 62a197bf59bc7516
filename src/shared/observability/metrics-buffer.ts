import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { BATCHES, createNumberedBatches } from '../redis/numbered-batches.js';
import { bucketOf, fieldOf, type WorkerMetrics } from './worker-metrics.js';

export interface MetricsBuffer extends WorkerMetrics {
  /** Adds the noted values to the sums in Redis. Values that could not be sent are kept for the next time. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  close(): Promise<void>;
}

/**
 * Collects the metrics of a worker and adds them to sums over all workers and restarts,
 * which the API shows, since workers have no HTTP.
 */
export function createMetricsBuffer(
  redis: Redis,
  { everyMilliseconds = 1_000, onError }: { everyMilliseconds?: number; onError: (error: unknown) => void },
): MetricsBuffer {
  const notes = createNotes();
  const sender = createSender(redis, notes.take);
  const timer = setInterval(() => {
    if (!sender.isSending()) sender.send().catch(onError);
  }, everyMilliseconds);
  timer.unref();

  return {
    add: (name, labels, by = 1) => {
      notes.add(fieldOf(name, labels), by);
    },
    observe: (name, labels, seconds) => {
      notes.add(fieldOf(name, labels, 'sum'), seconds);
      notes.add(fieldOf(name, labels, bucketOf(seconds)), 1);
    },
    flush: sender.send,
    close: async () => {
      clearInterval(timer);
      // The flush that is under way reports its own failure.
      await sender.ended();
      await sender.send().catch(onError);
    },
  };
}

type Sums = ReadonlyMap<string, number>;

/** Keeps the values noted since they were last taken. */
function createNotes() {
  let noted = new Map<string, number>();
  return {
    add: (field: string, by: number): void => {
      if (Number.isFinite(by)) noted.set(field, (noted.get(field) ?? 0) + by);
    },
    /** Null when nothing was noted. */
    take: (): Sums | null => {
      if (noted.size === 0) return null;
      const taken = noted;
      noted = new Map();
      return taken;
    },
  };
}

/** Sends batches until `take` has no more. One run happens at a time, since a Redis that is away keeps a run waiting. */
function createSender(redis: Redis, take: () => Sums | null) {
  const batches = createNumberedBatches<Sums>(keys.metricsBatch);
  let running: Promise<void> = Promise.resolve();
  let isSending = false;

  const sendNext = () =>
    batches.send(take, async (values, { key, number }) => {
      await addScript.run(redis, {
        keys: [keys.metrics, key],
        arguments: [number, ...[...values].flatMap(([field, by]) => [field, String(by)])],
      });
    });
  const sendAll = async () => {
    while (await sendNext());
  };
  return {
    isSending: () => isSending,
    /** Joins the run that is under way, or starts one. */
    send: (): Promise<void> => {
      if (isSending) return running;
      isSending = true;
      running = sendAll().finally(() => {
        isSending = false;
      });
      return running;
    },
    /** Resolves when no run is under way any more, however it ended. */
    ended: (): Promise<void> => running.catch(() => undefined),
  };
}

const addScript = defineScript<number>(`${BATCHES}
if answer_to_batch(KEYS[2], ARGV[1]) then return 0 end
note_batch(KEYS[2], ARGV[1], '')
for i = 2, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
`);
