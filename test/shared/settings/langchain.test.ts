import { describe, expect, test } from '@jest/globals';
import { isEmbedderRemote } from '../../../src/shared/settings/chosen-adapters.js';
import { readSettings, type SettingsSource } from '../../../src/shared/settings/load.js';
import { SettingsError } from '../../../src/shared/settings/rule.js';

function accepted(source: Partial<SettingsSource>) {
  const result = readSettings({ env: {}, toml: null, ...source });
  if ('problems' in result) throw new SettingsError(result.problems);
  return result.settings;
}

function problemsOf(source: Partial<SettingsSource>) {
  const result = readSettings({ env: {}, toml: null, ...source });
  return 'problems' in result ? result.problems : [];
}

const provided = {
  QUIRE_EMBEDDER: 'langchain',
  QUIRE_EMBEDDING_PROVIDER: '@langchain/openai:OpenAIEmbeddings',
  QUIRE_COMPLETER: 'langchain',
  QUIRE_COMPLETION_PROVIDER: '@langchain/openai:ChatOpenAI',
  QUIRE_EMBEDDING_MODEL: 'some-model',
  QUIRE_COMPLETION_MODEL: 'some-model',
};

describe('a class of LangChain', () => {
  test('must be named, as a package and a class of it', () => {
    const env = { QUIRE_EMBEDDER: 'langchain', QUIRE_COMPLETER: 'langchain' };
    const problems = problemsOf({ env });
    expect(problems.map(({ setting }) => setting)).toEqual([
      'embedding.provider',
      'embedding.model',
      'completion.provider',
      'completion.model',
    ]);
    expect(problems[0]?.allowed).toContain('embedder = "langchain"');
    for (const provider of ['../evil:Class', 'node:fs:ReadStream', 'https://example.com/x.js:Class', 'x']) {
      expect(problemsOf({ env: { QUIRE_EMBEDDING_PROVIDER: provider } })).toMatchObject([
        { setting: 'QUIRE_EMBEDDING_PROVIDER', value: JSON.stringify(provider) },
      ]);
    }
  });

  test('is a remote embedder, as are all but the builtin one', () => {
    const embedders = ['builtin', 'openai', 'langchain', 'local'] as const;
    expect(embedders.map((embedder) => isEmbedderRemote({ embedder }))).toEqual([false, true, true, true]);
  });
});

describe('options for its constructor', () => {
  test('are JSON, in which values of the environment are named', () => {
    const toml = [
      '[embedding]',
      `options = '{"apiKey": "env:MY_KEY", "more": {"list": ["env:MY_KEY", "environment", 7, null]}}'`,
      '[completion]',
      `options = '{"topP": 0.5}'`,
    ].join('\n');
    const { constructorOptions, embedding } = accepted({ env: { ...provided, MY_KEY: 'hush' }, toml });
    expect(constructorOptions).toEqual({
      embedding: { apiKey: 'hush', more: { list: ['hush', 'environment', 7, null] } },
      completion: { topP: 0.5 },
    });
    expect(embedding.options).not.toContain('hush');
  });

  test.each(['nothing', '[]', '"text"', '7', 'null', '{"apiKey": "hush"'])(
    'are an object and nothing else, and are not shown: %s',
    (options) => {
      const problems = problemsOf({ env: { QUIRE_COMPLETION_OPTIONS: options } });
      expect(problems).toMatchObject([{ setting: 'QUIRE_COMPLETION_OPTIONS', value: '(not shown)' }]);
    },
  );

  test('that name what the environment lacks are a problem where they are used', () => {
    const env = {
      ...provided,
      QUIRE_EMBEDDING_OPTIONS: '{"a": ["env:NOT_THERE"]}',
      QUIRE_COMPLETION_OPTIONS: '{"b": "env:EMPTY"}',
    };
    expect(problemsOf({ env: { ...env, EMPTY: '' } })).toEqual([
      {
        setting: 'embedding.options',
        value: null,
        allowed: 'env: names NOT_THERE, which the environment lacks',
      },
      {
        setting: 'completion.options',
        value: null,
        allowed: 'env: names EMPTY, which the environment lacks',
      },
    ]);
    expect(problemsOf({ env: { ...env, QUIRE_EMBEDDER: 'builtin', QUIRE_COMPLETER: 'builtin' } })).toEqual(
      [],
    );
  });

  test.each([
    'JWT_SECRET_KEY',
    'JWT_SECRET_KEY_PREVIOUS',
    'QUIRE_MODELS_TOKEN',
    'LOCAL_URI_PASSWORD',
    'REDIS_URL',
  ])('do not give a provider what is our own: %s', (name) => {
    const own = { [name]: 'redis://hush-hush-hush-hush-hush-hush-hush' };
    const env = { ...provided, ...own, QUIRE_COMPLETION_OPTIONS: `{"apiKey": "env:${name}"}` };
    expect(problemsOf({ env })).toEqual([
      {
        setting: 'completion.options',
        value: null,
        allowed: `env: names ${name}, which is not for providers`,
      },
    ]);
  });

  test('that hold a key where a name belongs do not show it', () => {
    const env = { ...provided, QUIRE_EMBEDDING_OPTIONS: '{"apiKey": "env:sk-hush-hush"}' };
    const problems = problemsOf({ env });
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain('hush');
  });

  test('do not say the model, which a setting says', () => {
    const env = {
      ...provided,
      QUIRE_EMBEDDING_OPTIONS: '{"model": "one"}',
      QUIRE_COMPLETION_OPTIONS: '{"modelName": "two"}',
    };
    expect(problemsOf({ env }).map(({ allowed }) => allowed)).toEqual([
      'model does not belong here: set embedding.model',
      'modelName does not belong here: set completion.model',
    ]);
  });
});

describe('variables that let LangChain pass on what it is asked', () => {
  test.each([
    ['LANGSMITH_TRACING', 'true'],
    ['LANGSMITH_TRACING_V2', 'true'],
    ['LANGCHAIN_TRACING', '1'],
    ['LANGCHAIN_TRACING_V2', 'TRUE'],
    ['LANGCHAIN_VERBOSE', 'true'],
    ['LANGSMITH_GATEWAY', 'https://gateway.example.com'],
  ])('keep a completer of it from starting, unless a setting allows them: %s=%s', (name, value) => {
    const env = { ...provided, [name]: value };
    expect(problemsOf({ env })).toMatchObject([
      { setting: name, value: null, allowed: expect.stringContaining('completion.tracing = true') },
    ]);
    expect(problemsOf({ env: { ...env, QUIRE_COMPLETION_TRACING: 'true' } })).toEqual([]);
    expect(problemsOf({ env: { ...env, QUIRE_COMPLETER: 'openai', OPENAI_API_KEY: 'key' } })).toEqual([]);
  });

  test.each(['', 'false', 'FALSE', '0', 'no'])('and are none when they are %j', (value) => {
    expect(problemsOf({ env: { ...provided, LANGSMITH_TRACING: value, LANGSMITH_GATEWAY: value } })).toEqual(
      [],
    );
  });
});
