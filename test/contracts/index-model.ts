import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Index } from '../../src/shared/ports.js';
import { isNamed } from '../support/access-oracle.js';
import { filter, metadata } from '../support/filter-arbitraries.js';
import { oracle } from '../support/filter-oracle.js';
import { innerProduct, parsed, unit, type IndexData } from './index-data.js';

export const CALLERS = ['owner', 'alice', 'bob'];

type Vectors = readonly (readonly number[])[];

const component = fc.integer({ min: -4, max: 4 });
const vector = fc.tuple(component, component, component, component);

/** A change of the data, of the document that `target` falls on. */
export const step = fc.record({
  type: fc.constantFrom('create', 'create', 'create', 'replace', 'patch', 'remove'),
  target: fc.nat(100),
  vectors: fc.array(vector, { maxLength: 4 }),
  readers: fc.subarray(CALLERS),
  /** The number of other readers: with many, they are named together. */
  crowd: fc.constantFrom(0, 0, 13, 14, 15, 16, 40),
  metadata,
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

export const question = fc.record({
  callerId: fc.constantFrom(...CALLERS),
  filter: fc.option(filter),
  vector,
});
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

const readersOf = ({ readers, crowd }: Step) => [...readers, ...crowdOf(crowd)];

/** Makes this many users, who are nobody else. */
export const crowdOf = (size: number): string[] =>
  Array.from({ length: size }, (_, i) => `user-${String(i)}`);

/** The same documents twice: in Redis, and here, where they are scanned one by one. */
export function createIndexModel(data: IndexData) {
  const vectorsOf = new Map<string, Vectors>();

  const create = async (each: Step) => {
    const { vectors } = each;
    const id = await data.create({ metadata: each.metadata, readers: readersOf(each) });
    if (vectors.length > 0) await data.publish(id, vectors);
    vectorsOf.set(id, vectors);
  };
  const replace = async (id: string, vectors: Vectors) => {
    if (vectors.length === 0 || vectorsOf.get(id)?.length === 0) return;
    await data.replace(id, vectors);
    vectorsOf.set(id, vectors);
  };
  const remove = async (id: string) => {
    await data.remove(id);
    vectorsOf.delete(id);
  };

  const readableBy = async ({ callerId, filter: json }: Question) => {
    const records = await Promise.all([...vectorsOf.keys()].map(data.current));
    return records.filter((record) => isNamed(callerId, record) && (json === null || oracle(record, json)));
  };

  return {
    apply: async (each: Step): Promise<void> => {
      const ids = [...vectorsOf.keys()];
      const id = ids[each.target % Math.max(ids.length, 1)];
      if (each.type === 'create' || id === undefined) await create(each);
      else if (each.type === 'replace') await replace(id, each.vectors);
      else if (each.type === 'patch')
        await data.patch(id, { metadata: each.metadata, readers: readersOf(each) });
      else await remove(id);
    },

    compare: async (index: Index, asked: Question): Promise<void> => {
      const request = { principal: { id: asked.callerId }, filter: asked.filter && parsed(asked.filter) };
      const ids = (await readableBy(asked)).map(({ id }) => id).sort();
      expect(await index.count(request)).toBe(ids.length);
      expect((await index.list({ ...request, skip: 0, limit: 100 })).ids).toEqual(ids);

      const query = unit(asked.vector);
      const expected = ids.flatMap((id) =>
        (vectorsOf.get(id) ?? []).map(
          (each, number) => [`${id}:${String(number)}`, innerProduct(query, unit(each))] as const,
        ),
      );
      const found = await index.vectors.search({ ...request, vector: query, limit: 100 });
      // The check above the index drops documents that an index adds to the matching ones.
      const kept = found.filter(({ documentId }) => ids.includes(documentId));
      const similarities = new Map(
        kept.map((each) => [`${each.documentId}:${String(each.number)}`, each.score]),
      );
      expect([...similarities.keys()].sort()).toEqual(expected.map(([address]) => address).sort());
      for (const [address, similarity] of expected)
        expect(similarities.get(address)).toBeCloseTo(similarity, 5);
      expect(kept.map(({ score }) => score)).toEqual([...similarities.values()].sort((a, b) => b - a));
    },

    clear: async (): Promise<void> => {
      for (const id of [...vectorsOf.keys()]) await remove(id);
    },
  };
}
