import { expect, test } from '@jest/globals';
import { linesOf, ndjson, outcomesOf } from '../support/batches.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';

const MANY = 400;

describeOnEachSharedIndex((service) => {
  test('what a batch answers with 200 is found by those whom its items name, and counted one by one', async () => {
    const [alice, bob] = [service.client('alice'), service.client('bob')];
    const documents = [
      { content: 'A heron stands in the reeds.', metadata: { kind: 'bird' } },
      { content: '' },
      {
        content: 'An otter swims in the reeds.',
        filename: 'otter.txt',
        access_control: { readers: [service.caller('bob')] },
      },
    ];
    const answer = await alice.post('/ingest/batch', { documents }, { prefer: 'wait=120' });
    expect(answer.status).toBe(200);
    const outcomes = outcomesOf(answer.body);
    expect(outcomes.map(({ status }) => status)).toEqual(['completed', undefined, 'completed']);
    const contents = async (client: typeof alice, more = {}) =>
      (await client.searchChunks('reeds', more)).body.map(({ content }) => content).sort();
    expect(await contents(alice)).toEqual([documents[0]?.content, documents[2]?.content].sort());
    expect(await contents(alice, { filters: { kind: 'bird' } })).toEqual([documents[0]?.content]);
    expect(await contents(bob)).toEqual([documents[2]?.content]);
    expect((await alice.get('/usage/stats')).body).toMatchObject({ ingest_text: 2 });
    const recent = await alice.get<{ metadata: unknown }[]>('/usage/recent?operation_type=ingest_text');
    expect(recent.body.map(({ metadata }) => metadata)).toEqual(
      expect.arrayContaining([
        { document_id: outcomes[0]?.document_id },
        { document_id: outcomes[2]?.document_id, filename: 'otter.txt' },
      ]),
    );
  });

  test('what a stream answers as completed is found', async () => {
    const carol = service.client('carol');
    const items = Array.from({ length: MANY }, (_, i) => ({
      content: `The marmot number${String(i)} whistles.`,
    }));
    const response = await fetch(`${service.url}/ingest/batch`, {
      method: 'POST',
      body: ndjson(items),
      headers: {
        authorization: carol.authorization,
        'content-type': 'application/x-ndjson',
        prefer: 'wait=120',
      },
    });
    const outcomes = linesOf(await response.text());
    expect(response.status).toBe(200);
    expect(outcomes.map(({ index, status }) => [index, status])).toEqual(
      items.map((_, i) => [i, 'completed']),
    );
    for (const number of [0, 127, 128, MANY - 1]) {
      const [found] = (await carol.searchChunks(`number${String(number)}`, { k: 1 })).body;
      expect(found?.document_id).toBe(outcomes[number]?.document_id);
    }
    expect((await carol.get('/usage/stats')).body).toMatchObject({ ingest_text: MANY });
  });

  test('what a form answers with 200 is found', async () => {
    const dora = service.client('dora');
    const form = new FormData();
    form.append('files', new Blob(['# Badgers\n\nA badger digs.']), 'badger.md');
    form.append('files', new Blob([new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0])]), 'digger.bin');
    form.append('files', new Blob(['name,work\nmole,digs\n']), 'moles.csv');
    form.append('metadata', '{"season": "spring"}');
    const answer = await dora.send('POST', '/ingest/files', { body: form, headers: { prefer: 'wait=120' } });
    expect(answer.status).toBe(200);
    expect(outcomesOf(answer.body).map(({ status, error }) => status ?? error?.type)).toEqual([
      'completed',
      'value_error.unsupported_type',
      'completed',
    ]);
    const found = await dora.searchChunks('digs', { filters: { season: 'spring' } });
    expect(found.body.map(({ download_url: url }) => typeof url)).toEqual(['string', 'string']);
    expect((await dora.get('/usage/stats')).body).toEqual(expect.objectContaining({ ingest_file: 2 }));
  });
});
