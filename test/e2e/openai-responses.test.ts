import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: GUARDED });
const user = service.client;
const openai = (name: string) =>
  new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: user(name).authorization.replace('Bearer ', ''),
    maxRetries: 0,
  });

const input = 'How many steps has the tower of the town hall?';
const tools = [{ type: 'file_search' as const, vector_store_ids: ['all'] }];
const include = ['file_search_call.results' as const];
const text = 'The tower of the town hall has 294 steps.';

test('a response has the search with its results, and an answer that cites documents', async () => {
  const { body: document } = await user('asker').ingestText(text);
  const id = document.external_id;
  const response = await openai('asker').responses.create({ model: 'quire', input, tools, include });
  expect(response.output_text).toContain('294 steps. [1]');
  expect(response).toMatchObject({
    status: 'completed',
    store: false,
    usage: { total_tokens: expect.any(Number) },
  });
  expect(response.output[0]).toMatchObject({
    type: 'file_search_call',
    status: 'completed',
    queries: [input],
    results: [{ file_id: id, filename: id, text }],
  });
  const index = response.output_text.indexOf('[1]');
  expect(response.output[1]).toMatchObject({
    content: [{ annotations: [{ type: 'file_citation', file_id: id, filename: id, index }, {}] }],
  });
  const plain = await openai('asker').responses.create({
    model: 'quire',
    input: [{ role: 'user', content: input }],
  });
  expect(plain.output_text).toBe(response.output_text);
  expect(plain.output[0]).toMatchObject({ results: null });
});

test('a stream has all steps in order, and ends with what a whole response has', async () => {
  await user('streamer').ingestText(text);
  const client = openai('streamer');
  const types: string[] = [];
  const numbers: number[] = [];
  const stream = client.responses.stream({ model: 'quire', input, tools, include });
  for await (const event of stream) {
    if (event.type !== types.at(-1)) types.push(event.type);
    numbers.push(event.sequence_number);
  }
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.file_search_call.in_progress',
    'response.file_search_call.searching',
    'response.file_search_call.completed',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.annotation.added',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(numbers).toEqual(numbers.map((_, place) => place));
  const last = await stream.finalResponse();
  const whole = await client.responses.create({ model: 'quire', input, tools, include });
  expect(last.usage).toEqual(whole.usage);
  const withoutIds = (value: unknown) => JSON.stringify(value).replaceAll(/(resp|msg|fs)_\w{32}/g, '');
  expect(JSON.parse(withoutIds(last.output))).toMatchObject(JSON.parse(withoutIds(whole.output)) as object[]);
});

test('an answer that is cut says so', async () => {
  await user('short').ingestText(text);
  const short = await openai('short').responses.create({ model: 'quire', input, max_output_tokens: 4 });
  expect(short).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
});

test('nobody is answered from what they may not read, and an unknown store is a 404', async () => {
  const { body: document } = await user('owner').ingestText(text);
  const ask = (name: string, store: string) =>
    openai(name).responses.create({
      model: 'quire',
      input,
      include,
      tools: [{ type: 'file_search', vector_store_ids: [store] }],
    });
  expect(JSON.stringify((await ask('stranger', 'all')).output)).not.toContain(document.external_id);
  expect(JSON.stringify((await ask('owner', 'own')).output)).toContain(document.external_id);
  await expect(ask('owner', 'vs_none')).rejects.toMatchObject({ status: 404, code: 'not_found' });
});

test.each([
  [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ background: true }, 'background'],
  [{ text: { format: { type: 'json_object' } } }, 'text'],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ tools: [{ ...tools[0], filters: { type: 'eq', key: 'a', value: 1 } }] }, 'tools[0].filters'],
  [{ input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }, null],
  [{ input: [] }, 'input'],
  [{ input: ' ' }, 'input'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
])('what no answer here can be is a 400 that names the field: %j', async (fields, param) => {
  const { status, body } = await user('wrong').post('/v1/responses', { model: 'quire', input, ...fields });
  expect([status, body]).toMatchObject([
    400,
    { error: { type: 'invalid_request_error', ...(param !== null && { param }) } },
  ]);
});
