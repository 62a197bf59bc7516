import { randomUUID } from 'node:crypto';
import { beforeAll } from '@jest/globals';
import { createClient, type Client } from '../client.js';
import { lentService, output, type LentService, type Request } from './messages.js';

/** Jest gives each file a module registry of its own, and so this. */
const file = randomUUID();

/** As much of a process as a test may know that shares it with others: neither does it end, nor is it configured anew. */
interface SharedProcess {
  readonly pid: number;
}

/** A running service that this file shares with others, which use it before and after it. */
export interface SharedService {
  readonly url: string;
  readonly redis: { readonly url: string };
  readonly dataDirectory: string;
  readonly api: SharedProcess;
  readonly worker: SharedProcess;
  /** The log of the API, for other files too. */
  readonly apiOutput: () => Promise<string>;
  /** The same of its worker. */
  readonly workerOutput: () => Promise<string>;
  /** Milliseconds of processor time that the API's longest turn took since this was asked last (`turns.ts`). */
  readonly longestTurn: () => Promise<number>;
  /** A caller's name in this file, as the service knows it: no other file has a caller of that name. */
  readonly caller: (name: string) => string;
  readonly client: (name: string, permissions?: readonly string[]) => Client;
}

export interface UseServiceOptions {
  /** Settings; files with the same ones share a service. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onQueryEngine?: boolean;
  /** The setting that holds the address of a model's provider, and who plays it for the tests of this file. */
  readonly providedBy?: string;
  readonly provider?: { readonly url: string };
}

/**
 * A running service for the tests of a file or of a `describe`, which they leave as it is: running, whole and configured
 * as it was. Its data are those of all files, told apart by their callers. Tests that end or configure a process, count
 * what all callers do, or damage data start a service of their own (`startService`).
 */
export function useService(options: UseServiceOptions = {}): SharedService {
  let lent: LentService | undefined;
  const get = () => {
    if (!lent) throw new Error('the service is there from `beforeAll` on');
    return lent;
  };
  beforeAll(async () => {
    lent = lentService.parse(await ask(lending(options)));
  });
  const caller = (name: string) => `file${String(get().number)}-${name}`;
  return {
    get url() {
      return get().url;
    },
    get redis() {
      return { url: get().redisUrl };
    },
    get dataDirectory() {
      return get().dataDirectory;
    },
    get api() {
      return { pid: get().apiPid };
    },
    get worker() {
      return { pid: get().workerPids[0] ?? 0 };
    },
    apiOutput: async () => output.parse(await ask({ ask: 'output', id: get().id })).api,
    workerOutput: async () => output.parse(await ask({ ask: 'output', id: get().id })).workers.join(''),
    longestTurn: async () => Number(await ask({ ask: 'longest turn', id: get().id })),
    caller,
    client: (name, permissions) => createClient(get().url, caller(name), permissions),
  };
}

const lending = ({ env = {}, onQueryEngine = false, providedBy, provider }: UseServiceOptions): Request => ({
  ask: 'lend',
  borrower: { worker: process.env['JEST_WORKER_ID'] ?? '1', file },
  wanted: { env, onQueryEngine, providedBy: providedBy ?? null },
  providerUrl: provider?.url ?? null,
});

async function ask(request: Request): Promise<unknown> {
  const keeper = process.env['QUIRE_TEST_SERVICES'];
  if (keeper === undefined) throw new Error('no keeper of services: test/support/jest/service-keeper.mjs');
  const answer = await fetch(keeper, { method: 'POST', body: JSON.stringify(request) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text) as unknown;
}
