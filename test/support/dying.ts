import type { Redis } from '../../src/shared/redis/client.js';
import { takeSnapshot } from './snapshot.js';

/** Thrown in place of everything that a killed process would not live to see. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

export interface ScriptCall {
  readonly keys: string[];
  readonly arguments: (string | Buffer)[];
}

/** Redis with something around each script that is sent to it. */
function around(
  redis: Redis,
  work: (call: ScriptCall, run: () => Promise<unknown>) => Promise<unknown>,
): Redis {
  return new Proxy(redis, {
    get: (target, name) => {
      if (name === 'eval')
        return (source: string, call: ScriptCall) => work(call, () => target.eval(source, call));
      // A script that the server does not know yet is sent a second time, and counts again.
      if (name === 'evalSha')
        return (digest: string, call: ScriptCall) => work(call, () => target.evalSha(digest, call));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/**
 * Redis as a process sees it that dies at some of its scripts: `isLast` is asked before each, and every second one that
 * it says to be the last is still run.
 */
export function dying(redis: Redis, isLast: (call: ScriptCall) => boolean | Promise<boolean>): Redis {
  let deaths = 0;
  return around(redis, async (call, run) => {
    const dies = await isLast(call);
    if (dies && (deaths += 1) % 2 === 0) throw new ProcessDied('before a script');
    const reply = await run();
    if (dies) throw new ProcessDied('after a script');
    return reply;
  });
}

/** Redis as a process sees it that lives on while it loses its last writes: those from script `from` on, before `to`. */
export function forgetful(redis: Redis, { from, to }: { from: number; to: number }): Redis {
  let scripts = 0;
  let putBack: (() => Promise<void>) | null = null;
  return around(redis, async (_call, run) => {
    scripts += 1;
    if (scripts === from) putBack = await takeSnapshot(redis);
    if (scripts === to) await putBack?.();
    return run();
  });
}
