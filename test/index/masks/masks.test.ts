import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { IndexedDocument } from '../../../src/index/tables/document-table.js';
import { createShard } from '../../../src/index/postings/shard/shard.js';
import { createMasks, MASK_BYTES } from '../../../src/index/masks/masks.js';
import { RULES, type Mirrored } from '../../../src/shared/adapters/exact-index/mirror/mirror.js';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { compileFilter } from '../../../src/shared/filters/match.js';
import { parseFilter, type Filter } from '../../../src/shared/filters/parse.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { matchable } from '../../support/matchable.js';
import { turnsOf } from '../../support/turns-here.js';
import { makeShardParts } from '../support/shard-parts.js';

function parse(json: unknown): Filter | null {
  const parsed = parseFilter(json);
  if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
  return parsed.filter;
}

/** Masks do not look at it. */
const partition = {
  owner: 'alice',
  documents: new Set<number>(),
  shard: createShard(makeShardParts(() => null)),
};

function mirrored(
  slot: number,
  metadata: DocumentRecord['metadata'],
  readers = ['alice'],
): IndexedDocument<Mirrored> {
  const fields = matchable(metadata);
  const access = { readers, writers: ['mallory'], admins: [] };
  const accessClass = { id: readers.includes('alice') ? 0 : 1, key: readers.join(), access };
  return {
    id: fields.id,
    fields: { ...fields, updatedAt: fields.createdAt },
    slot,
    accessClass,
    partition,
    attempt: '1',
    named: null,
    firstChunk: slot,
  };
}

/** Makes masks of documents of one chunk each: the masks are computed from `documents`, which can be changed. */
function open(count: number, metadataOf: (slot: number) => DocumentRecord['metadata']) {
  const documents: (IndexedDocument<Mirrored> | undefined)[] = Array.from({ length: count }, (_, slot) =>
    mirrored(slot, metadataOf(slot)),
  );
  const readableBy = () => Int32Array.from(documents.keys());
  return { documents, masks: createMasks(() => ({ documents, readableBy }), RULES) };
}

/** About a quarter of a megabyte each, no two alike. */
const largeFilter = (of: number) =>
  parse({
    id: { $in: Array.from({ length: 1_000 }, (_, i) => `${String(of)}-${String(i)}`.padStart(250, 'x')) },
  });

const wanted = () => true;

describe('masks', () => {
  test('of thousands of distinct large filters hold no more than their budget', async () => {
    const { masks } = open(1_000, (n) => ({ id: n }));
    let peak = 0;
    for (let i = 0; i < 300; i += 1) {
      await masks.prepare({ principal: { id: 'alice' }, filter: largeFilter(i) }, wanted);
      peak = Math.max(peak, masks.held.bytes);
    }
    expect(peak).toBeLessThanOrEqual(MASK_BYTES);
    // Each is counted with the values that it holds.
    expect(masks.held.masks).toBeLessThan(MASK_BYTES / 250_000);
    expect(masks.held.masks).toBeGreaterThan(20);
    for (let i = 0; i < 3_000; i += 1) {
      await masks.prepare({ principal: { id: `caller-${String(i)}` }, filter: null }, wanted);
    }
    expect(masks.held.bytes).toBeLessThanOrEqual(MASK_BYTES);
    expect(masks.held.masks).toBeGreaterThan(1_000);
  });

  test('take of the heap what they say', async () => {
    const url = (path: string) => new URL(`../../../dist/${path}`, import.meta.url).href;
    const program = `
      const { createMasks } = await import(${JSON.stringify(url('index/masks/masks.js'))});
      const { RULES } = await import(${JSON.stringify(url('shared/adapters/exact-index/mirror/mirror.js'))});
      const { parseFilter } = await import(${JSON.stringify(url('shared/filters/parse.js'))});
      const tables = { documents: [], readableBy: () => new Int32Array(0) };
      const masks = createMasks(() => tables, RULES);
      const memory = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
      const before = memory();
      for (let of = 0; of < 240; of += 1) {
        // Parsed anew, as a client's is: no value is shared. Half are of many short values, half of a few long ones.
        const listOf = (length, make) => Array.from({ length }, (_, i) => make(i));
        const json = of % 2 === 0
          ? { $or: listOf(16, (n) => ({ n: { $in: listOf(1000, (i) => 's' + (of * 16000 + n * 1000 + i)) } })) }
          : { id: { $in: listOf(1000, (i) => (of + '-' + i).padStart(250, 'x')) } };
        const { filter } = parseFilter(JSON.parse(JSON.stringify(json)));
        await masks.prepare({ principal: { id: 'mallory' }, filter }, () => true);
      }
      console.log(JSON.stringify({ taken: memory() - before, held: masks.held }));`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      '--input-type=module',
      '--eval',
      program,
    ]);
    // @NOTE `any` of JSON.parse: the values that the lines above print
    const { taken, held } = JSON.parse(stdout) as { taken: number; held: { bytes: number; masks: number } };
    expect(held.bytes).toBeLessThanOrEqual(MASK_BYTES);
    expect(held.masks).toBeGreaterThan(10);
    expect(taken).toBeLessThan(1.5 * MASK_BYTES);
  });

  test('of few documents count the slots that they hold', async () => {
    const { masks } = open(1_000, (n) => ({ n }));
    collectGarbage();
    const before = process.memoryUsage();
    for (let n = 0; n < 400; n += 1)
      await masks.prepare({ principal: { id: 'alice' }, filter: parse({ n: { $gte: -1 - n } }) }, wanted);
    collectGarbage();
    const after = process.memoryUsage();
    const taken = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(masks.held.masks).toBe(400);
    expect(masks.held.bytes).toBeGreaterThan(taken);
  });

  test('are computed in slices: who asks little is not behind who asks much', async () => {
    const dates = Array.from({ length: 120 }, (_, i) => `2024-01-01T00:00:00.${String(i).padStart(6, '0')}Z`);
    const { masks } = open(240, (n) => ({ dates, n }));
    const heavy = (of: number) =>
      parse({
        $or: Array.from({ length: 64 }, (_, i) => ({
          dates: { $gt: `2025-01-0${String(of)}T00:00:${String(i % 60).padStart(2, '0')}` },
        })),
      });
    const finished: string[] = [];
    const ask = async (callerId: string, filter: Filter | null, name: string) => {
      const read = await masks.prepare({ principal: { id: callerId }, filter }, wanted);
      finished.push(name);
      return read?.().count;
    };
    const turns = await turnsOf(async () => {
      const many = [1, 2, 3, 4, 5, 6].map((of) => ask('mallory', heavy(of), `heavy ${String(of)}`));
      const few = [ask('alice', null, 'light'), ask('alice', parse({ n: { $lt: 10 } }), 'light')];
      expect(await Promise.all(few)).toEqual([240, 10]);
      expect(finished).toEqual(['light', 'light']);
      expect(await Promise.all(many)).toEqual(many.map(() => 0));
    });
    expect(turns.count).toBeGreaterThan(30);
    // A slice is of four milliseconds, and the time of compiling and of garbage collection comes on top.
    expect(turns.longest).toBeLessThan(turns.total / 3);
  });

  test('that nobody waits for any more are not computed', async () => {
    const { masks } = open(50_000, (n) => ({ n }));
    const filter = parse({ $or: Array.from({ length: 64 }, (_, i) => ({ n: -1 - i })) });
    let asked = 0;
    const isWanted = () => {
      asked += 1;
      return asked < 3;
    };
    expect(await masks.prepare({ principal: { id: 'alice' }, filter }, isWanted)).toBeNull();
    expect(asked).toBeLessThan(10);
  });

  test('are right whatever changes while they are computed, however much', async () => {
    const { documents, masks } = open(20_000, (n) => ({ n: n % 7 }));
    const filter = parse({ n: { $in: [1, 2] }, m: { $ne: 5 } });
    const holds = filter ? compileFilter(filter) : () => true;
    for (const changed of [100, 30_000]) {
      const preparing = masks.prepare({ principal: { id: 'alice' }, filter }, wanted);
      for (let i = 0; i < changed; i += 1) {
        const slot = (i * 7_919) % (documents.length + 3);
        const kind = i % 4;
        documents[slot] =
          kind === 0 ? undefined : mirrored(slot, { n: i % 5 }, kind === 1 ? ['bob'] : ['alice']);
        masks.noteDocument(slot);
        if (i % 1_000 === 0) await new Promise(setImmediate);
      }
      const mask = (await preparing)?.();
      const expected = Array.from(documents, (each) =>
        Number(each?.accessClass.access.readers.includes('alice') === true && holds(each.fields)),
      );
      expect(Array.from(mask?.documents.slice(0, documents.length) ?? [])).toEqual(expected);
      expect(mask?.count).toBe(expected.reduce((sum, each) => sum + each, 0));
    }
  });
});
