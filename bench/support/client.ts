import { Agent, request } from 'node:http';
import jsonwebtoken from 'jsonwebtoken';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface BenchClient {
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): void;
}

/** A keep-alive client that costs little beside what it measures. */
export function createBenchClient({
  url,
  secret,
  user,
}: {
  url: string;
  secret: string;
  user: string;
}): BenchClient {
  const agent = new Agent({ keepAlive: true });
  const token = jsonwebtoken.sign({ entity_id: user, permissions: ['admin'] }, secret, { expiresIn: '1d' });
  return {
    post: (path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const payload = JSON.stringify(body);
        const sent = request(
          `${url}${path}`,
          {
            ...{ method: 'POST', agent },
            headers: {
              authorization: `Bearer ${token}`,
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(payload),
              ...headers,
            },
          },
          (response) => {
            const parts: Buffer[] = [];
            response.on('data', (part: Buffer) => parts.push(part));
            response.on('end', () => {
              resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() });
            });
            response.on('error', reject);
          },
        );
        sent.on('error', reject);
        sent.end(payload);
      }),
    close: () => {
      agent.destroy();
    },
  };
}

/** Runs `task` for every item, `width` at a time. */
export async function eachAtOnce<Item>(
  items: readonly Item[],
  width: number,
  task: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) await task(item, index);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
