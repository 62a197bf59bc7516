import { z } from 'zod';

const count = z.number().nonnegative().nullish().catch(null);
const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  input_token_details: z.object({ cache_read: count }).nullish().catch(null),
});
const table = z.record(z.string(), z.unknown()).catch({});
const chunkSchema = z.object({
  content: z.union([z.string(), z.array(z.unknown())]),
  response_metadata: table.optional(),
  additional_kwargs: table.optional(),
  usage_metadata: usageSchema.nullish().catch(null),
});
const partSchema = z.union([
  z.string(),
  z.object({ type: z.enum(['text', 'text_delta', 'output_text']).optional(), text: z.string() }),
]);

/** A message of a stream, as far as it is used. The numbers of all messages of a stream add up. */
export interface Chunk {
  readonly text: string;
  readonly finishReason: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Null when the provider does not say it. */
  readonly promptTokensReused: number | null;
}

/** @returns null for anything but a message of LangChain */
export function readChunk(raw: unknown): Chunk | null {
  const parsed = chunkSchema.safeParse(raw);
  if (!parsed.success) return null;
  const {
    content,
    response_metadata: metadata,
    additional_kwargs: more,
    usage_metadata: usage,
  } = parsed.data;
  return {
    text: typeof content === 'string' ? content : content.map(textOf).join(''),
    finishReason: findReason(metadata ?? {}) ?? findReason(more ?? {}),
    promptTokens: usage?.input_tokens ?? 0,
    completionTokens: usage?.output_tokens ?? 0,
    promptTokensReused: usage?.input_token_details?.cache_read ?? null,
  };
}

/** The text of a part. Thoughts, calls of tools and pictures have none. */
function textOf(part: unknown): string {
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) return '';
  return typeof parsed.data === 'string' ? parsed.data : parsed.data.text;
}

/** The fields in which the packages tell why an answer ended. */
const REASONS = ['finish_reason', 'stop_reason', 'done_reason', 'finishReason', 'stopReason'];

function findReason(metadata: Readonly<Record<string, unknown>>): string | null {
  const places = [
    ...REASONS.map((name) => metadata[name]),
    // Bedrock.
    table.parse(metadata['messageStop'])['stopReason'],
    // OpenAI's Responses, which have a reason only where they were cut.
    table.parse(metadata['incomplete_details'])['reason'],
    metadata['status'] === 'completed' ? 'completed' : null,
  ];
  return places.filter((place) => typeof place === 'string').find((reason) => reason !== '') ?? null;
}
