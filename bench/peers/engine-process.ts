/** A process of its own for each engine: `engine-process.ts <engine> <items>`. It ends when its parent lets go of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { makeTextData, makeVectorData, type EngineData } from './data.js';
import { VECTOR_ENGINES, WORD_ENGINES, type Engine, type MakeEngine } from './engines.js';
import { MAKE_VECTOR_ENGINE, MAKE_WORD_ENGINE } from './make-engine.js';
import type { Answer, Built, Request } from './protocol.js';
import { serveEngine } from './serve-engine.js';

setFlagsFromString('--expose-gc');
// @NOTE what the flag adds
const collect = runInNewContext('gc') as () => void;

const [name = '', size = ''] = process.argv.slice(2);
const words = WORD_ENGINES.find((each) => each === name);
const vectors = VECTOR_ENGINES.find((each) => each === name);
const send = (answer: Answer) => process.send?.(answer);

if (words) await run(MAKE_WORD_ENGINE[words], makeTextData(Number(size)), serveEngine);
else if (vectors) await run(MAKE_VECTOR_ENGINE[vectors], makeVectorData(Number(size)), null);
else throw new Error(`there is no engine ${name}`);

async function run<Item>(
  make: MakeEngine<Item>,
  data: EngineData<Item>,
  serve: ((make: MakeEngine<Item>, engine: Engine<Item>, items: readonly Item[]) => Promise<number>) | null,
): Promise<void> {
  const { engine, built } = await build(make, data);
  await search(engine, data.queries, { first: 0, count: data.queries.length });
  process.on('disconnect', () => process.exit(0));
  process.on('message', (request: Request) => {
    void answerTo(request);
  });
  send({ type: 'built', ...built });

  async function answerTo(request: Request): Promise<void> {
    switch (request.type) {
      case 'round': {
        const found = await search(engine, data.queries, request);
        send({ type: 'round', milliseconds: found.map(({ milliseconds }) => milliseconds) });
        return;
      }
      case 'answers': {
        const found = await search(engine, data.queries, { first: 0, count: request.count });
        send({ type: 'answers', places: found.map(({ places }) => places) });
        return;
      }
      case 'listen':
        if (!serve) throw new Error('only engines for texts are served');
        send({ type: 'listening', port: await serve(make, engine, data.items) });
    }
  }
}

async function build<Item>(make: MakeEngine<Item>, { items }: EngineData<Item>) {
  const [first] = items;
  const dimensions = first instanceof Float32Array ? first.length : 0;
  const engine = make({ capacity: items.length, dimensions });
  const before = await memory();
  const started = performance.now();
  await engine.add(items);
  const buildSeconds = (performance.now() - started) / 1_000;
  const after = await memory();
  const megabytes = (of: 'held' | 'beside') => (after[of] - before[of]) / 2 ** 20;
  const built: Built = { buildSeconds, heldMb: megabytes('held'), besideHeapMb: megabytes('beside') };
  return { engine, built };
}

/** After a collection. Resident memory alone says little: it also has the heap that is free again. */
async function memory() {
  for (let times = 0; times < 4; times += 1) {
    collect();
    // Freed memory goes back to the system in the background.
    await sleep(500);
  }
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  return { held: heapUsed + external, beside: rss - heapTotal };
}

async function search<Item>(
  engine: Engine<Item>,
  queries: readonly Item[],
  { first, count }: { readonly first: number; readonly count: number },
) {
  const answers: { readonly milliseconds: number; readonly places: readonly number[] }[] = [];
  for (let at = first; at < first + count; at += 1) {
    const query = queries[at % queries.length];
    if (query === undefined) throw new Error('there are no queries');
    const started = performance.now();
    const hits = await engine.search(query);
    answers.push({ milliseconds: performance.now() - started, places: hits.map(({ place }) => place) });
  }
  return answers;
}
