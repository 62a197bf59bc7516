import { hash } from 'node:crypto';
import { z } from 'zod';
import type { AccessLists } from '../../../access/access.js';
import { documentSchema } from '../../../document.js';

export interface KeyedAccess {
  /** The same for the same text, and short however long that is. */
  readonly key: string;
  readonly lists: AccessLists;
}

/** @throws when a line is not a list of ids */
export type ParseAccess = (text: string) => KeyedAccess;

/** The size of the cache. Three lists of a thousand of the longest ids take a tenth of it. */
const MAX_CACHED_BYTES = 16 * 2 ** 20;
/** A text up to this long is its own key: most lists name one or two users, and a digest takes longer than they do. */
const SHORT_TEXT = 256;
/** Bytes that an id, and an entry, take of the heap besides their characters, of which each has two bytes at most. */
const ID_BYTES = 48;
const ENTRY_BYTES = 512;

const linesSchema = z.tuple([z.string(), z.string(), z.string()]);
const accessSchema = documentSchema.pick({ readers: true, writers: true, admins: true });

/**
 * Most records share their access lists, so those are parsed once and kept in a cache. A caller who patches one document
 * again and again makes new lists each time, so that the least recently used ones are evicted. Documents of the mirror keep
 * references to their own lists.
 */
export function createAccessParser(): ParseAccess {
  /** In the order of their last use, the least recent first. */
  const cache = new Map<string, { readonly access: KeyedAccess; readonly bytes: number }>();
  let cachedBytes = 0;

  return (text) => {
    const key = text.length <= SHORT_TEXT ? text : hash('sha256', text, 'base64');
    const before = cache.get(key);
    const entry = before ?? parseEntry(key, text);
    cache.delete(key);
    cache.set(key, entry);
    if (!before) cachedBytes += entry.bytes;
    for (const [oldest, { bytes }] of cache) {
      if (cachedBytes <= MAX_CACHED_BYTES) break;
      cache.delete(oldest);
      cachedBytes -= bytes;
    }
    return entry.access;
  };
}

function parseEntry(key: string, text: string) {
  const [readers, writers, admins] = linesSchema.parse(text.split('\n'));
  const lists = accessSchema.parse({
    readers: parse(readers),
    writers: parse(writers),
    admins: parse(admins),
  });
  const ids = lists.readers.length + lists.writers.length + lists.admins.length;
  return { access: { key, lists }, bytes: ENTRY_BYTES + ids * ID_BYTES + 2 * text.length };
}

const parse = (text: string): unknown => JSON.parse(text);
