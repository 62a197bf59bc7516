import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { FINISH_REASONS, type FinishReason } from '../../../shared/models/finish-reason.js';
import { answerSource, usageCounts, viewSources, viewUsage } from '../../routes/retrieval-view.js';
import type { QuotedSource, Sources } from '../../services/retrieval/sources.js';
import { findCitations, nameOfSource, urlOfSource } from './citations.js';
import { expand } from './expand.js';

const annotation = z
  .object({
    type: z.literal('url_citation'),
    url_citation: z.object({
      url: z.string().describe('The page of the passage, which asks who may read it and never expires.'),
      title: z.string(),
      start_index: z.int().min(0).describe('Where the mark `[1]` begins in the answer, in UTF-16 units.'),
      end_index: z.int().min(0),
    }),
  })
  .meta({ id: 'UrlCitation', description: 'A mark in an answer that cites a source.' });

const head = {
  id: z.string(),
  created: z.int().describe('Seconds since 1970.'),
  model: z.string().describe('The model as it was asked for.'),
};
const sourcesFields = {
  sources: z.array(answerSource).describe('As `POST /query` answers them.'),
  unsupported: z.array(z.string()).describe('Sentences of the answer that no source supports.'),
};

export const chatCompletion = z
  .object({
    ...head,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string(),
          refusal: z.null(),
          annotations: z.array(annotation),
        }),
        logprobs: z.null(),
        finish_reason: z.enum(FINISH_REASONS),
      }),
    ),
    usage: usageCounts,
    ...sourcesFields,
  })
  .meta({ id: 'ChatCompletion', description: 'An answer, as clients of OpenAI read it.' });

export const chatChunk = z
  .object({
    ...head,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: z.object({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          annotations: z.array(annotation).optional(),
        }),
        logprobs: z.null(),
        finish_reason: z.enum(FINISH_REASONS).nullable(),
      }),
    ),
    usage: usageCounts.nullable().optional(),
    sources: sourcesFields.sources.optional(),
    unsupported: sourcesFields.unsupported.optional(),
  })
  .meta({
    id: 'ChatCompletionChunk',
    description: 'A piece of an answer. The last with a choice has its citations and sources.',
  });
type Chunk = z.infer<typeof chatChunk>;

/** The facts of an answer that are known before it. */
export interface AskedChat {
  readonly model: string;
  readonly startedAtMs: number;
  readonly baseUrl: string;
  /** True where `[1]` is the first source. In the answer of a cache it is the first document, and nothing is annotated. */
  readonly citesSources: boolean;
}

interface ChatEnd extends Partial<Sources> {
  readonly finishReason: FinishReason;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export type ChatEvent =
  { readonly type: 'token'; readonly text: string } | ({ readonly type: 'end' } & ChatEnd);

const headOf = ({ model, startedAtMs }: AskedChat) => ({
  id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  created: Math.floor(startedAtMs / 1_000),
  model,
});

export function viewChat(
  asked: AskedChat,
  answer: ChatEnd & { readonly completion: string },
): z.infer<typeof chatCompletion> {
  const { completion: content, finishReason } = answer;
  const sources = answer.sources ?? [];
  const message = {
    role: 'assistant',
    content,
    refusal: null,
    annotations: annotate(content, sources, asked),
  } as const;
  return {
    ...headOf(asked),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: viewUsage(answer),
    ...viewSources({ sources, unsupported: answer.unsupported ?? [] }),
  };
}

/** Makes the chunks of a stream, and one with the usage at its end where that was asked for. */
export function viewChatStream(
  asked: AskedChat,
  events: AsyncIterable<ChatEvent>,
  { includesUsage }: { readonly includesUsage: boolean },
): AsyncIterable<Chunk> {
  const shared = { ...headOf(asked), object: 'chat.completion.chunk' } as const;
  const noUsage = includesUsage ? { usage: null } : {};
  const chunkOf = (delta: Delta, finishReason: FinishReason | null = null): Chunk => ({
    ...shared,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...noUsage,
  });
  let content = '';
  return expand(
    events,
    (event) => {
      if (event.type === 'token') {
        content += event.text;
        return [chunkOf({ content: event.text })];
      }
      const sources = event.sources ?? [];
      const last = {
        ...chunkOf({ annotations: annotate(content, sources, asked) }, event.finishReason),
        ...viewSources({ sources, unsupported: event.unsupported ?? [] }),
      };
      return includesUsage ? [last, { ...shared, choices: [], usage: viewUsage(event) }] : [last];
    },
    [chunkOf({ role: 'assistant', content: '' })],
  );
}

type Delta = Chunk['choices'][number]['delta'];

const annotate = (
  content: string,
  sources: readonly QuotedSource[],
  { baseUrl, citesSources }: AskedChat,
): z.infer<typeof annotation>[] =>
  findCitations(content, citesSources ? sources : []).map(({ source, start, end }) => ({
    type: 'url_citation',
    url_citation: {
      url: urlOfSource(source, baseUrl),
      title: nameOfSource(source),
      start_index: start,
      end_index: end,
    },
  }));
