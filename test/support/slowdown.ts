import { readFile } from 'node:fs/promises';

/** Nanoseconds that a process's main thread ran, and that it could have run but for others; zeros where the kernel is silent. */
async function schedule(pid: number | string): Promise<{ ran: number; waited: number }> {
  const text = await readFile(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, 'utf8').catch(
    () => '0 0',
  );
  const [ran, waited] = text.split(' ').map(Number);
  return { ran: ran ?? 0, waited: waited ?? 0 };
}

/** From now until it is asked: how many times as long a process took for its work as it would have on a machine of its own. */
export async function watchSlowdown(pid: number | string): Promise<() => Promise<number>> {
  const before = await schedule(pid);
  return async () => {
    const after = await schedule(pid);
    const ran = Math.max(1, after.ran - before.ran);
    return (ran + Math.max(0, after.waited - before.waited)) / ran;
  };
}
