import { readdir, readFile, truncate } from 'node:fs/promises';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { writeTinyModel, type TinyModelOptions } from '../../support/gguf/tiny-model.js';
import { freePort } from '../../support/redis.js';
import { runQuire } from '../../support/run-quire.js';
import { startProcess } from '../../support/service.js';
import { until } from '../../support/until.js';
import { useModelPulls } from '../../support/use-model-pulls.js';

const world = useModelPulls();
const NAME = 'tried.gguf';

function write(options: TinyModelOptions): string {
  mkdirSync(world.models, { recursive: true });
  writeTinyModel(join(world.models, NAME), options);
  return join(world.models, NAME);
}

const TOKEN = 'a-token-between-processes';

async function tryIt(env: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort());
  return runQuire(['models', 'test', NAME], world.environment({ QUIRE_MODELS_PORT: port, ...env }));
}

/** Processes with local models whose models are in this test's folder. */
async function modelsProcesses(): Promise<number> {
  let count = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // A process may end while we look at it.
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    if (!(await read('cmdline')).includes('models/main.js')) continue;
    if ((await read('environ')).includes(world.data)) count += 1;
  }
  return count;
}

describe('npx quire models test', () => {
  test('measures an embedding model, in a process that it starts and ends', async () => {
    write({ kind: 'embedding', dimension: 96 });
    const { stdout } = await tryIt();
    expect(stdout).toMatch(/^tried\.gguf: embedding \(bert\), \d\.\d MB, window 512$/m);
    expect(stdout).toMatch(/^ {2}vectors 96 dimensions$/m);
    expect(stdout).toMatch(/^ {2}speed {3}[\d,.]+ texts a second of \d+ tokens, [\d,.]+ tokens a second$/m);
    expect(stdout).toMatch(/^ {2}sanity {2}(pass|FAIL): questions are -?\d\.\d\d and .* like their answers/m);
    expect(await modelsProcesses()).toBe(0);
  });

  test('measures a chat model', async () => {
    write({ kind: 'chat' });
    const { code, stdout } = await tryIt();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}read {4}[\d,.]+ tokens a second \(\d+ in \d+\.\d\d s\)$/m);
    expect(stdout).toMatch(/^ {2}write {3}[\d,.]+ tokens a second \(48 in \d+\.\d\d s\)$/m);
    expect(stdout).toMatch(/^ {2}says {4}".+"$/m);
    expect(stdout).toContain('  sanity  pass: it answers');
  });

  test('says with its exit code whether a ranking model puts the text that answers above another', async () => {
    const outcomes = new Set<number | null>();
    // Random weights: some of them do, and some do not.
    for (let seed = 1; seed <= 12 && outcomes.size < 2; seed += 1) {
      write({ kind: 'ranking', seed });
      const { code, stdout } = await tryIt();
      const [, verdict = '', good = '', bad = ''] =
        /^ {2}sanity {2}(pass|FAIL): the text that answers has ([\d.]+), the other ([\d.]+)$/m.exec(stdout) ??
        [];
      expect(verdict).toBe(code === 0 ? 'pass' : 'FAIL');
      if (good !== bad) expect(Number(good) > Number(bad)).toBe(code === 0);
      outcomes.add(code);
    }
    expect([...outcomes].sort()).toEqual([0, 1]);
  });

  test('asks the process that runs, and one of its own where that does not let it', async () => {
    write({ kind: 'embedding' });
    const port = String(await freePort());
    const env = world.environment({ QUIRE_MODELS_PORT: port, QUIRE_MODELS_TOKEN: TOKEN });
    const running = startProcess('models/main.js', [], {
      env: { ...process.env, QUIRE_CONFIG: '/dev/null', ...env },
      execArgv: [],
    });
    try {
      const metrics = async () => {
        const headers = { authorization: `Bearer ${TOKEN}` };
        const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
        return /quire_models_tokens_total\{kind="embedding",what="read"\} (\d+)/.exec(
          await response.text(),
        )?.[1];
      };
      await until(() => running.output().includes('models ready'));
      expect(await metrics()).toBeUndefined();
      const stranger = await tryIt({ QUIRE_MODELS_PORT: port });
      expect(stranger.stdout).toContain('sanity');
      expect(await metrics()).toBeUndefined();
      const known = await tryIt(env);
      expect(known.stdout).toContain('sanity');
      expect(Number(await metrics())).toBeGreaterThan(1_000);
    } finally {
      await running.kill('SIGTERM');
    }
  });

  test.each([
    ['is not there', () => undefined, 'There is no tried.gguf in'],
    ['is not whole', async () => truncate(write({ kind: 'chat' }), 200_000), 'tried.gguf is not whole.'],
  ])('says so when the model %s', async (_, prepare, message) => {
    await prepare();
    const { code, stdout, stderr } = await tryIt();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('says what the process says', async () => {
    write({ kind: 'chat', dimension: 256, layers: 8, contextSize: 32_768 });
    const { code, stderr } = await tryIt({
      QUIRE_MODELS_MEMORY_MEGABYTES: '64',
      QUIRE_MODELS_CONTEXT_TOKENS: '32768',
      QUIRE_MODELS_CONVERSATIONS: '8',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^the model takes about \d+ MB, models\.memory_megabytes is 64/);
    expect(await modelsProcesses()).toBe(0);
  });
});
