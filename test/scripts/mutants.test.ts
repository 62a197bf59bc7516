import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** Sends a script that is 1 and, with the seventh mutant, 2: by its digest, whole, and always whole. */
const SENDING = `
import { declareScript } from './src/shared/redis/script.js';
const body = 'return \\u00017\\u00021\\u00032\\u0004';
const sent = [];
const redis = {
  evalSha: (digest) => { sent.push(digest); throw new Error('NOSCRIPT'); },
  eval: (source) => sent.push(source.trim()),
};
const call = { keys: {}, args: {} };
await declareScript(call).frequentLua(body).run(redis, call);
await declareScript(call).lua(body).run(redis, call);
console.log(JSON.stringify(sent));
`;

function send(mutant: string): unknown {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', '--import', './scripts/mutants/register.mjs', '--input-type=module', '-e', SENDING],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, QUIRE_MUTANTS_FOLDER: join(root, 'none'), QUIRE_MUTANT: mutant },
    },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test.each([
  ['0', 'return 1'],
  ['7', 'return 2'],
])('scripts are sent with mutant %s alone: %s', (mutant, script) => {
  const digest = createHash('sha1').update(`\n${script}`).digest('hex');
  expect(send(mutant)).toEqual([digest, script, script]);
});

/** Prints the entries of mutants that need not be noticed which are of no line of the code, or of several. */
const ENTRIES = `
import { readFileSync } from 'node:fs';
import { instrument } from './scripts/mutants/instrument.mjs';
import { readAccepted } from './scripts/mutants/report.mjs';
const mutantsOf = (name) => instrument({ name, source: readFileSync(name, 'utf8'), first: 1 }).mutants;
const entries = readAccepted();
const mutants = [...new Set(entries.map(({ file }) => file))].flatMap(mutantsOf);
const linesOf = (entry) => new Set(mutants.filter(entry.accepts).map(({ text }) => text));
console.log(JSON.stringify(entries.filter((entry) => linesOf(entry).size !== 1)));
`;

test('each mutant that need not be noticed is of one line of the code', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', ENTRIES], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual([]);
});
