import { innerProduct } from '../data-set/stored-vectors.js';
import { IngestError } from '../errors.js';
import type { Embedding } from '../models/embedding.js';
import type { CallOptions } from '../ports.js';
import { listQueryTerms } from '../text/list-terms.js';
import { sentencesOf, type TextSpan } from '../text/sentences.js';
import { findTerms } from './term-spans.js';
import { countTokens } from '../text/token-count.js';
import { nextSlice } from '../tools/time-slices.js';
import type { SearchNotes } from './request.js';

/** Most parts of a text that are marked: the first ones. */
const MAX_HIGHLIGHTS = 100;
/** Sentences are compared by meaning in this many texts, the best ones, and in the beginning of each. */
const MAX_COMPARED_TEXTS = 20;
const MAX_COMPARED_SENTENCES = 32;
/** The most sentences that are marked for their meaning. Each is nearly as near to the query as the nearest. */
const MAX_NEAR = 3;
const NEARLY = 0.95;

/** A search of which the texts of hits are marked. */
interface HighlightRequest extends CallOptions {
  readonly query: string;
  readonly notes: Pick<SearchNotes, 'scoring' | 'vector'>;
}

/** Returns the parts of texts by which a search has found them, in the order of the texts, best first. */
export type Highlight = (
  texts: readonly string[],
  request: HighlightRequest,
) => Promise<readonly (readonly TextSpan[])[]>;

/**
 * Marks the words that a search by words has looked for, by the same analysis; after a search by meaning the sentences that
 * are nearest to the query; and after a search by both, those sentences in texts that hold none of the words.
 */
export function createHighlight(embedding: Pick<Embedding, 'embedDocuments'>): Highlight {
  return async (texts, { query, notes, signal }) => {
    const isByMeaning = notes.scoring?.ranking === 'semantic';
    const terms = new Set(isByMeaning ? [] : listQueryTerms(query).terms);
    const marked: (readonly TextSpan[])[] = [];
    for (const text of texts) {
      signal?.throwIfAborted();
      await nextSlice();
      marked.push(isByMeaning ? [] : await findTerms(text, terms, { max: MAX_HIGHLIGHTS }));
    }
    if (notes.vector === null) return marked;
    const silent = texts.flatMap((text, i) => (marked[i]?.length === 0 ? [{ text, i }] : []));
    const compared = silent.slice(0, MAX_COMPARED_TEXTS);
    const nearest = await nearestSentences(
      embedding,
      compared.map(({ text }) => text),
      { vector: notes.vector, signal },
    );
    for (const [at, { i }] of compared.entries()) marked[i] = nearest[at] ?? [];
    return marked;
  };
}

async function nearestSentences(
  embedding: Pick<Embedding, 'embedDocuments'>,
  texts: readonly string[],
  { vector, signal }: CallOptions & { readonly vector: Float32Array },
): Promise<readonly (readonly TextSpan[])[]> {
  const sentences: { readonly text: number; readonly span: TextSpan; readonly words: string }[] = [];
  for (const [i, text] of texts.entries()) {
    await nextSlice();
    for (const span of sentencesOf(text).slice(0, MAX_COMPARED_SENTENCES))
      sentences.push({ text: i, span, words: text.slice(span.start, span.end) });
  }
  const measured = sentences.map(({ words }) => ({ text: words, tokens: countTokens(words) }));
  const vectors = await embedOrNone(embedding, measured, signal);
  const scored = sentences.flatMap(({ text, span }, i) => {
    const own = vectors[i];
    return own ? [{ text, span, score: innerProduct(vector, own) }] : [];
  });
  return texts.map((_, i) => {
    const own = scored.filter(({ text }) => text === i).toSorted((a, b) => b.score - a.score);
    const least = NEARLY * (own[0]?.score ?? 0);
    const near = own.filter(({ score }, place) => place === 0 || score >= least).slice(0, MAX_NEAR);
    return near.map(({ span }) => span).toSorted((a, b) => a.start - b.start);
  });
}

/** The texts were found without vectors of their sentences, so that a sentence that the model refuses costs the marks alone. */
async function embedOrNone(
  embedding: Pick<Embedding, 'embedDocuments'>,
  texts: readonly { readonly text: string; readonly tokens: number }[],
  signal: AbortSignal | undefined,
): Promise<readonly Float32Array[]> {
  try {
    return (await embedding.embedDocuments(texts, { signal })).vectors;
  } catch (error) {
    if (error instanceof IngestError) return [];
    throw error;
  }
}
