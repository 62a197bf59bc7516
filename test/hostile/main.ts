/** `npm run hostile`: every attack, or with `--short` a few of each; `--only` takes a part of their names. */
import { parseArgs } from 'node:util';
import { runHostile, type Result } from './run.js';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, only: { type: 'string', default: '.' } },
});

const show = ({ attack, answer, canaryMilliseconds, loopMilliseconds, memory, wrong }: Result) => {
  console.info(`${wrong === null ? 'ok   ' : 'WRONG'} ${attack}`);
  const waits = `canary at most ${String(canaryMilliseconds)} ms, loop p99 ${String(loopMilliseconds)} ms`;
  console.info(`      answer: ${answer}; ${waits}; MB: ${memory}`);
  if (wrong !== null) console.info(`      ${wrong}`);
};
const results = await runHostile({
  isShort: values.short,
  only: new RegExp(values.only, 'i'),
  onResult: show,
});
const wrong = results.filter((each) => each.wrong !== null);
console.info(`${String(results.length)} attacks, ${String(wrong.length)} violations`);
if (wrong.length > 0) process.exitCode = 1;
