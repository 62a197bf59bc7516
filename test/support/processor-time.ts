/** Milliseconds of the processor that this process has taken so far: what others on the machine take does not count. */
export function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds of the processor that this process takes for a piece of work. */
export async function processorTimeOf(work: () => unknown): Promise<number> {
  const before = processorMilliseconds();
  await work();
  return processorMilliseconds() - before;
}
