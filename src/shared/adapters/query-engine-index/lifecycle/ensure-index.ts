import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../../errors.js';
import type { OnProblem } from '../../../ports.js';
import { hasShape, type IndexDefinition } from '../definition.js';
import type { Engine } from '../engine.js';

const POLL_MILLISECONDS = 100;
/** The progress of an index that is being built is reported once in this many polls. */
const POLLS_PER_REPORT = 100;

interface Making {
  readonly engine: Engine;
  readonly onProblem: OnProblem;
  readonly signal: AbortSignal;
}

/** Creates an index that is missing or has another shape. Resolves once it holds every hash and has its alias. */
export async function ensureIndex(definition: IndexDefinition, making: Making): Promise<void> {
  const { engine, onProblem } = making;
  const { alias, name } = definition;
  const found = await engine.info(name);
  if (found && !hasShape(found, definition)) {
    onProblem('an index of this name has another shape: it is built anew', { level: 'warn', index: name });
    await engine.drop(name);
  }
  await engine.create(definition);
  await untilComplete(name, making);
  await engine.addAlias(alias, name);
}

async function untilComplete(name: string, { engine, onProblem, signal }: Making): Promise<void> {
  for (let polls = 1; ; polls += 1) {
    const info = await engine.info(name);
    if (!info) throw new UnavailableError('index');
    if (info.isComplete) return;
    if (polls % POLLS_PER_REPORT === 0) {
      const { share, progress } = info;
      const level = progress === 'OK' ? 'warn' : 'error';
      onProblem('the index is not whole yet', { level, index: name, share, progress });
    }
    await sleep(POLL_MILLISECONDS, undefined, { signal });
  }
}
