import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { FinishReason } from '../../../shared/models/finish-reason.js';
import type { QueryEnd, QueryEvent } from '../../services/retrieval/completions.js';
import type { QuotedSource, Source } from '../../services/retrieval/sources.js';
import { findCitations, nameOfSource } from './citations.js';
import { expand } from './expand.js';

const citation = z
  .object({
    type: z.literal('file_citation'),
    file_id: z.string().describe('The id of the document.'),
    filename: z.string(),
    index: z.int().min(0).describe('Where the mark `[1]` begins in the text, in UTF-16 units.'),
  })
  .meta({ id: 'FileCitation', description: 'A mark in an answer that cites a document.' });
const textPart = z
  .object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(citation) })
  .meta({ id: 'OutputText', description: 'The text of an answer with its citations.' });
const searchItem = z
  .object({
    type: z.literal('file_search_call'),
    id: z.string(),
    status: z.enum(['in_progress', 'completed']),
    queries: z.array(z.string()),
    results: z
      .array(z.object({ file_id: z.string(), filename: z.string(), score: z.number(), text: z.string() }))
      .nullable(),
  })
  .meta({ id: 'FileSearchCall', description: 'The search that an answer was made from.' });
const messageItem = z
  .object({
    type: z.literal('message'),
    id: z.string(),
    role: z.literal('assistant'),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
    content: z.array(textPart),
  })
  .meta({ id: 'OutputMessage', description: 'An answer as a message.' });
const item = z.union([searchItem, messageItem]);

const responseUsage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

export const responseView = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int().describe('Seconds since 1970.'),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
    error: z.null(),
    incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.object({}),
    model: z.string(),
    output: z.array(item),
    parallel_tool_calls: z.literal(false),
    previous_response_id: z.null(),
    store: z.literal(false).describe('Nothing is stored.'),
    temperature: z.number().nullable(),
    tool_choice: z.literal('auto'),
    tools: z.array(z.object({ type: z.literal('file_search'), vector_store_ids: z.array(z.string()) })),
    usage: responseUsage.nullable(),
  })
  .meta({ id: 'Response', description: 'An answer and the search that it was made from.' });
type View = z.infer<typeof responseView>;
type Item = z.infer<typeof item>;

/** One schema for all events, which differ in the fields that they have. */
export const responseEvent = z
  .object({
    type: z.string().describe('Such as `response.output_text.delta`; also the name of the event.'),
    sequence_number: z.int().min(0),
    response: responseView.optional(),
    output_index: z.int().optional(),
    content_index: z.int().optional(),
    annotation_index: z.int().optional(),
    item_id: z.string().optional(),
    item: item.optional(),
    part: textPart.optional(),
    annotation: citation.optional(),
    delta: z.string().optional(),
    text: z.string().optional(),
    logprobs: z.array(z.never()).optional(),
  })
  .meta({ id: 'ResponseEvent', description: 'A step on the way to an answer. The last has all of it.' });
type Event = z.infer<typeof responseEvent>;
type Unnumbered = Omit<Event, 'sequence_number'>;

export interface AskedResponse {
  readonly model: string;
  readonly startedAtMs: number;
  readonly query: string;
  readonly instructions: string | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly stores: readonly string[];
  /** True if the passages that were found are told. */
  readonly includesResults: boolean;
}

const makeId = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '')}`;
const makeIds = () => ({ response: makeId('resp'), search: makeId('fs'), message: makeId('msg') });
type Ids = ReturnType<typeof makeIds>;

function viewState(asked: AskedResponse, ids: Ids, state: Partial<View> = {}): View {
  return {
    id: ids.response,
    object: 'response',
    created_at: Math.floor(asked.startedAtMs / 1_000),
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: asked.instructions,
    max_output_tokens: asked.maxOutputTokens,
    metadata: {},
    model: asked.model,
    output: [],
    parallel_tool_calls: false,
    previous_response_id: null,
    store: false,
    temperature: asked.temperature,
    tool_choice: 'auto',
    tools: [{ type: 'file_search', vector_store_ids: [...asked.stores] }],
    usage: null,
    ...state,
  };
}

export function viewResponse(asked: AskedResponse, answer: QueryEnd & { readonly completion: string }): View {
  const ids = makeIds();
  return viewEnd(asked, ids, { ...answer, text: answer.completion });
}

function viewEnd(asked: AskedResponse, ids: Ids, answer: QueryEnd & { readonly text: string }): View {
  const { promptTokens, completionTokens, finishReason } = answer;
  const isWhole = finishReason === 'stop';
  const part = partOf(answer.text, answer.sources);
  const message = messageOf(ids, { status: isWhole ? 'completed' : 'incomplete', content: [part] });
  return viewState(asked, ids, {
    status: isWhole ? 'completed' : 'incomplete',
    incomplete_details: isWhole ? null : { reason: REASONS[finishReason] },
    output: [searchOf(asked, ids, answer.sources), message],
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
    },
  });
}

const REASONS: Readonly<Record<Exclude<FinishReason, 'stop'>, 'max_output_tokens' | 'content_filter'>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

const messageOf = (
  { message: id }: Ids,
  state: Pick<z.infer<typeof messageItem>, 'status' | 'content'>,
): Item => ({ type: 'message', id, role: 'assistant', status: state.status, content: state.content });

const partOf = (text: string, sources: readonly QuotedSource[]): z.infer<typeof textPart> => ({
  type: 'output_text',
  text,
  annotations: findCitations(text, sources).map(({ source, start }) => ({
    type: 'file_citation',
    file_id: source.documentId,
    filename: nameOfSource(source),
    index: start,
  })),
});

const searchOf = ({ query, includesResults }: AskedResponse, ids: Ids, sources: readonly Source[]): Item => ({
  type: 'file_search_call',
  id: ids.search,
  status: 'completed',
  queries: [query],
  results: includesResults
    ? sources.map((source) => ({
        file_id: source.documentId,
        filename: nameOfSource(source),
        score: source.score,
        text: source.text,
      }))
    : null,
});

/** Makes the events of a stream, in the order in which OpenAI sends them. `found` returns the passages, once there are any. */
export function viewResponseStream(
  asked: AskedResponse,
  events: AsyncIterable<QueryEvent>,
  found: () => readonly Source[],
): AsyncIterable<Event> {
  const ids = makeIds();
  let number = 0;
  const numbered = (each: readonly Unnumbered[]): Event[] =>
    each.map((event) => {
      const sequence_number = number;
      number += 1;
      return { ...event, sequence_number };
    });
  let text: string | null = null;
  return expand(
    events,
    (event) => {
      const made: Unnumbered[] = [];
      if (text === null) made.push(...foundEvents(asked, ids, found()));
      text ??= '';
      if (event.type === 'token') {
        text += event.text;
        made.push({ type: 'response.output_text.delta', ...placeOf(ids), delta: event.text, logprobs: [] });
      } else made.push(...lastEvents(asked, ids, { ...event, text }));
      return numbered(made);
    },
    numbered(firstEvents(asked, ids)),
  );
}

const placeOf = ({ message: item_id }: Ids) => ({ item_id, output_index: 1, content_index: 0 });

function firstEvents(asked: AskedResponse, ids: Ids): Unnumbered[] {
  const response = viewState(asked, ids);
  const search = { output_index: 0, item_id: ids.search };
  const item: Item = {
    type: 'file_search_call',
    id: ids.search,
    status: 'in_progress',
    queries: [],
    results: null,
  };
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.file_search_call.in_progress', ...search },
    { type: 'response.file_search_call.searching', ...search },
  ];
}

function foundEvents(asked: AskedResponse, ids: Ids, sources: readonly Source[]): Unnumbered[] {
  const message = messageOf(ids, { status: 'in_progress', content: [] });
  return [
    { type: 'response.file_search_call.completed', output_index: 0, item_id: ids.search },
    { type: 'response.output_item.done', output_index: 0, item: searchOf(asked, ids, sources) },
    { type: 'response.output_item.added', output_index: 1, item: message },
    { type: 'response.content_part.added', ...placeOf(ids), part: partOf('', []) },
  ];
}

function lastEvents(
  asked: AskedResponse,
  ids: Ids,
  answer: QueryEnd & { readonly text: string },
): Unnumbered[] {
  const response = viewEnd(asked, ids, answer);
  const place = placeOf(ids);
  const part = partOf(answer.text, answer.sources);
  const annotations = part.annotations.map((annotation, annotation_index) => ({
    type: 'response.output_text.annotation.added',
    ...place,
    annotation_index,
    annotation,
  }));
  const message = response.output[1];
  return [
    ...annotations,
    { type: 'response.output_text.done', ...place, text: answer.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 1, ...(message && { item: message }) },
    { type: response.status === 'completed' ? 'response.completed' : 'response.incomplete', response },
  ];
}
