import { describe, expect, test } from '@jest/globals';
import { createLangChainCompleter } from '../../../../src/shared/adapters/langchain/completer.js';
import { createLangChainEmbedder } from '../../../../src/shared/adapters/langchain/embedder.js';
import { parseProviderClass } from '../../../../src/shared/models/provider-class.js';
import { langChainClass, printed } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';

const common = { model: 'some-model', timeoutMilliseconds: 1_000 };

const embedderOf = (name: string, options: Record<string, unknown> = {}) =>
  createLangChainEmbedder({ ...common, provider: langChainClass(name), options, writtenOptions: {} });
const completerOf = (name: string, options: Record<string, unknown> = {}) =>
  createLangChainCompleter({ ...common, provider: langChainClass(name), options, contextWindow: 8192 });

describe('a class that the settings name', () => {
  test('may be of any entry of an installed package', async () => {
    const embedder = await embedderOf('@langchain/core/utils/testing:SyntheticEmbeddings', { vectorSize: 4 });
    expect((await embedder.embedQuery('text')).vectors[0]).toHaveLength(4);
    const completer = await completerOf('@langchain/core/utils/testing:FakeListChatModel', {
      responses: ['one'],
    });
    expect(completer.model).toBe('langchain:@langchain/core/utils/testing:FakeListChatModel:some-model');
  });

  test('of a package that is not installed comes with the command that installs it', async () => {
    for (const create of [embedderOf, completerOf]) {
      expect(await rejection(create('@langchain/not-there:Things'))).toMatchObject({
        name: 'UnusableClassError',
        message: 'the package is not installed: npm install @langchain/not-there',
      });
      expect(await rejection(create('@langchain/not-there/deep/entry:Things'))).toMatchObject({
        message: 'the package is not installed: npm install @langchain/not-there',
      });
    }
  });

  test.each([
    ['@langchain/openai:NotThere', 'exports no class NotThere'],
    ['@langchain/openai:__proto__', 'exports no class __proto__'],
    ['@langchain/openai:toString', 'exports no class toString'],
    ['@langchain/core/not-there:Things', 'cannot be loaded'],
    ['zod:ZodError', 'is no Embeddings of LangChain'],
    ['zod:z', 'exports no class z'],
    ['@langchain/openai:ChatOpenAI', 'is no Embeddings of LangChain'],
  ])('is refused as an embedder: %s', async (name, why) => {
    expect(await rejection(embedderOf(name))).toMatchObject({
      name: 'UnusableClassError',
      message: expect.stringContaining(why),
    });
  });

  test.each([
    ['@langchain/openai:OpenAIEmbeddings', 'is no BaseChatModel of LangChain'],
    ['@langchain/openai:OpenAI', 'is no BaseChatModel of LangChain'],
    ['@langchain/openai:getChatOpenAIModelParams', 'exports no class'],
    ['@langchain/openai:AzureChatOpenAI', 'Azure OpenAI API key or Token Provider not found'],
  ])('is refused as a completer: %s', async (name, why) => {
    expect(await rejection(completerOf(name))).toMatchObject({
      name: 'UnusableClassError',
      message: expect.stringContaining(why),
    });
  });

  test('is not told of with the values of its options, whatever its constructor quotes', async () => {
    const error = await rejection(
      completerOf('@langchain/openai:AzureChatOpenAI', {
        Azure: 'OpenAI API key',
        more: ['Token', 'Provider'],
      }),
    );
    expect(printed(error)).toContain('Azure … or … … not found');
    expect(printed(error)).not.toContain('OpenAI API key');
  });
});

describe('the name of a class', () => {
  test.each([
    ['@langchain/openai:ChatOpenAI', ['@langchain/openai', '@langchain/openai', 'ChatOpenAI']],
    [
      '@langchain/community/embeddings/jina:JinaEmbeddings',
      ['@langchain/community', '@langchain/community/embeddings/jina', 'JinaEmbeddings'],
    ],
    ['my-package:$Class_1', ['my-package', 'my-package', '$Class_1']],
    ['my-package/entry.js:Class', ['my-package', 'my-package/entry.js', 'Class']],
  ])('%s is read', (name, [packageName, specifier, className]) => {
    expect(parseProviderClass(name)).toEqual({ packageName, specifier, className });
  });

  test.each([
    '',
    'ChatOpenAI',
    '@langchain/openai',
    '@langchain/openai:',
    '@langchain/openai:Chat OpenAI',
    '@langchain/openai:a.b',
    '@langchain:ChatOpenAI',
    '@langchain/:ChatOpenAI',
    './package:Class',
    '../package:Class',
    '/etc/package:Class',
    'package/../../other:Class',
    'package/./other:Class',
    'package//other:Class',
    'package/.hidden:Class',
    '@langchain/../openai:Class',
    '@../openai:Class',
    'C:\\package:Class',
    'package\\other:Class',
    'https://example.com/module.js:Class',
    'file:///tmp/module.js:Class',
    'data:text/javascript,export:Class',
    'node:fs:ReadStream',
    'fs:ReadStream',
    'fs/promises:FileHandle',
    'worker_threads:Worker',
    '#internal:Class',
    'package%2e%2e:Class',
    'package?query:Class',
    `${'a'.repeat(300)}:Class`,
  ])('%s is refused', (name) => {
    expect(parseProviderClass(name)).toBeNull();
  });
});
