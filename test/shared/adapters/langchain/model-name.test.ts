import { describe, expect, test } from '@jest/globals';
import { embedderOfOpenAI, type EmbedderChanges } from '../../../support/langchain.js';
import { useFakeOpenAI } from '../../../support/shared/use-fake-openai.js';

const provider = useFakeOpenAI();
const create = (changes: EmbedderChanges) => embedderOfOpenAI(provider.url, 'none', changes);

describe('the name of the model', () => {
  const nameOf = async (changes: EmbedderChanges) => (await create(changes)).model;
  const plain = 'langchain:@langchain/openai:OpenAIEmbeddings:fake-embedding';

  test('says package, class, model and the length that is asked for', async () => {
    expect(await nameOf({})).toBe(plain);
    expect(await nameOf({ dimensions: 64 })).toBe(`${plain}:64`);
    expect((await (await create({ dimensions: 64 })).embedQuery('short')).vectors[0]).toHaveLength(64);
  });

  test('changes with options that may change vectors, and with no others', async () => {
    const name = (writtenOptions: Record<string, unknown>) => nameOf({ writtenOptions });
    const task = await name({ taskType: 'a', more: { x: 1, y: [2] } });
    expect(task).toMatch(/^langchain:.*:fake-embedding:options-[0-9a-f]{8}$/);
    expect(await name({ more: { y: [2], x: 1 }, taskType: 'a', apiKey: 'other', timeout: 7 })).toBe(task);
    expect(await name({ more: { y: [3], x: 1 }, taskType: 'a' })).not.toBe(task);
    expect(await name({ taskType: 'b', more: { x: 1, y: [2] } })).not.toBe(task);
    expect(await name({ someKey: 'env:ONE', region: 'eu', batchSize: 3 })).toBe(plain);
    expect(await nameOf({ prefixes: { query: '', document: '' } })).toBe(plain);
    const prefixed = await nameOf({ prefixes: { query: 'q: ', document: '' } });
    expect(prefixed).toMatch(/:options-[0-9a-f]{8}$/);
    expect(await nameOf({ prefixes: { query: '', document: 'q: ' } })).not.toBe(prefixed);
  });
});
