import { canRead } from '../access/access.js';
import { at } from '../at.js';
import { BATCH_SIZE } from '../batches.js';
import type { Chunks } from '../chunks/chunks.js';
import type { Records } from '../documents/records.js';
import type { Passage } from '../ports.js';
import type { CacheMember } from './caches.js';

/**
 * Whole texts of a cache's documents, in their order. What its owner may no longer read, what was deleted, and what
 * serves other text than when the cache was built is left out; records are checked after the texts are read.
 */
export async function readCachePassages(
  { records, chunks }: { records: Records; chunks: Chunks },
  { ownerId, members }: { ownerId: string; members: readonly CacheMember[] },
): Promise<Passage[]> {
  const texts: string[] = [];
  for (const member of members) texts.push(await readWholeText(chunks, member));
  const found = await records.readMany(members.map(({ documentId }) => documentId));
  return members.flatMap(({ documentId, generation }, i) => {
    const record = found[i];
    const serves = record?.published?.generation === generation && canRead(ownerId, record);
    return serves ? [{ documentId, chunkNumber: 0, text: at(texts, i) }] : [];
  });
}

async function readWholeText(chunks: Chunks, { generation, chunkCount }: CacheMember): Promise<string> {
  let text = '';
  for (let first = 0; first < chunkCount; first += BATCH_SIZE) {
    const batch = await chunks.readTexts(generation, first, Math.min(BATCH_SIZE, chunkCount - first));
    for (const chunk of batch) text += chunk.text.slice(chunk.overlap);
  }
  return text;
}
