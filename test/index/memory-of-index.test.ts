import { describe, expect, test } from '@jest/globals';
import { loadMirror, type Mirror } from '../../src/shared/adapters/exact-index/mirror/mirror.js';
import { tieKey, type LoadedChunks } from '../../src/index/tables/document-table.js';
import { analyzeText } from '../../src/shared/text/list-terms.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { makeEntry } from '../support/index-entry.js';

const createMirror = await loadMirror();

const MEGABYTE = 2 ** 20;
const CHUNKS = 4_000;
const texts = Array.from({ length: CHUNKS }, (_, n) =>
  packTerms(analyzeText(Array.from({ length: 40 }, (_, i) => `word${String(n * 7 + i * 13)}`).join(' '))),
);

function publish(mirror: Mirror, owner: string): string {
  const entry = makeEntry(owner, { readers: [owner] });
  const loaded: LoadedChunks = { attempt: '.1', tie: tieKey(entry.id), slots: [] };
  for (const packed of texts) mirror.addTo(loaded, new Uint8Array(0), packed);
  mirror.put(entry, loaded);
  mirror.compact(() => true);
  return entry.id;
}

function held(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers / MEGABYTE;
}

describe('the memory of a mirror', () => {
  test.each([
    ['when the last document of an owner is removed', (mirror: Mirror, id: string) => mirror.remove(id)],
    ['when it starts over', (mirror: Mirror) => mirror.clear()],
  ])('holds no postings any more %s', (_, end) => {
    const mirror = createMirror({ held: 'none', onDirty: () => undefined });
    end(mirror, publish(mirror, 'first'));
    const before = held();
    for (let n = 0; n < 12; n += 1) end(mirror, publish(mirror, `owner-${String(n)}`));
    // The postings of one owner take about one megabyte.
    expect(held() - before).toBeLessThan(4);
    expect(mirror.chunkCount).toBe(0);
  });
});
