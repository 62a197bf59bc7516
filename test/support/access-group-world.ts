import { beforeEach } from '@jest/globals';
import { callerTags, readerTag } from '../../src/shared/access/access.js';
import { createAccessGroups } from '../../src/shared/access/access-groups.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { finishRetag, patch } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { useTestRedis } from './use-test-redis.js';

/** Later than any grace. */
export const LATER = Number.MAX_SAFE_INTEGER;

/** Ids of as many users. */
export const users = (count: number, name = 'user'): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${String(i)}`);

/** Records and their access groups on the Redis of this Jest worker, which every test finds empty. */
export function useAccessGroupWorld() {
  const { redis } = useTestRedis();
  beforeEach(async () => {
    await redis.flushAll();
  });
  const records = createRecords(redis);
  const membersOf = (callerId: string) => redis.zRange(keys.accessGroupsOf(readerTag(callerId)), 0, -1);
  const tagsOf = async (callerId: string) => callerTags({ id: callerId }, await membersOf(callerId));
  return {
    redis,
    records,
    groups: createAccessGroups(redis),
    membersOf,
    tagsOf,
    /** Tells whether a caller's query reaches a document by the tags that its record carries. */
    reaches: async (callerId: string, documentId: string): Promise<boolean> => {
      const tags = new Set((await redis.hGet(keys.document(documentId), 'tags'))?.split(','));
      return (await tagsOf(callerId)).tags.some((tag) => tags.has(tag));
    },
    /** Changes the readers; until what it returns is called, chunks may have the tags of before. */
    share: async (id: string, readers: readonly string[]) => {
      const { record } = await records.update(id, (each) => patch(each, { readers: [...readers] }));
      return () => records.update(id, (each) => finishRetag(each, record?.retag ?? 0));
    },
  };
}
