import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: GUARDED });
const programs = join(import.meta.dirname, '../support/openai-clients');

/** The clients that are here, each as a command; another one is skipped, and the reason printed. */
interface OfficialClient {
  readonly name: string;
  /** Null where the variable does not say where it is. */
  readonly command: readonly string[] | null;
  readonly variable: string;
}

const { QUIRE_TEST_OPENAI_PYTHON: python, QUIRE_TEST_OPENAI_NODE: folder } = process.env;
const clientIn = (modules: string) => join(modules, 'node_modules/openai/index.mjs');
const calls = join(programs, 'calls.mjs');
const clients: readonly OfficialClient[] = [
  {
    name: 'openai for Node in package.json',
    command: [process.execPath, calls, clientIn(process.cwd())],
    variable: '',
  },
  {
    name: 'a newer openai for Node',
    command:
      folder === undefined
        ? null
        : [process.env['QUIRE_TEST_NEWER_NODE'] ?? process.execPath, calls, clientIn(folder)],
    variable: 'QUIRE_TEST_OPENAI_NODE (a folder) and QUIRE_TEST_NEWER_NODE (an executable)',
  },
  {
    name: 'openai for Python',
    command: python === undefined ? null : [python, join(programs, 'calls.py')],
    variable: 'QUIRE_TEST_OPENAI_PYTHON (an executable)',
  },
];

const failure = z.object({ status: z.number(), code: z.string().nullable(), message: z.string() });
const usage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
});
const gotSchema = z.object({
  models: z.array(z.string()),
  retrieved: z.string(),
  text: z.string(),
  annotations: z.array(
    z.object({
      type: z.literal('url_citation'),
      url_citation: z.object({
        url: z.string(),
        title: z.string(),
        start_index: z.number(),
        end_index: z.number(),
      }),
    }),
  ),
  usage,
  streamed: z.object({ text: z.string(), annotations: z.number(), usage, choicesOfUsage: z.number() }),
  vectors: z.array(z.array(z.number())),
  floats: z.array(z.array(z.number())),
  unknownModel: failure,
  unknownPath: failure,
  wrongKey: failure,
});

const run = promisify(execFile);

describe.each(clients)('$name', ({ command, name, variable }) => {
  if (!command) {
    test.skip(`is not here: ${variable} names none`, () => undefined);
    return;
  }
  const user = () => service.client(`client ${name}`);
  const ask = async () => {
    const { model } = createBuiltinEmbedder();
    const [executable = '', ...options] = command;
    const key = user().authorization.replace('Bearer ', '');
    const sent = [...options, `${service.url}/v1`, key, model];
    const { stdout } = await run(executable, sent, { maxBuffer: 64 * 1024 ** 2 });
    return gotSchema.parse(JSON.parse(stdout));
  };

  test('lists, asks, streams, embeds, and reads every error', async () => {
    const { body: document } = await user().ingestText('The tower of the town hall has 294 steps.');
    const got = await ask();
    const embedder = createBuiltinEmbedder();
    expect(got.models).toEqual(['quire', embedder.model]);
    expect(got.retrieved).toBe('quire');
    expect(got.text).toContain('294 steps. [1]');
    expect(got.annotations[0]).toMatchObject({
      url_citation: {
        url: `${service.url}/view/${document.external_id}?chunk=0&quote=0-41`,
        title: document.external_id,
      },
    });
    for (const { url_citation: cited } of got.annotations)
      expect(got.text.slice(cited.start_index, cited.end_index)).toBe('[1]');
    expect(got.streamed).toEqual({
      text: got.text,
      annotations: got.annotations.length,
      usage: got.usage,
      choicesOfUsage: 0,
    });
    const { vectors } = await embedder.embedDocuments(['The tower has 294 steps.', 'Trains run hourly.']);
    const raw = vectors.map((vector) => [...vector]);
    expect(got.vectors).toEqual(raw);
    expect(got.floats).toEqual(raw);
    expect(got.unknownModel).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(got.unknownModel.message).toContain("The model 'gpt-5' does not exist");
    expect(got.unknownPath).toMatchObject({ status: 404, code: 'not_found' });
    expect(got.unknownPath.message).toContain('Not Found');
    expect(got.wrongKey).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(got.wrongKey.message).toContain('Invalid authentication credentials');
  });
});
