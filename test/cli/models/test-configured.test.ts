import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeOpenAI, type FakeOpenAI } from '../../support/fake-openai.js';
import { startFakeReranker } from '../../support/fake-reranker.js';
import { runQuire } from '../../support/run-quire.js';

let provider: FakeOpenAI;
let reranker: Awaited<ReturnType<typeof startFakeReranker>>;
let folder: string;
beforeAll(async () => {
  [provider, reranker] = await Promise.all([startFakeOpenAI(), startFakeReranker()]);
  folder = await mkdtemp(join(tmpdir(), 'quire-tried-'));
});
afterAll(async () => {
  await Promise.all([provider.stop(), reranker.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const base = () => ({ QUIRE_DATA_DIR: folder, QUIRE_DEV_MODE: 'true', OPENAI_API_KEY: 'sk-hush-hush' });

describe('npx quire models test without a name', () => {
  test('tries the embedder, completer and reranker of other hosts that quire.toml names', async () => {
    // As docs/how-to/connect-models.md shows it.
    const config = join(folder, 'quire.toml');
    await writeFile(
      config,
      `embedder = "openai"
embedding = { base_url = "${provider.url}", model = "nomic-embed-text" }
completer = "openai"
completion = { base_url = "${provider.url}", model = "qwen3:8b", context_window = 32768 }
reranker = "http"
reranking = { base_url = "${reranker.url}", model = "some-reranker" }
`,
    );
    const { stdout, stderr } = await runQuire(['models', 'test'], { ...base(), QUIRE_CONFIG: config });
    expect(stderr).toBe('');
    expect(stdout).toContain(`embedder: openai, nomic-embed-text, at ${provider.url}\n  vectors `);
    expect(stdout).toContain(`completer: openai, qwen3:8b, at ${provider.url}\n  time `);
    expect(stdout).toMatch(/^ {2}says {4}".+"$/m);
    expect(stdout).toContain(`reranker: http, some-reranker, at ${reranker.url}\n  time `);
    expect(stdout.match(/^ {2}sanity/gm)).toHaveLength(3);
    expect(stdout).not.toContain('hush');
  });

  test('names the setting to change, and ends with 1', async () => {
    const { code, stdout } = await runQuire(['models', 'test'], {
      ...base(),
      QUIRE_EMBEDDER: 'openai',
      QUIRE_EMBEDDING_BASE_URL: provider.url.replace('/v1', ''),
    });
    expect(code).toBe(1);
    expect(stdout).toContain('  FAIL    it answered 404: embedding.base_url probably lacks /v1 (');
    expect(stdout).toContain('completer: builtin, which needs no model\nreranker: none');
  });
});
