import { beforeEach, describe, expect, test } from '@jest/globals';
import { createChunkLoader } from '../../../../../src/shared/adapters/exact-index/mirror/chunk-loader.js';
import { createDocumentLoader } from '../../../../../src/shared/adapters/exact-index/mirror/follower.js';
import { loadMirror } from '../../../../../src/shared/adapters/exact-index/mirror/mirror.js';
import { termsOf, unit } from '../../../../contracts/index-data.js';
import { makeContent } from '../../../../support/documents.js';
import { until } from '../../../../support/until.js';

const createMirror = await loadMirror();

interface Fields {
  readonly published?: readonly [attempt: string, chunkCount: number];
  readonly prepared?: readonly [attempt: string, chunkCount: number];
}

/** A mirror of records that a test writes itself, so that it decides when each of them is read. */
function open() {
  const records = new Map<string, Fields>();
  const prepared: string[] = [];
  const problems: unknown[] = [];
  const read = { chunks: 0 };
  const failing = new Set<string>();
  const mirror = createMirror({ held: 'stored', onDirty: () => undefined });
  const client = {
    readRecords: (ids: readonly string[]) =>
      Promise.resolve(ids.map((id) => (records.has(id) ? textsOf(id, records.get(id)) : null))),
    readChunks: (addresses: readonly { generation: string; number: number }[]) => {
      read.chunks += addresses.length;
      return Promise.resolve(
        addresses.map(({ generation, number }) => ({
          vector: Buffer.from(unit([1, 0, 0]).buffer),
          terms: Buffer.from(termsOf(generation, number)),
        })),
      );
    },
  };
  const report = (message: string) => void problems.push(message);
  const background = createChunkLoader({
    client,
    mirror,
    report,
    onSuspect: () => undefined,
    onPrepared: (generation) => {
      if (failing.delete(generation)) throw new Error('once');
      prepared.push(generation);
    },
  });
  return {
    records,
    prepared,
    problems,
    read,
    mirror,
    background,
    loader: createDocumentLoader({ client, mirror, background, report }),
    /** Generations for which the next call of `onPrepared` throws. */
    failing,
    /** Vectors of another length are taken only when none is held. */
    isEmpty: () => mirror.addTo({ attempt: '', tie: 0, slots: [] }, new Uint8Array(16), termsOf('other', 0)),
  };
}

function textsOf(id: string, { published, prepared }: Fields = {}) {
  const generation = ([attempt, chunkCount]: readonly [string, number]) => ({
    generation: id + attempt,
    chunkCount,
  });
  const fields = [
    '2024-05-01T10:00:00.000Z',
    'a',
    {},
    published ? { ...makeContent(), ...generation(published) } : null,
    null,
    prepared ? generation(prepared) : null,
  ];
  return { access: '["a"]\n["a"]\n["a"]', fields: JSON.stringify(fields) };
}

let world: ReturnType<typeof open>;
beforeEach(() => {
  world = open();
});

describe('while a mirror starts', () => {
  test.each([
    ['published', { published: ['.1', 3] }],
    ['cancelled', {}],
  ] as const)('what was prepared and is %s on a later page is held once at most', async (_name, later) => {
    const { records, loader, prepared, mirror, isEmpty } = world;
    records.set('d', { prepared: ['.1', 3] });
    await loader.loadWhole(['d']);
    await until(() => prepared.length === 1);
    records.set('d', later);
    await loader.loadWhole(['d']);
    expect(mirror.get('d')?.attempt ?? null).toBe('published' in later ? '.1' : null);
    mirror.remove('d');
    expect(isEmpty()).toBe(true);
  });
});

describe('in the background', () => {
  test('what is published is not prepared as well', async () => {
    const { records, loader, background, prepared, mirror, read, isEmpty } = world;
    records.set('d', { published: ['.1', 3] });
    await loader.loadWhole(['d']);
    records.set('d', { published: ['.1', 3], prepared: ['.1', 3] });
    await loader.takeOver(['d']);
    // A generation that is prepared later would be loaded after it.
    records.set('e', { prepared: ['.1', 1] });
    await loader.takeOver(['e']);
    await until(() => prepared.includes('e.1'));
    expect(prepared).toEqual(['e.1']);
    expect(read.chunks).toBe(4);
    background.forget('e');
    mirror.remove('d');
    expect(isEmpty()).toBe(true);
  });

  test('what is published with another number of chunks than it was prepared with is loaded again', async () => {
    const { records, loader, background, prepared, mirror, read } = world;
    records.set('d', { prepared: ['.1', 3] });
    await loader.takeOver(['d']);
    await until(() => prepared.length === 1);
    records.set('d', { published: ['.1', 5] });
    await loader.takeOver(['d']);
    await until(() => background.missing.size === 0);
    expect(mirror.get('d')?.attempt).toBe('.1');
    expect(read.chunks).toBe(8);
  });

  test('what a failure kept from being ended is ended by the next sync', async () => {
    const { records, loader, background, prepared, problems, failing } = world;
    // The first has a page of its own, and the others share one.
    const ids = ['d', 'e', 'f'];
    for (const id of ids) records.set(id, { prepared: ['.1', 3] });
    failing.add('e.1');
    await loader.takeOver(ids);
    await until(() => problems.length === 1);
    expect(prepared).toEqual(['d.1']);
    background.resume();
    await until(() => prepared.includes('f.1'), 10);
  });
});
