import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { contentMember } from '../../../src/shared/documents/content-hashes.js';
import type { Redis } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { isShortSource } from '../../../src/shared/storage/sources.js';
import { keysUnder } from '../../support/keys-under.js';
import type { Arena } from '../arena.js';

/** Nothing is left in Redis and in storage that no record refers to, and nothing that one refers to is missing. */
export async function checkLeftovers(
  arena: Arena,
  redis: Redis,
  records: readonly DocumentRecord[],
): Promise<void> {
  await checkChunks(arena, redis, records);
  await checkGenerations(arena, redis, records);
  await checkSources(arena, redis, records);
  await checkCounts(arena, redis);
  await checkContents(arena, redis, records);
  const living = new Set(records.map(({ id }) => id));
  const buried = new Set(await redis.zRange(keys.tombstones, 0, -1));
  for (const id of await redis.zRange(keys.changes, 0, -1)) {
    if (!living.has(id) && !buried.has(id))
      arena.history.violate('the change log holds what lives and what was buried', id, id);
  }
}

async function checkChunks(
  { history }: Arena,
  redis: Redis,
  records: readonly DocumentRecord[],
): Promise<void> {
  const there = new Set(await keysUnder(redis, keys.chunkPrefix));
  for (const { id, published } of records) {
    for (let number = 0; number < (published?.chunkCount ?? 0); number += 1) {
      const key = keys.chunk(published?.generation ?? '', number);
      if (!there.delete(key)) history.violate('no published chunk is missing', key, id);
    }
  }
  for (const key of there) {
    const id = key.slice(keys.chunkPrefix.length).split('.')[0] ?? '';
    history.violate('no stray chunk is left', key, id);
  }
}

async function checkGenerations(
  { history }: Arena,
  redis: Redis,
  records: readonly DocumentRecord[],
): Promise<void> {
  const published = new Set(records.flatMap((record) => record.published?.generation ?? []));
  const prefix = keys.generation('');
  for (const key of await keysUnder(redis, prefix)) {
    const generation = key.slice(prefix.length);
    if (!published.has(generation))
      history.violate('no stray generation is left', generation, generation.split('.')[0] ?? null);
  }
}

async function checkSources(arena: Arena, redis: Redis, records: readonly DocumentRecord[]): Promise<void> {
  const { history, cluster } = arena;
  const files = new Set(await filesBelow(join(cluster.dataDirectory, 'objects', 'objects')));
  for (const { id, published, pending } of records) {
    // The sources of short texts.
    const kept = new Set((await redis.hKeys(keys.document(id))).filter(isShortSource));
    for (const content of [published, pending]) {
      if (content && !files.delete(content.storageKey) && !kept.delete(content.storageKey))
        history.violate('no source is missing', content.storageKey, id);
    }
    for (const key of kept) history.violate('no stray source is left', key, id);
  }
  // Announced before their record, by a process that died then: the sweeper removes them when their time is over.
  const drafts = new Set(await redis.zRange(keys.draftObjects, 0, -1));
  for (const file of files) {
    if (!file.startsWith('markers/') && !drafts.has(file))
      history.violate('no stray source is left', file, /\/([0-9a-f-]{36})-/.exec(file)?.[1] ?? null);
  }
}

/** Checks that each document is found by its newest content, and by no other. */
async function checkContents(
  { history }: Arena,
  redis: Redis,
  records: readonly DocumentRecord[],
): Promise<void> {
  const prefix = keys.contentHashes('');
  const entered = new Set<string>();
  for (const key of await keysUnder(redis, prefix))
    for (const member of await redis.zRange(key, 0, -1)) entered.add(`${key.slice(prefix.length)} ${member}`);
  for (const record of records) {
    const member = contentMember(record);
    if (member !== null && !entered.delete(`${record.ownerId} ${member}`))
      history.violate('a document is found by its newest content', member, record.id);
  }
  for (const entry of entered) history.violate('no document is found by another content', entry);
}

/** At rest nothing is being ingested, nobody has anything waiting, and no room is set apart. */
async function checkCounts({ history }: Arena, redis: Redis): Promise<void> {
  const left = {
    ingests: await redis.hLen(keys.ingests),
    'ingests by caller': await redis.zCard(keys.ingestsByCaller),
    unfinished: await redis.zCard(keys.unfinished),
  };
  for (const [name, count] of Object.entries(left)) {
    if (count > 0) history.violate('nothing counts as being ingested at rest', `${name}: ${String(count)}`);
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
