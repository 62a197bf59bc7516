import jsonwebtoken from 'jsonwebtoken';
import { Pool } from 'undici';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
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
  const pool = new Pool(url);
  const authorization = authorizationOf(secret, user);
  return {
    post: async (path, content, headers = {}) => {
      const {
        statusCode: status,
        headers: received,
        body,
      } = await pool.request({
        path,
        method: 'POST',
        body: JSON.stringify(content),
        headers: { authorization, 'content-type': 'application/json', ...headers },
      });
      return { status, body: await body.text(), headers: received };
    },
    close: () => {
      void pool.destroy();
    },
  };
}

/** The header of a caller who may do everything. */
export function authorizationOf(secret: string, user: string): string {
  const claims = { entity_id: user, permissions: ['admin'] };
  return `Bearer ${jsonwebtoken.sign(claims, secret, { expiresIn: '1d' })}`;
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
