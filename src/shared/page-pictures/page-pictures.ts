import { RESP_TYPES } from 'redis';
import { z } from 'zod';
import { FAILURE_CODES, type FailureCode } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript, SERVER_TIME } from '../redis/script.js';

/** A page of a generation, with a passage marked. */
export interface PageId {
  readonly generation: string;
  /** Numbered from 1. */
  readonly page: number;
  /** The passage, as `writeHighlight` writes it; null for a page without a mark. */
  readonly highlight: string | null;
}

/** The reason why a page has no picture. `stale` means that its generation is no longer the published one. */
export interface RenderFailure {
  readonly code: FailureCode | 'stale';
  /** Safe to show. */
  readonly message: string;
}

/** The result of rendering a page. */
export type RenderOutcome =
  { readonly type: 'rendered'; readonly bytes: number } | ({ readonly type: 'failed' } & RenderFailure);

/** No page of the size at which pages are rendered makes a larger PNG. */
export const MAX_PICTURE_BYTES = 20 * 1024 ** 2;
/** All pictures in Redis together. The oldest make room for new ones. */
const MAX_ALL_BYTES = 64 * 1024 ** 2;
const MAX_PICTURES = 500;
const KEPT_MILLISECONDS = 300_000;
/** A page that cannot be rendered is not tried again for so long, however often it is asked for. */
const FAILED_MILLISECONDS = 30_000;
/** A page that took long is as slow the next time, and keeps others waiting again. */
const REMEMBERED_SECONDS = 3_600;
/**
 * How long a page is refused that took too long once, twice, and so on. One that no processor was free for is drawn soon, and
 * one that always takes too long keeps others waiting once an hour.
 */
const REFUSED_MINUTES = [1, 4, 16, 60] as const;
/** The time after which a page that failed by our fault may be tried again, since it may succeed soon. */
const OUR_FAILURE_MILLISECONDS = 3_000;

export type PagePictures = ReturnType<typeof createPagePictures>;

/**
 * Pictures of pages in Redis, where workers put them and the API finds them for some minutes. They are within a bound on their
 * number and bytes, and tell nothing of who may see them: that is checked each time one is sent.
 */
export function createPagePictures(redis: Redis) {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  return {
    /** Null while there is none. */
    outcome: async (id: PageId): Promise<RenderOutcome | null> => {
      const [outcome, late] = await Promise.all([readOutcome(redis, pictureKey(id)), readLate(redis, id)]);
      const minutes = minutesLeft(late);
      return outcome ?? (minutes > 0 ? refusal(minutes) : null);
    },
    /** Null when it has expired or made room for others. */
    read: async (id: PageId): Promise<Buffer | null> => {
      const png = await binary.hGet(pictureKey(id), 'png');
      return png instanceof Buffer ? png : null;
    },
    /** Keeps a picture of at most `MAX_PICTURE_BYTES`, and wakes the requests that wait for it. */
    keep: (id: PageId, png: Buffer) =>
      write(redis, id, { code: '', message: '', png, milliseconds: KEPT_MILLISECONDS }),
    /** Notes that there is no picture, and wakes the requests that wait for it. */
    fail: async (id: PageId, { code, message }: RenderFailure) => {
      const told = code === 'timeout' ? refusal(await noteLate(redis, id)).message : message;
      const isOurs = code === 'internal' || code === 'stale';
      const milliseconds = isOurs ? OUR_FAILURE_MILLISECONDS : FAILED_MILLISECONDS;
      await write(redis, id, { code, message: told, png: Buffer.alloc(0), milliseconds });
    },
    /** Tells whether this page of a version, with whatever passage marked, has given way to others before. */
    isSlow: async ({ generation, page }: Pick<PageId, 'generation' | 'page'>): Promise<boolean> =>
      (await redis.sIsMember(keys.slowPages(generation), String(page))) === 1,
    noteSlow: (id: Pick<PageId, 'generation' | 'page'>) => notePage(redis, keys.slowPages(id.generation), id),
    /** Wakes the requests that wait for a picture that is there already. */
    announce: async (id: PageId): Promise<void> => {
      await redis.publish(keys.changed, pictureKey(id));
    },
  };
}

/** Returns the key of a picture, which is also the message that it is there. */
export const pictureKey = ({ generation, page, highlight }: PageId): string =>
  keys.pagePicture(generation, page, highlight);

/** Remembers a page of a version, with whatever passage marked. */
async function notePage(redis: Redis, key: string, { page }: Pick<PageId, 'page'>): Promise<void> {
  await redis.multi().sAdd(key, String(page)).expire(key, REMEMBERED_SECONDS).exec();
}

const refusal = (minutes: number) => {
  const time = minutes === 1 ? 'a minute' : `${String(minutes)} minutes`;
  const message = `Rendering it took too long, so that it is not tried again for ${time}.`;
  return { type: 'failed', code: 'timeout', message } as const satisfies RenderOutcome;
};

const lateSchema = z.object({ times: z.number(), untilMs: z.number() });
type Late = z.infer<typeof lateSchema>;
/** A page that has not been late. */
const NEVER_LATE: Late = { times: 0, untilMs: 0 };

/** The minutes for which a page is refused from now on, rounded up; 0 for one that may be tried. */
const minutesLeft = ({ untilMs }: Late): number => Math.max(0, Math.ceil((untilMs - Date.now()) / 60_000));

async function readLate(redis: Redis, { generation, page }: PageId): Promise<Late> {
  const text = await redis.hGet(keys.refusedPages(generation), String(page));
  return text === null ? NEVER_LATE : lateSchema.parse(JSON.parse(text));
}

/**
 * Notes that a page took too long once more, and resolves with the minutes for which it is refused. Renderings of it that
 * were under way together, with one passage marked or another, count once.
 */
async function noteLate(redis: Redis, id: PageId): Promise<number> {
  const late = await readLate(redis, id);
  const left = minutesLeft(late);
  if (left > 0) return left;
  const times = late.times + 1;
  const minutes = REFUSED_MINUTES[times - 1] ?? REFUSED_MINUTES[3];
  const key = keys.refusedPages(id.generation);
  const noted: Late = { times, untilMs: Date.now() + minutes * 60_000 };
  // The times are forgotten some time after the longest refusal.
  await redis
    .multi()
    .hSet(key, String(id.page), JSON.stringify(noted))
    .expire(key, 2 * REMEMBERED_SECONDS)
    .exec();
  return minutes;
}

const codeSchema = z.enum([...FAILURE_CODES, 'stale']);

async function readOutcome(redis: Redis, key: string): Promise<RenderOutcome | null> {
  const [code, message, bytes] = await redis.hmGet(key, ['code', 'message', 'bytes']);
  if (code == null) return null;
  if (code === '') return { type: 'rendered', bytes: Number(bytes) };
  return { type: 'failed', code: codeSchema.parse(code), message: message ?? '' };
}

interface Writing extends Omit<RenderFailure, 'code'> {
  readonly code: string;
  readonly png: Buffer;
  readonly milliseconds: number;
}

async function write(redis: Redis, id: PageId, { code, message, png, milliseconds }: Writing): Promise<void> {
  await writeScript.run(redis, {
    keys: { picture: pictureKey(id), pictures: keys.pagePictures },
    args: { channel: keys.changed, life: milliseconds, code, message, png },
  });
}

/**
 * Writes a picture. Pictures that expire soonest make room. There are some hundred at most, so that walking through them
 * takes Redis little time.
 */
const writeScript = declareScript({
  keys: { picture: 'key', pictures: 'key' },
  args: { channel: 'text', life: 'number', code: 'text', message: 'text', png: 'text' },
}).lua<number>(`${SERVER_TIME}
local now = serverTime()
redis.call('ZREMRANGEBYSCORE', pictures, '-inf', string.format('%d', now))
local count, sum = 1, #png
for _, member in ipairs(redis.call('ZREVRANGE', pictures, 0, -1)) do
  local size, other = string.match(member, '^(%d+) (.+)$')
  if other == picture then redis.call('ZREM', pictures, member)
  else
    count, sum = count + 1, sum + tonumber(size)
    if count > ${String(MAX_PICTURES)} or sum > ${String(MAX_ALL_BYTES)} then
      redis.call('UNLINK', other)
      redis.call('ZREM', pictures, member)
    end
  end
end
redis.call('DEL', picture)
redis.call('HSET', picture, 'bytes', #png, 'code', code, 'message', message, 'png', png)
redis.call('PEXPIRE', picture, life)
redis.call('ZADD', pictures, string.format('%d', now + life), #png .. ' ' .. picture)
redis.call('PUBLISH', channel, picture)
return 1
`);
