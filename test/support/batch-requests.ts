import { makeToken, type ApiAnswer } from './api.js';
import { linesOf, ndjson, outcomesOf, type WireOutcome } from './batches.js';
import type { DocumentApi } from './document-api.js';

export interface AskedBatch {
  readonly as: string;
  readonly key?: string;
  readonly prefer?: string;
  readonly signal?: AbortSignal;
}

const headersOf = ({ key, prefer = 'respond-async' }: AskedBatch) => ({
  Prefer: prefer,
  ...(key !== undefined && { 'Idempotency-Key': key }),
});

const post = (
  api: DocumentApi,
  path: string,
  {
    body,
    type,
    signal = null,
    ...asked
  }: Omit<AskedBatch, 'signal'> & {
    body: string | FormData;
    type?: string;
    signal?: AbortSignal | null;
  },
): Promise<ApiAnswer> =>
  api.request(path, {
    method: 'POST',
    body,
    signal,
    headers: { ...headersOf(asked), ...(type !== undefined && { 'Content-Type': type }) },
    token: makeToken({ entity_id: asked.as }),
  });

export const postBatch = (api: DocumentApi, body: unknown, asked: AskedBatch): Promise<ApiAnswer> =>
  post(api, '/ingest/batch', { ...asked, body: JSON.stringify(body), type: 'application/json' });

export const postLines = (
  api: DocumentApi,
  lines: string | readonly unknown[],
  asked: AskedBatch,
): Promise<ApiAnswer> => {
  const body = typeof lines === 'string' ? lines : ndjson(lines);
  return post(api, '/ingest/batch', { ...asked, body, type: 'application/x-ndjson' });
};

export interface FilesForm {
  /** Names and contents. */
  readonly files: readonly (readonly [name: string, content: string])[];
  readonly fields?: Readonly<Record<string, string>>;
  readonly filesFirst?: boolean;
}

export function postFiles(
  api: DocumentApi,
  { files, fields = {}, filesFirst = true }: FilesForm,
  asked: AskedBatch,
): Promise<ApiAnswer> {
  const form = new FormData();
  const addFields = () => {
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
  };
  if (!filesFirst) addFields();
  for (const [name, content] of files)
    form.append('files', new Blob([content], { type: 'text/plain' }), name);
  if (filesFirst) addFields();
  return post(api, '/ingest/files', { ...asked, body: form });
}

/** A text of a batch, or it and what it says of texts that are there already. */
export type BatchItem = string | readonly [content: string, onDuplicate?: string | null];
export type SendItems = (items: readonly BatchItem[], asked: AskedBatch) => Promise<ApiAnswer>;

/** The ways of sending many texts, with their names for tests. */
export function waysOfSending(api: () => DocumentApi): [name: string, send: SendItems][] {
  return [
    ['in JSON', (items, asked) => postBatch(api(), { documents: items.map(toDocument) }, asked)],
    ['in lines', (items, asked) => postLines(api(), items.map(toDocument), asked)],
    ['in a form', (items, asked) => postFiles(api(), toForm(items), asked)],
  ];
}

const partsOf = (item: BatchItem) => (typeof item === 'string' ? ([item] as const) : item);

function toDocument(item: BatchItem) {
  const [content, onDuplicate] = partsOf(item);
  return { content, ...(onDuplicate !== undefined && { on_duplicate: onDuplicate }) };
}

function toForm(items: readonly BatchItem[]): FilesForm {
  const words = items.map((item) => partsOf(item)[1] ?? null);
  return {
    files: items.map((item) => ['a.txt', partsOf(item)[0]]),
    ...(words.some((word) => word !== null) && { fields: { on_duplicate: JSON.stringify(words) } }),
  };
}

/** The outcomes of a batch, whichever way it was sent. */
export const outcomesIn = ({ text }: ApiAnswer): WireOutcome[] =>
  text.startsWith('[') ? outcomesOf(JSON.parse(text)) : linesOf(text);

export const idsIn = (answer: ApiAnswer): string[] =>
  outcomesIn(answer).map(({ document_id: id = '' }) => id);

export const textsOf = (count: number, start = 'text') =>
  Array.from({ length: count }, (_, i) => ({ content: `${start} ${String(i)}` }));
