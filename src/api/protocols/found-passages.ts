import { noteDocuments } from '../../shared/audit/notes.js';
import type { ApiRequest } from '../http/route.js';
import type { FoundChunk, Retrieval } from '../services/retrieval/retrieval.js';
import { viewUrlOf } from '../services/retrieval/sources.js';
import type { Scope } from './scope.js';

/** The most passages that a search of another protocol returns, all of which are held at once. */
export const MAX_PASSAGES = 100;

interface PassageSearch {
  readonly query: string;
  readonly k: number;
  readonly minScore: number;
  readonly scope: Scope;
}

export interface FoundPassage extends FoundChunk {
  /** The address of the page that shows the passage. */
  readonly url: string;
  /** The name of its file, or the beginning of what a text says. */
  readonly name: string;
}

/** The characters of a text that name it. */
const NAME_CHARACTERS = 60;

/** Finds the passages that fit best, as `/retrieve/chunks` does, for protocols that answer them all at once. */
export async function findPassages(
  retrieval: Pick<Retrieval, 'chunks'>,
  { caller, baseUrl, startedAtMs, signal }: Omit<ApiRequest<unknown, unknown, unknown>, 'body'>,
  { query, k, minScore, scope }: PassageSearch,
): Promise<FoundPassage[]> {
  const found = await retrieval.chunks({
    principal: caller.principal,
    baseUrl,
    startedAtMs,
    signal,
    query,
    ...scope,
    k,
    minScore,
    ranking: undefined,
    rerank: null,
  });
  const passages: FoundPassage[] = [];
  for await (const chunk of found.items)
    passages.push({ ...chunk, url: viewUrlOf(chunk, { baseUrl }), name: nameOf(chunk) });
  noteDocuments(passages.map(({ documentId }) => documentId));
  return passages;
}

function nameOf({ filename, content }: FoundChunk): string {
  if (filename !== null) return filename;
  const line = content
    .trim()
    .replace(/\s+/g, ' ')
    .slice(0, NAME_CHARACTERS + 1);
  return line.length <= NAME_CHARACTERS ? line : `${line.slice(0, NAME_CHARACTERS).toWellFormed()}…`;
}
