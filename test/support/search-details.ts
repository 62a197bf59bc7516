import { expect } from '@jest/globals';
import type { Client, WireChunk } from './client.js';

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Term {
  readonly term: string;
  readonly weight: number;
  readonly own: number;
  readonly section: number;
  readonly share: number;
}

export interface Explanation {
  readonly ranking: string;
  readonly score: number;
  readonly words: { readonly share: number; readonly terms: readonly Term[] } | null;
  readonly vector: { readonly share: number; readonly similarity: number } | null;
  readonly reranked: number | null;
}

export interface Detailed extends WireChunk {
  readonly highlights?: readonly Span[];
  readonly matches?: readonly (Span & { readonly chunk_number: number; readonly score: number })[];
  readonly explanation?: Explanation | null;
}

export async function chunksOf(client: Client, query: string, more: Record<string, unknown> = {}) {
  const { status, body, headers } = await client.post<Detailed[]>('/retrieve/chunks', { query, ...more });
  expect([status, status === 200 ? null : body]).toEqual([200, null]);
  return { found: body, headers };
}

const SUBJECTS = ['heron', 'otter', 'badger', 'kestrel', 'salmon', 'beaver', 'lynx', 'marten'];
const paragraph = (i: number) =>
  Array.from(
    { length: 12 },
    (_, n) =>
      `Note ${String(i)}.${String(n)}: the ${SUBJECTS[(i + n) % SUBJECTS.length] ?? ''} of valley ${String(i)} ` +
      `was seen near the ${n % 3 === 0 ? 'mill' : 'weir'} at dawn.`,
  ).join(' ');
/** Several chunks long, with headings. */
const CHAPTERS = 4;
export const LONG = Array.from(
  { length: CHAPTERS },
  (_, chapter) =>
    `# Chapter ${String(chapter)}\n\n` +
    Array.from({ length: 8 }, (_, i) => paragraph(8 * chapter + i)).join('\n\n'),
).join('\n\n');

export async function ingestLong(client: Client): Promise<string> {
  const { status, body } = await client.ingestFile(Buffer.from(LONG), 'notes.md');
  expect(status).toBe(200);
  expect(body.system_metadata.chunk_count).toBeGreaterThan(8);
  return body.external_id;
}
