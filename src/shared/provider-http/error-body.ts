import { z } from 'zod';
import { jsonOrNull } from '../json-values.js';

/** An error longer than this is not read to its end. */
const MAX_ERROR_BYTES = 64 * 1024;

const text = z.string().nullish().catch(null);
/** A message that is missing says nothing. */
const messageText = z.string().catch('');
const code = z.union([z.string(), z.number()]).nullish().catch(null);
/** One failed check as FastAPI, and servers built on it, tell it. */
const issueSchema = z.object({
  type: text,
  loc: z.array(z.union([z.string(), z.number()])).catch([]),
  msg: messageText,
});
const issuesSchema = z.union([z.string(), z.array(issueSchema)]);
const bodySchema = z.object({
  /** OpenAI's form, or the bare text of Ollama and text-embeddings-inference. */
  error: z
    .union([
      z.string(),
      z.object({
        message: messageText,
        type: text,
        code,
        param: text,
        innererror: z.object({ code: text }).nullish().catch(null),
      }),
    ])
    .nullish()
    .catch(null),
  error_type: text,
  type: text,
  code,
  param: text,
  /** The text, or the checks of Mistral's servers. */
  message: z
    .union([z.string(), z.object({ detail: issuesSchema })])
    .nullish()
    .catch(null),
  /** FastAPI's form. */
  detail: issuesSchema.nullish().catch(null),
});

/** The answer of a provider to a request that it refuses, in the form of OpenAI's errors. */
interface ProviderError {
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  /** The parameter at fault. */
  readonly param: string | null;
}

/** Reads the forms in which servers of OpenAI's protocol tell an error. Null for any other body. */
function readProviderError(body: string): ProviderError | null {
  const parsed = bodySchema.safeParse(jsonOrNull(body));
  if (!parsed.success) return null;
  const { error, error_type: errorType, message, detail, ...outer } = parsed.data;
  if (typeof error === 'string') return plain(error, { ...outer, type: errorType ?? outer.type });
  if (error) return plain(error.message, { ...error, code: error.innererror?.code ?? error.code });
  if (typeof message === 'string') return plain(message, outer);
  const issues = message?.detail ?? detail;
  if (issues === undefined || issues === null) return null;
  if (typeof issues === 'string') return plain(issues, outer);
  return plain(issues.map(tellIssue).join('; '), { ...outer, param: paramOf(issues), type: issues[0]?.type });
}

interface Told {
  readonly type?: string | null | undefined;
  readonly code?: string | number | null | undefined;
  readonly param?: string | null | undefined;
}

function plain(message: string, { type, code: told, param }: Told): ProviderError {
  return { message, type: type ?? null, code: told == null ? null : String(told), param: param ?? null };
}

type Issue = z.infer<typeof issueSchema>;

/** Returns the outermost field that the checks name: a field below it, or the place of a text in a list, is no parameter. */
function paramOf(issues: readonly Issue[]): string | null {
  const names = issues.flatMap(({ loc }) => loc.filter((part) => part !== 'body').slice(0, 1));
  return names.find((name) => typeof name === 'string') ?? null;
}

const tellIssue = ({ loc, msg }: Issue): string => `${loc.join('.')}: ${msg}`;

/** Tells whether something that a provider says is a word, such as a code, that is safe to log. */
export function isPlainWord(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value);
}

/**
 * Gives refusals of a provider the form of OpenAI's errors. Its client reads no other form, and would keep only the status
 * of refusals by Mistral or a server of FastAPI.
 */
export function withReadableErrors(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status < 400 || !response.body) return response;
    const { status, statusText, headers } = response;
    const body = await readAtMost(response.body, MAX_ERROR_BYTES);
    const error = readProviderError(body);
    return new Response(error ? JSON.stringify({ error }) : body, {
      status,
      statusText,
      headers: error ? jsonHeaders(headers) : headers,
    });
  };
}

function jsonHeaders(headers: Headers): Headers {
  const changed = new Headers(headers);
  changed.set('content-type', 'application/json');
  changed.delete('content-length');
  changed.delete('content-encoding');
  return changed;
}

async function readAtMost(stream: ReadableStream<Uint8Array>, bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let read = 0;
  let found = '';
  for await (const piece of stream) {
    found += decoder.decode(piece.subarray(0, bytes - read), { stream: true });
    read += piece.length;
    if (read >= bytes) break;
  }
  return found;
}
