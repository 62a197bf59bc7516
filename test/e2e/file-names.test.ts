import { expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

async function bestOf(client: Client, query: string) {
  const { status, body } = await client.searchChunks(query, { ranking: 'lexical', min_score: 0.05, k: 3 });
  expect(status).toBe(200);
  return body;
}

const idsOf = (found: readonly { readonly document_id: string }[]) => found.map(({ document_id: id }) => id);

test('a text is found by the name of its file, of whatever form, which is not in its content', async () => {
  const client = service.client('names');
  const add = async (filename: string) => {
    const { status, body } = await client.ingestText(`Hay costs twelve a bale. ${String(filename.length)}`, {
      filename,
    });
    expect(status).toBe(200);
    return body.external_id;
  };
  const snake = await add('zebra_budget_2024.txt');
  const camel = await add('GiraffePlan2023.md');
  const umlaut = await add('löwen-übersicht.txt'.normalize('NFD'));
  const chinese = await add('预算报告.txt');
  expect(idsOf(await bestOf(client, 'zebra budget 2024'))).toEqual([snake]);
  expect(idsOf(await bestOf(client, 'zebra_budget_2024.txt'))[0]).toBe(snake);
  expect(idsOf(await bestOf(client, 'giraffe plan'))).toEqual([camel]);
  expect(idsOf(await bestOf(client, 'löwen übersicht'))).toEqual([umlaut]);
  const [found] = await bestOf(client, '预算报告');
  expect(found?.document_id).toBe(chinese);
  expect(found?.content).not.toContain('预算');
  expect(found).toMatchObject({ filename: null });
});

test('a renamed document is found by its new name as soon as the change is answered, and by others as before', async () => {
  const client = service.client('renames');
  const { body } = await client.ingestText('Hay costs twelve a bale.', { filename: 'zebra_budget.txt' });
  const other = await client.ingestText('The zebra eats hay.', { filename: 'notes.txt' });
  expect(idsOf(await bestOf(client, 'zebra budget'))).toEqual([body.external_id, other.body.external_id]);
  const renamed = await client.patch(`/documents/${body.external_id}`, { filename: 'giraffe_plan.txt' });
  expect(renamed.status).toBe(200);
  expect(idsOf(await bestOf(client, 'giraffe plan'))).toEqual([body.external_id]);
  expect(idsOf(await bestOf(client, 'zebra budget'))).toEqual([other.body.external_id]);
  expect(idsOf(await bestOf(client, 'twelve a bale'))[0]).toBe(body.external_id);
  expect((await client.patch(`/documents/${body.external_id}`, { filename: null })).status).toBe(200);
});

test('a name is found by those alone who may read the document', async () => {
  const [owner, stranger] = [service.client('owner'), service.client('stranger')];
  const { body } = await owner.ingestText('Hay costs twelve a bale.', { filename: 'zebra_secret.txt' });
  expect(idsOf(await bestOf(owner, 'zebra secret'))).toEqual([body.external_id]);
  expect(await bestOf(stranger, 'zebra secret')).toEqual([]);
});

test('a text that holds the words is not behind one that has them in its name alone', async () => {
  const client = service.client('both');
  const name = await client.ingestText('Hay costs twelve a bale, and straw costs eight.', {
    filename: 'zebra_budget.txt',
  });
  const text = await client.ingestText(
    'The zebra budget is the sum that feeding each zebra takes; this budget grows.',
    { filename: 'untitled.txt' },
  );
  const found = await bestOf(client, 'zebra budget');
  expect(idsOf(found)).toEqual([text.body.external_id, name.body.external_id]);
  expect(found.every(({ score }) => score > 0 && score <= 1)).toBe(true);
});
