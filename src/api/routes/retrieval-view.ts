import { z } from 'zod';
import { locationSchema } from '../../readers/index.js';
import { whereaboutsFields } from './extraction-view.js';
import {
  chunkDetails,
  documentDetails,
  timingHeaders,
  viewChunkDetails,
  viewDocumentDetails,
  viewMatches,
} from './retrieval-details.js';
import type { Streamed } from '../http/response/reply.js';
import { FINISH_REASONS } from '../../shared/models/finish-reason.js';
import type { FoundChunk, SearchReport } from '../services/retrieval/retrieval.js';
import type { RerankReport } from '../../shared/search/reranked-search.js';
import type { FoundDocument } from '../services/retrieval/found-documents.js';
import type { SourceQuote, Sources } from '../services/retrieval/sources.js';
import type { Completion, QueryEvent } from '../services/retrieval/completions.js';

const metadata = z.record(z.string(), z.unknown());
const owner = z.string().describe('Who owns the document: the caller, or who shares it with the caller.');

const url = z
  .string()
  .describe(
    'The address of a page for people that shows the passage marked in its document. It stays the same, and asks for a token.',
  );

const pageUrl = z
  .string()
  .nullable()
  .describe(
    'The address of the page as a picture with the passage marked; null where the file has no pages.',
  );

export const chunkResult = z
  .object({
    content: z.string(),
    score: z.number().min(0).max(1).describe('How well it fits the query.'),
    document_id: z.string(),
    owner,
    chunk_number: z.int().min(0).describe('The place of the chunk in its document, from 0.'),
    ...whereaboutsFields,
    metadata,
    content_type: z.string(),
    filename: z.string().nullable().describe('The name of the file; null for a text.'),
    download_url: z.string().nullable().describe('A signed address of the source; null for a text.'),
    url,
    page_url: pageUrl,
    ...chunkDetails,
  })
  .meta({
    id: 'ChunkResult',
    description: 'A chunk that a search found, and the document that it belongs to.',
  });

export function viewChunk(chunk: FoundChunk): z.infer<typeof chunkResult> {
  return {
    content: chunk.content,
    score: chunk.score,
    document_id: chunk.documentId,
    owner: chunk.owner,
    chunk_number: chunk.chunkNumber,
    location: chunk.location,
    section: [...chunk.section],
    metadata: chunk.metadata,
    content_type: chunk.contentType,
    filename: chunk.filename,
    download_url: chunk.downloadUrl,
    url: chunk.url,
    page_url: chunk.pageUrl,
    ...viewChunkDetails(chunk),
  };
}

export const documentResult = z
  .object({
    score: z.number().min(0).max(1).describe('How well it fits the query.'),
    document_id: z.string(),
    owner,
    metadata,
    url,
    content: z.object({
      type: z.enum(['string', 'url']),
      value: z.string().describe('The text of the document, or a signed address of its file.'),
      filename: z.string().nullable(),
    }),
    additional_metadata: metadata.describe('Always empty. Existing clients expect the field.'),
    ...documentDetails,
  })
  .meta({
    id: 'DocumentResult',
    description: 'A document that a search found, with its text or an address to download it.',
  });

export function viewFoundDocument({
  score,
  documentId,
  owner: ownerId,
  metadata,
  url: viewUrl,
  content,
  ...details
}: FoundDocument): Streamed<z.infer<typeof documentResult>> {
  return {
    score,
    document_id: documentId,
    owner: ownerId,
    metadata,
    url: viewUrl,
    content,
    additional_metadata: {},
    ...viewDocumentDetails(details),
  };
}

/** Returns the headers that tell of a search beside its results. */
export const searchHeaders = ({ rerank, times }: SearchReport): Readonly<Record<string, string>> => ({
  ...rerankHeaders(rerank),
  ...timingHeaders(times),
});

/** Returns the header that tells the outcome of a reranking, where it was asked for. */
export function rerankHeaders(report: RerankReport | null): Readonly<Record<string, string>> {
  if (report === null) return {};
  const { outcome } = report;
  return { 'Quire-Rerank': outcome === 'applied' ? outcome : `skipped; reason=${outcome}` };
}

export const usageCounts = z
  .object({
    completion_tokens: z.int(),
    prompt_tokens: z.int(),
    total_tokens: z.int(),
  })
  .meta({ id: 'TokenCounts', description: 'Tokens that the model read and wrote.' });

export function viewUsage({
  completionTokens,
  promptTokens,
}: {
  readonly completionTokens: number;
  readonly promptTokens: number;
}): z.infer<typeof usageCounts> {
  return {
    completion_tokens: completionTokens,
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

const quote = z
  .object({
    text: z.string().describe('The sentence, word by word as the passage has it.'),
    start: z.int().min(0).describe('Where it begins in `text` of the source, in UTF-16 units.'),
    end: z.int().min(0),
    chunk_number: z.int().min(0).optional().describe('The chunk in which it stands, with `context`.'),
    page: z.int().min(1).optional(),
    boxes: locationSchema.shape.boxes.describe(
      'The rectangles of its lines, in points from the top left corners of pages.',
    ),
    slide: z.int().min(1).optional(),
    sheet: locationSchema.shape.sheet,
    rows: locationSchema.shape.rows,
    line: z.int().min(1).optional(),
    chapter: locationSchema.shape.chapter,
    message: locationSchema.shape.message,
  })
  .meta({
    id: 'Quote',
    description: 'A sentence of a source that the answer was made from, and where it stands.',
  });

export const answerSource = z
  .object({
    document_id: z.string(),
    owner,
    chunk_number: z.int(),
    score: z
      .number()
      .describe('How well it fits the query; in an answer of a cache, its share of all that is quoted.'),
    ...whereaboutsFields,
    filename: z.string().nullable().describe('The name of the file; null for a text.'),
    title: z.string().nullable().describe('The title that the file gives itself.'),
    text: z.string().describe('The passage.'),
    quotes: z.array(quote).describe('The sentences that the answer was made from, in their order.'),
    url,
    page_url: pageUrl,
    matches: chunkDetails.matches,
  })
  .meta({ id: 'AnswerSource', description: 'A chunk that an answer was made from.' });

export const sourcesFields = {
  sources: z.array(answerSource).describe('The chunks that the answer was made from, best first.'),
  unsupported: z
    .array(z.string())
    .describe('Sentences of the answer that no source supports: words or numbers of them stand in none.'),
};

const outcome = { usage: usageCounts, finish_reason: z.enum(FINISH_REASONS), ...sourcesFields };

export const completion = z
  .object({ completion: z.string().describe('The answer.'), ...outcome })
  .meta({ id: 'Completion', description: 'An answer with its sources.' });

export function viewCompletion(answer: Completion): z.infer<typeof completion> {
  return {
    completion: answer.completion,
    usage: viewUsage(answer),
    finish_reason: answer.finishReason,
    ...viewSources(answer),
  };
}

export const completionEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('token'), text: z.string() }),
    z.object({ type: z.literal('end'), ...outcome }),
  ])
  .meta({
    id: 'CompletionEvent',
    description: 'A piece of the text of an answer, or, as the last event, how it ended.',
  });

export function viewEvent(event: QueryEvent): z.infer<typeof completionEvent> {
  if (event.type === 'token') return event;
  const usage = viewUsage(event);
  return { type: 'end', finish_reason: event.finishReason, usage, ...viewSources(event) };
}

export const viewSources = ({ sources, unsupported }: Sources) => ({
  sources: sources.map(
    ({ documentId, owner: ownerId, chunkNumber, section, quotes, pageUrl: picture, ...shown }) => {
      const { spots: _, widened, ...source } = shown;
      return {
        document_id: documentId,
        owner: ownerId,
        chunk_number: chunkNumber,
        ...source,
        section: [...section],
        quotes: quotes.map(viewQuote),
        page_url: picture,
        ...(widened && { matches: viewMatches(widened.matches) }),
      };
    },
  ),
  unsupported: [...unsupported],
});

const viewQuote = ({ boxes, chunkNumber, ...each }: SourceQuote) => ({
  ...each,
  ...(chunkNumber !== undefined && { chunk_number: chunkNumber }),
  boxes: boxes && [...boxes],
});
