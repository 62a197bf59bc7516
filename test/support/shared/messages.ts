import { z } from 'zod';

/** The service that a test file asks for. */
export const wantedService = z.object({
  /** Settings beyond those that all tests have. */
  env: z.record(z.string(), z.string()),
  onQueryEngine: z.boolean(),
  /** The setting that holds the address of a model's provider, which the file plays; null: there is none. */
  providedBy: z.string().nullable(),
});
export type WantedService = z.infer<typeof wantedService>;

/** The borrower: a file, and the Jest worker that runs it, one file at a time. */
export const borrower = z.object({ worker: z.string(), file: z.string() });
export type Borrower = z.infer<typeof borrower>;

/** A running service that a test file shares with those before and after it. */
export const lentService = z.object({
  id: z.string(),
  /** Another one each time that a service is lent. */
  number: z.int(),
  url: z.string(),
  redisUrl: z.string(),
  dataDirectory: z.string(),
  apiPid: z.int(),
  workerPids: z.array(z.int()),
});
export type LentService = z.infer<typeof lentService>;

/** The requests of a test file to the keeper. */
export const request = z.discriminatedUnion('ask', [
  z.object({
    ask: z.literal('lend'),
    borrower,
    wanted: wantedService,
    /** The address where the file plays the provider. */
    providerUrl: z.string().nullable(),
  }),
  /** All that a worker's file has borrowed, since it is over. */
  z.object({ ask: z.literal('take back'), worker: z.string() }),
  z.object({ ask: z.literal('output'), id: z.string() }),
  z.object({ ask: z.literal('longest turn'), id: z.string() }),
]);
export type Request = z.infer<typeof request>;
export type Lending = Extract<Request, { ask: 'lend' }>;

export const output = z.object({ api: z.string(), workers: z.array(z.string()) });
