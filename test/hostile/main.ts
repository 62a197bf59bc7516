/** `npm run hostile`: every attack, or with `--short` a few of each; `--only` takes a part of their names. */
import { parseArgs } from 'node:util';
import { runHostile, type Result } from './run.js';
import { FULL_MACHINE_MS } from './song.js';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', default: '.' },
    index: { type: 'string', default: 'exact' },
  },
});

const show = ({ attack, answer, memory, wrong, ...times }: Result) => {
  console.info(`${wrong === null ? 'ok   ' : 'WRONG'} ${attack}`);
  const { canaryMilliseconds, controlMilliseconds, turnMilliseconds } = times;
  const waits =
    `canary at most ${String(canaryMilliseconds)} ms (without Quire ${String(controlMilliseconds)} ms), ` +
    `longest turn ${String(turnMilliseconds)} ms`;
  console.info(`      answer: ${answer}; ${waits}; MB: ${memory}`);
  if (wrong !== null) console.info(`      ${wrong}`);
};
const results = await runHostile({
  isShort: values.short,
  index: values.index === 'query-engine' ? 'query-engine' : 'exact',
  only: new RegExp(values.only, 'i'),
  onResult: show,
});
const full = results.filter(({ controlMilliseconds }) => controlMilliseconds >= FULL_MACHINE_MS);
if (full.length > 0)
  console.info(`${String(full.length)} of them while the machine was full: lateness then was not judged`);
const wrong = results.filter((each) => each.wrong !== null);
console.info(`${String(results.length)} attacks, ${String(wrong.length)} violations`);
if (wrong.length > 0) process.exitCode = 1;
