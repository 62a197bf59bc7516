import { expect, test } from '@jest/globals';
import type { Filter } from '../../src/shared/filters/parse.js';
import { ID_PATH, OWNER_PATH } from '../../src/shared/filters/paths.js';
import type { Index } from '../../src/shared/ports.js';
import { unit, type IndexData } from './index-data.js';

const X = [1, 0, 0, 0];
const ALL = 1_000;

/** Tests that every Index finds documents by their owners. */
export function testOwners(open: () => { readonly index: Index; readonly data: IndexData }): void {
  const ingest = async (changes: Parameters<IndexData['create']>[0] = {}) => {
    const id = await open().data.create(changes);
    await open().data.publish(id, [X]);
    return id;
  };
  const of = async (filter: Filter) => {
    const { index } = open();
    const asked = { principal: { id: 'owner' }, filter };
    const found = await index.vectors.search({ ...asked, vector: unit(X), limit: ALL });
    return {
      found: new Set(found.map(({ documentId }) => documentId)),
      listed: new Set((await index.list({ ...asked, skip: 0, limit: ALL })).ids),
      count: await index.count(asked),
    };
  };
  const all = (...ids: readonly string[]) => {
    return { found: new Set(ids), listed: new Set(ids), count: ids.length };
  };
  const owner = (...values: string[]): Filter => ({ type: 'equals', path: OWNER_PATH, values });
  const id = (...values: string[]): Filter => ({ type: 'equals', path: ID_PATH, values });
  const not = (filter: Filter): Filter => ({ type: 'not', filter });

  test('a filter by owner decides by the record alone, in searches, lists and counts', async () => {
    const lie = { 'system_metadata.owner': 'owner', $id: 'x' };
    const own = await ingest();
    const bobs = await ingest({ ownerId: 'bob', readers: ['owner'], metadata: lie });
    const alices = await ingest({ ownerId: 'alice', readers: ['owner'] });
    expect(await of(owner('owner'))).toEqual(all(own));
    expect(await of(not(owner('bob')))).toEqual(all(own, alices));
    expect(await of({ type: 'exists', path: OWNER_PATH })).toEqual(all(own, bobs, alices));
    expect(await of(not({ type: 'exists', path: OWNER_PATH }))).toEqual(all());
    const accepted: Filter = { type: 'or', filters: [owner('owner', 'alice'), id(bobs)] };
    expect(await of(accepted)).toEqual(all(own, bobs, alices));
    expect(await of({ type: 'and', filters: [accepted, not(owner('alice'))] })).toEqual(all(own, bobs));
    const many = Array.from({ length: 1_000 }, (_, i) => `stranger-${String(i)}`);
    expect(await of(not(owner(...many, 'alice')))).toEqual(all(own, bobs));
    expect(await of(owner(...many, 'alice'))).toEqual(all(alices));
  });
}
