import { expect } from '@jest/globals';
import type { Client, WireChunk } from './client.js';

export interface UsageRecord {
  readonly operation_type: string;
  readonly tokens_used: number;
  readonly status: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Every path that reranks. */
export const RERANKED_PATHS = ['/retrieve/chunks', '/retrieve/docs', '/query'] as const;

export const searchReranked = (client: Client, more: Record<string, unknown> = {}) =>
  client.post<WireChunk[]>('/retrieve/chunks', { query: 'heron', rerank: true, ...more });

/** The header of an answer about reranking. */
export const rerankHeader = (reply: { readonly headers: Headers }) => reply.headers.get('quire-rerank');

/** A text that is found by its words, the sooner the lower its number is. */
export const heronText = (number: number, relevance: number) =>
  `heron ${'filler '.repeat(3 * number)}number${String(number)} relevance ${String(relevance)}`;

/** Ingests texts of these relevances, in that order by their words. @returns the ids of the documents */
export async function ingestHerons(client: Client, relevances: readonly number[]): Promise<string[]> {
  const ids = [];
  for (const [i, relevance] of relevances.entries()) {
    const { status, body } = await client.ingestText(heronText(i, relevance));
    expect(status).toBe(200);
    ids.push(body.external_id);
  }
  return ids;
}
