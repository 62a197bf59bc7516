import { residentBytes } from '../support/processes.js';
import type { Service } from '../support/service.js';

const EVERY_MS = 100;

/** Memory of each process in megabytes: at first, and the most since. */
export interface Peak {
  readonly name: string;
  readonly before: number;
  readonly peak: number;
}

/** Watches the memory of every process of a service until it is asked what it saw. */
export async function watchMemory({ api, workers, redis }: Service): Promise<{ stop(): Promise<Peak[]> }> {
  const processes = [
    { name: 'api', id: api.child.pid ?? 0 },
    ...workers.map(({ child }, i) => ({ name: `worker ${String(i)}`, id: child.pid ?? 0 })),
    { name: 'redis', id: redis.pid },
  ];
  const sizes = async () => Promise.all(processes.map(({ id }) => megabytes(id)));
  const before = await sizes();
  const peaks = [...before];
  const look = async () => {
    (await sizes()).forEach((size, i) => {
      peaks[i] = Math.max(peaks[i] ?? 0, size);
    });
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await look();
      return processes.map(({ name }, i) => ({ name, before: before[i] ?? 0, peak: peaks[i] ?? 0 }));
    },
  };
}

/** Zero for a process that has ended. */
async function megabytes(id: number): Promise<number> {
  return Math.round((await residentBytes(id).catch(() => 0)) / 1024 / 1024);
}
