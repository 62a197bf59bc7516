import { randomUUID } from 'node:crypto';
import { documentView } from '../../src/api/routes/document-view.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken, type ApiAnswer } from './api.js';
import type { DocumentApi } from './document-api.js';

export interface Asked {
  readonly key: string;
  readonly as?: string;
  readonly prefer?: string;
  readonly path?: string;
}

const headersOf = ({ key, prefer = 'respond-async' }: Asked) => ({ 'Idempotency-Key': key, Prefer: prefer });

export const postText = (api: DocumentApi, body: unknown, asked: Asked): Promise<ApiAnswer> =>
  api.request(asked.path ?? '/ingest/text', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headersOf(asked) },
    token: makeToken({ entity_id: asked.as ?? 'alice' }),
  });

export interface Upload {
  readonly bytes?: string;
  readonly filename?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly fileFirst?: boolean;
}

export function postFile(
  api: DocumentApi,
  { bytes = 'a file', filename = 'a.txt', fields = {}, fileFirst = true }: Upload,
  asked: Asked,
): Promise<ApiAnswer> {
  const form = new FormData();
  const addFile = () => {
    form.append('file', new Blob([bytes], { type: 'text/plain' }), filename);
  };
  if (fileFirst) addFile();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (!fileFirst) addFile();
  const token = makeToken({ entity_id: asked.as ?? 'alice' });
  return api.request('/ingest/file', { method: 'POST', body: form, headers: headersOf(asked), token });
}

export const idOf = (answer: ApiAnswer) => documentView.parse(answer.body).external_id;
export const isReplay = (answer: ApiAnswer) => answer.headers.get('idempotent-replayed') === 'true';
export const newKey = () => randomUUID();

/** The ids of the documents that a caller owns, by their records. */
export async function documentsOf(api: DocumentApi, owner: string): Promise<string[]> {
  const ids: string[] = [];
  for (const key of await api.redis.keys(`${keys.documentPrefix}*`)) {
    const record = await api.records.read(key.slice(keys.documentPrefix.length));
    if (record?.ownerId === owner) ids.push(record.id);
  }
  return ids;
}
