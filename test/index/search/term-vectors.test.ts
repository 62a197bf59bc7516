import { describe, expect, test } from '@jest/globals';
import { loadMirror } from '../../../src/shared/adapters/exact-index/mirror/mirror.js';
import { tieKey, type LoadedChunks } from '../../../src/index/tables/document-table.js';
import { unpackCandidates } from '../../../src/index/search/packed-candidates.js';
import { analyzeQuery, analyzeText } from '../../../src/shared/text/list-terms.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';
import { queryVector } from '../../../src/shared/text/term-vectors.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { makeEntry } from '../../support/index-entry.js';

const createMirror = await loadMirror();
const CHUNKS = 20_000;
const REPEATS = 40;

/** Somebody with many chunks, of whose documents a reader may read one. Another owns one. */
async function open() {
  const mirror = createMirror({ held: 'of-terms', onDirty: () => undefined });
  const publish = (readers: readonly string[], chunks: number) => {
    const entry = makeEntry(readers[0] ?? null, { readers: [...readers] });
    const loaded: LoadedChunks = { attempt: '.1', tie: tieKey(entry.id), slots: [] };
    for (let n = 0; n < chunks; n += 1)
      mirror.addTo(loaded, new Uint8Array(0), packTerms(analyzeText(`harbour lantern word${String(n)}`)));
    mirror.put(entry, loaded);
  };
  publish(['owner'], CHUNKS);
  publish(['owner', 'reader'], 1);
  publish(['other'], 1);
  while (!mirror.compact(() => true));
  const vector = queryVector(analyzeQuery('the lantern of the harbour'));
  const searchAs = async (id: string) => {
    const principal = { id };
    const read = await mirror.prepare({ principal, filter: null }, () => true);
    if (!read) throw new Error('nobody waits');
    return () => unpackCandidates(mirror.searchVectors({ principal, vector, limit: 5, mask: read() }));
  };
  return { owner: await searchAs('owner'), reader: await searchAs('reader'), other: await searchAs('other') };
}

function timeOf(work: () => unknown): number {
  work();
  const before = process.cpuUsage();
  for (let n = 0; n < REPEATS; n += 1) work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

describe('a search by vectors that are made of terms', () => {
  test('takes little for who may read little of a large owner', async () => {
    const { owner, reader, other } = await open();
    expect(reader()).toHaveLength(1);
    // The same text, scored among many and by itself.
    expect(reader()[0]?.score).toBe(other()[0]?.score);
    expect(timeOf(reader)).toBeLessThan(timeOf(owner) / 5);
  });

  test('takes no memory for the chunks of others', async () => {
    const { other } = await open();
    other();
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    for (let n = 0; n < REPEATS; n += 1) expect(other()).toHaveLength(1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * CHUNKS);
  });
});
