import type { Job } from 'bullmq';
import { jobMarks } from '../shared/queues/payloads.js';
import { defineScript, type Redis } from '../shared/redis/client.js';
import { queueKeys } from '../shared/redis/keys.js';

/** Notes in a job the reason why it is put off, so that operators see why it waits. */
export type NoteWait = (job: Pick<Job, 'id' | 'queueName'>, waitsFor: string) => Promise<void>;

/** KEYS[1] a job's hash, ARGV[1] the reason. A job that is gone gets none. */
const note = defineScript<number>(
  `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
  return redis.call('HSET', KEYS[1], '${jobMarks.waitsFor}', ARGV[1])`,
  { evenWhenFull: true },
);

export function createNoteWait(redis: Redis): NoteWait {
  return async ({ id = '', queueName }, waitsFor) => {
    const call = { keys: [queueKeys.job(queueName, id)], arguments: [waitsFor] };
    // The reason only informs, and a job is also put off while Redis is away.
    await note.run(redis, call).catch(() => undefined);
  };
}
