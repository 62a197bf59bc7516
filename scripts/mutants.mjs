// Changes the code of a room in small ways, one at a time, and counts how many of them a test notices.
//   npm run mutants -- documents access          of all mutants of src/shared/documents and src/shared/access
//   npm run mutants -- index/scoring             a room that is not in shared/ by its path in src/
//   npm run mutants -- filters --sample 200 --seed 1
//   npm run mutants -- search --seed 2 --minutes 7   as many as that takes, drawn by the seed
//   npm run mutants -- chunks --file cleaning    of files whose names contain this
//   npm run mutants -- chunks --again            only those that no test noticed the last time
//   npm run mutants -- chunks --again --wide     with the tests of the API, too
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import startRedisServers, { stopRedisServers } from '../test/support/jest/redis-servers.mjs';
import { folderOf, testsOf } from './mutants/choose-tests.mjs';
import { instrument } from './mutants/instrument.mjs';
import { createJudge } from './mutants/judge.mjs';
import { shuffled } from './mutants/sample.mjs';
import { keyOf, printReport, readAccepted } from './mutants/report.mjs';

const root = join(import.meta.dirname, '..');
const kept = join(root, '.quire/mutants');
const say = (text) => process.stderr.write(`${text}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    file: { type: 'string', default: '' },
    wide: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
  },
});
if (positionals.length === 0) {
  say('which rooms? npm run mutants -- documents access filters');
  process.exit(1);
}

async function renewServers() {
  await stopRedisServers();
  await startRedisServers({ maxWorkers: 1 });
}

await renewServers();
try {
  for (const room of positionals) await measure(room);
} finally {
  await stopRedisServers();
}

async function measure(room) {
  const folder = join(kept, room);
  const mutants = instrumentRoom(room, folder);
  const before = readBefore(room);
  const wanted = choose(mutants, before);
  const judge = await createJudge({ folder, chosen: testsOf(room, root, values.wide), say, renewServers });
  const judged = [];
  const start = performance.now();
  try {
    for (const mutant of wanted) {
      const outcome = await judge.judge(mutant, join(root, mutant.file));
      judged.push({ ...mutant, status: outcome.status, by: outcome.by, in: outcome.part?.path });
      const seconds = (performance.now() - start) / 1_000;
      if (seconds > 60 * Number(values.minutes ?? Infinity)) break;
      if (judged.length % 50 === 0)
        say(`${room}: ${judged.length} of ${wanted.length} mutants, ${seconds.toFixed()} s`);
    }
  } finally {
    await judge.stop();
  }
  const all = (values.again ? merge(before, judged) : judged).sort((a, b) => a.id - b.id);
  writeFileSync(join(kept, `${room}.json`), JSON.stringify(all));
  printReport({ room, judged: all, accepted: readAccepted(), all: mutants.length });
}

function instrumentRoom(room, folder) {
  rmSync(folder, { recursive: true, force: true });
  const mutants = [];
  const place = folderOf(room, root);
  for (const name of readdirSync(join(root, 'src', place), { recursive: true }).sort()) {
    if (!name.endsWith('.ts')) continue;
    const file = join('src', place, name);
    const source = readFileSync(join(root, file), 'utf8');
    const { text, mutants: found } = instrument({ name: file, source, first: mutants.length + 1 });
    const path = join(folder, place, name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    mutants.push(...found);
  }
  return mutants;
}

function readBefore(room) {
  if (!values.again) return [];
  return JSON.parse(readFileSync(join(kept, `${room}.json`), 'utf8'));
}

function choose(mutants, before) {
  const named = mutants.filter(({ file }) => file.includes(values.file));
  if (values.again) {
    const unnoticed = new Set(
      before.filter(({ status }) => ['survived', 'unreached'].includes(status)).map(keyOf),
    );
    return named.filter((each) => unnoticed.has(keyOf(each)));
  }
  if (values.sample === undefined && values.minutes === undefined) return named;
  return shuffled(named, Number(values.seed)).slice(0, Number(values.sample ?? Infinity));
}

function merge(before, judged) {
  const now = new Map(judged.map((each) => [keyOf(each), each]));
  return before.map((each) => now.get(keyOf(each)) ?? each);
}
