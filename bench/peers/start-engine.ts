import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Built, Request } from './protocol.js';

export interface RunningEngine {
  readonly name: string;
  readonly built: Built;
  /** @returns milliseconds of each search */
  readonly round: (first: number, count: number) => Promise<readonly number[]>;
  /** @returns the places of what was found for each of the first queries */
  readonly answers: (count: number) => Promise<readonly (readonly number[])[]>;
  /** @returns where it is served over HTTP */
  readonly listen: () => Promise<string>;
  readonly stop: () => void;
}

/** Room for libraries that need much of it. */
const HEAP = '--max-old-space-size=8192';

/** Starts a process for an engine, which takes in so many items. Processes are asked one at a time. */
export async function startEngine(name: string, size: number): Promise<RunningEngine> {
  const program = new URL('./engine-process.ts', import.meta.url);
  const child = fork(program, [name, String(size)], { execArgv: [...process.execArgv, HEAP] });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the process of ${name} has ended`);
  });
  const next = async <Type extends Answer['type']>(type: Type): Promise<Extract<Answer, { type: Type }>> => {
    // @NOTE the child is the file beside this one, which answers one request after another
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [Answer];
    if (answer.type !== type) throw new Error(`${name} answered ${answer.type}`);
    return answer as Extract<Answer, { type: Type }>;
  };
  const ask = <Type extends Answer['type']>(request: Request, type: Type) => {
    const answer = next(type);
    child.send(request);
    return answer;
  };
  const { type: _, ...built } = await next('built');
  return {
    name,
    built,
    round: async (first, count) => (await ask({ type: 'round', first, count }, 'round')).milliseconds,
    answers: async (count) => (await ask({ type: 'answers', count }, 'answers')).places,
    listen: async () => `http://127.0.0.1:${String((await ask({ type: 'listen' }, 'listening')).port)}`,
    stop: () => child.disconnect(),
  };
}
