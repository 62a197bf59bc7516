import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { recommendedEmbedding } from '../../../src/shared/local-models/recommended.js';
import { freePort } from '../../support/redis.js';
import { startQuire } from '../../support/run-quire.js';
import { inheritedEnvironment } from '../../support/service.js';
import { until } from '../../support/until.js';
import { useModelPulls } from '../../support/use-model-pulls.js';

const world = useModelPulls();
const HINT = /^ {2}models {5}npx quire models pull, then embedder = "local"/m;
const TEXT = 'A quire is a gathering of folded leaves.';

/** The three commands of the README's section on local models, one a line. */
const commands = (
  /## Local models\n[^]*?```sh\n([^]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
)
  .trim()
  .split('\n');

interface Started {
  readonly child: ReturnType<typeof spawn>;
  readonly ended: Promise<{ readonly code: number | null }>;
  readonly output: () => string;
}
const running: Started[] = [];

afterEach(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
});

/** A command as pasted, but for `npm start`, which installs and builds as well. */
function paste(command: string, env: Readonly<Record<string, string>>): Started {
  const script = command.replace(/#.*/, '').replace('npm start', 'exec node dist/cli/main.js up');
  const child = spawn('bash', ['-c', script], {
    env: { ...inheritedEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<{ code: number | null }>((resolve) => {
    child.once('close', (code) => resolve({ code }));
  });
  return { child, ended, output: () => output };
}

async function untilReady(started: Started): Promise<void> {
  running.push(started);
  await until(() => /^ {2}stop {7}Ctrl-C$/m.test(started.output()) || started.child.exitCode !== null, 180);
  expect(started.output()).toMatch(/^ready/m);
}

async function stop({ child, ended }: Started): Promise<void> {
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0 });
}

async function post(port: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  expect({ status: response.status, answer }).toMatchObject({ status: 200 });
  return answer;
}

describe('from nothing to semantic search', () => {
  test('by the three commands of the README, also for documents that are there already', async () => {
    const [pull = '', reindex = '', start = '', ...others] = commands;
    expect({ pull, others }).toEqual({ pull: expect.stringMatching(/^npx quire models pull/), others: [] });
    const { source, file } = recommendedEmbedding.english;
    const [repository = '', path = ''] = source.slice('hf:'.length).split(':');
    world.serve(`/${repository}/resolve/main/${path}`);
    const port = String(await freePort());
    const env = world.environment({
      PORT: port,
      QUIRE_MODELS_PORT: String(await freePort()),
      QUIRE_DEV_MODE: 'true',
      QUIRE_LOG_LEVEL: 'warn',
    });

    const before = startQuire(['up'], env);
    await untilReady(before);
    expect(before.output()).toMatch(HINT);
    await post(port, '/ingest/text', { content: TEXT });
    await stop(before);

    const pulled = paste(pull, env);
    expect({ ...(await pulled.ended), output: pulled.output() }).toMatchObject({ code: 0 });
    expect(pulled.output()).toContain(`${file} (`);
    const reindexed = paste(reindex, env);
    expect({ ...(await reindexed.ended), output: reindexed.output() }).toMatchObject({ code: 0 });
    expect(reindexed.output()).toContain('Starting a process with local models for this.');

    const after = paste(start, env);
    await untilReady(after);
    expect(after.output()).not.toMatch(HINT);
    const found = await post(port, '/retrieve/chunks', { query: TEXT, ranking: 'semantic' });
    const [best] = z.array(z.object({ content: z.string(), score: z.number() })).parse(found);
    expect(best).toMatchObject({ content: TEXT });
    expect(best?.score).toBeGreaterThan(0.5);
    await stop(after);
  });

  test('a reindex whose model is not there says what to do, and leaves no process behind', async () => {
    const env = world.environment({
      QUIRE_EMBEDDER: 'local',
      QUIRE_MODELS_PORT: String(await freePort()),
      QUIRE_DEV_MODE: 'true',
      QUIRE_LOG_LEVEL: 'error',
    });
    const { ended, output } = startQuire(['reindex'], env);
    expect((await ended).code).toBe(1);
    expect(output()).toMatch(/embedding\.model .*npx quire models pull/);
  });
});
