import { expect } from '@jest/globals';
import type { Client } from './client.js';

export interface CacheConfiguration {
  readonly status: string;
  readonly doc_count: number;
  readonly token_count: number;
  readonly detail: unknown;
}

export interface CacheAnswer {
  readonly completion: string;
  readonly tokens_used: number;
  readonly finish_reason: string;
  readonly usage: {
    readonly completion_tokens: number;
    readonly prompt_tokens: number;
    readonly total_tokens: number;
  };
}

interface CacheUsage {
  readonly operation_type: string;
  readonly status: string;
  readonly metadata: { readonly error?: string };
}

export const someModel = { model: 'some-model', gguf_file: 'some-model.gguf' };

export const createCache = (client: Client, name: string, selection: Record<string, unknown>) =>
  client.post<CacheConfiguration>('/cache/create', { name, ...someModel, ...selection });

/** Ingests a text and waits for it. */
export async function ingestText(
  client: Client,
  content: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await client.ingestText(content, more);
  expect(status).toBe(200);
  return body.external_id;
}

export async function cacheCompletion(client: Client, name: string, query: string): Promise<string> {
  const { status, body } = await client.post<CacheAnswer>(`/cache/${name}/query`, { query });
  expect(status).toBe(200);
  return body.completion;
}

/** Cache operations of a user, oldest first, as `operation status error`. */
export async function cacheOperations(client: Client): Promise<string[]> {
  const { body } = await client.get<CacheUsage[]>('/usage/recent?limit=1000');
  return body
    .filter(({ operation_type: operation }) => operation.includes('cache'))
    .map(({ operation_type: operation, status, metadata: { error } }) =>
      [operation, status, ...(error === undefined ? [] : [error])].join(' '),
    )
    .reverse();
}
