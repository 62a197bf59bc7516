import { callerTags } from '../../src/shared/access/access-group.js';
import { createAccessGroups } from '../../src/shared/access/access-groups.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { finishRetag, patch } from '../../src/shared/documents/transitions.js';
import { readerTag } from '../../src/shared/access/access-tags.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { emptyTestRedis } from './use-test-redis.js';

export type AccessGroupWorld = Awaited<ReturnType<typeof openAccessGroupWorld>>;

/** Records and their access groups on the Redis of this Jest worker. */
export async function openAccessGroupWorld() {
  const redis = createRedis(await emptyTestRedis(), { failFast: true, onError: () => undefined });
  await redis.connect();
  const records = createRecords(redis);
  const membersOf = (callerId: string) => redis.zRange(keys.accessGroupsOf(readerTag(callerId)), 0, -1);
  const tagsOf = async (callerId: string) => callerTags(callerId, await membersOf(callerId));
  return {
    redis,
    records,
    groups: createAccessGroups(redis),
    membersOf,
    tagsOf,
    /** Whether a caller's query reaches a document by the tags that its record carries. */
    reaches: async (callerId: string, documentId: string): Promise<boolean> => {
      const tags = new Set((await redis.hGet(keys.document(documentId), 'tags'))?.split(','));
      return (await tagsOf(callerId)).tags.some((tag) => tags.has(tag));
    },
    /** Changes the readers; until what it returns is called, chunks may have the tags of before. */
    share: async (id: string, readers: readonly string[]) => {
      const { record } = await records.update(id, (each) => patch(each, { readers: [...readers] }));
      return () => records.update(id, (each) => finishRetag(each, record?.retag ?? 0));
    },
    close: (): void => redis.destroy(),
  };
}
