import { startModels, type ModelsProcess } from '../../test/support/models-process.js';
import { startBenchService, type BenchService } from '../load/bench-service.js';
import { askModels, type StreamedAnswer } from '../models/first-token.js';
import { holdCache, type HeldCache } from '../models/held-cache.js';
import { restoreMs } from '../models/restore-time.js';
import { percentile, round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { residentMegabytes } from '../support/machine.js';
import { createTexts } from '../support/texts.js';
import type { Measured } from './goals.js';

/** Random weights: it takes the time of a real model of 30 million weights, and says nothing. A byte is a token. */
const MODEL = { kind: 'chat', dimension: 512, layers: 11, contextSize: 32_768 } as const;
const FILE = 'bench.gguf';
const WINDOW = '20480';
/** Tokens of caches, the instructions that stand before every text among them. */
const SIZES = [1_024, 4_096, 16_384];
/** The tokens of instructions and fences, and 32 fewer, so that half a step of the caches is read again, as on average. */
const FRAME_TOKENS = 652;
const GOAL_SIZE = 4_096;
const ANSWER_TOKENS = 16;
const QUESTIONS = 5;
const RESTARTS = 3;

type Row = Awaited<ReturnType<typeof measureCache>>;

/**
 * The time to the first token of a question over a named cache that a local model of 60 MB has read: while the process holds
 * it, after a restart from the disk, and without it.
 */
export async function measureCaches(collection: Collection) {
  const models = await startModels({ QUIRE_MODELS_CONTEXT_TOKENS: WINDOW, QUIRE_MODELS_THREADS: '0' });
  const rows: Row[] = [];
  try {
    await models.write(FILE, MODEL);
    const service = await startBenchService(models.env);
    try {
      for (const size of SIZES) {
        rows.push(
          await measureCache(models, service, { size, text: textOf(collection, size - FRAME_TOKENS) }),
        );
        console.table(rows.slice(-1));
      }
    } finally {
      await service.stop();
    }
  } finally {
    await models.stop();
  }
  console.log(
    `named caches, first token and ${String(ANSWER_TOKENS)} tokens in ms: held in memory, read from the disk, and without`,
  );
  console.table(rows);
  return { figures: rows, measured: goalsOf(rows) };
}

/** Sentences of a collection, of so many tokens of the model. */
function textOf(collection: Collection, tokens: number): string {
  const next = createTexts([collection]);
  let text = '';
  while (text.length < tokens) text += `${next()} `;
  return text
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, tokens)
    .trim();
}

/** As long in tokens, which are bytes here, as a question is with the words of a real model. */
const question = (number: number) => `Why text ${String(number)}?`;

async function measureCache(
  models: ModelsProcess,
  service: BenchService,
  { size, text }: { readonly size: number; readonly text: string },
) {
  await restart(models);
  const cache = await holdCache(service, { name: `of-${String(size)}`, ggufFile: FILE, text });
  const ask = (number: number, state?: string) =>
    askModels(models, {
      model: FILE,
      messages: cache.messagesFor(question(number)),
      maxTokens: ANSWER_TOKENS,
      ...(state !== undefined && { state }),
    });
  const held = await repeat(QUESTIONS, (number) => ask(number, cache.state));
  const api = await repeat(QUESTIONS, (number) => cache.askApi(question(QUESTIONS + number)));
  const memoryMb = residentMegabytes(models.process.child.pid ?? 0);
  const restored = await repeat(RESTARTS, async (number) => {
    await restart(models);
    const answer = await ask(number, cache.state);
    return { ...answer, restoreMs: await readRestoreMs(models) };
  });
  await models.restart('SIGTERM');
  const cold = await ask(1, cache.state);
  await restart(models);
  const without = await ask(1);
  cache.close();
  return {
    ...describe(cache),
    memoryMb,
    question: held[0] ? held[0].promptTokens - cache.tokens : 0,
    reused: Math.min(...[...held, ...api, ...restored, cold].map(({ reusedTokens }) => reusedTokens)),
    ...shown('held', held),
    apiOneToken: median(api.map(({ totalMs }) => totalMs)),
    ...shown('disk', restored),
    restore: median(restored.map((each) => each.restoreMs)),
    coldFirst: round(cold.firstMs, 1),
    ...shown('without', [without]),
    share: round(median(held.map(({ firstMs }) => firstMs)) / without.firstMs, 4),
    diskShare: round(median(restored.map(({ firstMs }) => firstMs)) / without.firstMs, 4),
  };
}

/** A new process that has loaded the model and read nothing but a word. */
async function restart(models: ModelsProcess): Promise<void> {
  await models.restart('SIGTERM');
  await askModels(models, { model: FILE, messages: [{ role: 'user', content: 'Hello' }], maxTokens: 1 });
}

async function readRestoreMs({ url }: ModelsProcess): Promise<number> {
  const found = restoreMs(await (await fetch(`${url}/metrics`)).text());
  if (found === null) throw new Error('nothing was restored from the disk');
  return found;
}

async function repeat<Result>(times: number, task: (number: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let number = 1; number <= times; number += 1) results.push(await task(number));
  return results;
}

const median = (values: readonly number[]) => round(percentile(values, 0.5), 1);

const describe = ({ tokens, buildSeconds, stateBytes }: HeldCache) => ({
  tokens,
  buildSeconds: round(buildSeconds, 1),
  stateMb: round(stateBytes / 1e6, 1),
});

function shown<Name extends string>(name: Name, answers: readonly StreamedAnswer[]) {
  // @NOTE a computed key makes a record of any string
  return {
    [`${name}First`]: median(answers.map(({ firstMs }) => firstMs)),
    [`${name}Total`]: median(answers.map(({ totalMs }) => totalMs)),
  } as Record<`${Name}First` | `${Name}Total`, number>;
}

function goalsOf(rows: readonly Row[]): Measured {
  const [row] = rows.filter((_, i) => SIZES[i] === GOAL_SIZE);
  return {
    ...(row && { 'first token of a cache': { value: row.share } }),
    'state restore': { value: Math.max(...rows.map(({ restore }) => restore)) },
  };
}
