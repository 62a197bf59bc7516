import { z } from 'zod';
import { documentView, type DocumentView } from '../../src/api/routes/document-view.js';
import { jsonBody, makeToken, type ApiAnswer } from './api.js';
import type { DocumentApi } from './document-api.js';
import { playIngest } from './play-worker.js';

export const documentOf = (answer: ApiAnswer): DocumentView => documentView.parse(answer.body);
export const idsOf = (answer: ApiAnswer): string[] =>
  z
    .array(z.object({ external_id: z.string() }))
    .parse(answer.body)
    .map((each) => each.external_id);

interface Ingested {
  readonly metadata?: Record<string, unknown>;
  readonly filename?: string;
  readonly access_control?: { readers?: string[]; writers?: string[]; admins?: string[] };
}

/** The actions of a user on documents; every answer is checked against its route. */
export function createUser(api: DocumentApi, name: string) {
  const token = makeToken({ entity_id: name });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.request(path, {
      ...(body === undefined ? { method } : jsonBody(body, method)),
      token,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  const ingest = async (content: string, more: Ingested = {}) => {
    const answer = await send('POST', '/ingest/text', { content, ...more }, { Prefer: 'respond-async' });
    return documentOf(answer).external_id;
  };
  return {
    name,
    token,
    send,
    ingest,
    get: (path: string) => send('GET', path),
    /** Id of a document that is completed with a chunk for each text. */
    ingestCompleted: async (texts: readonly string[], more: Ingested = {}) => {
      const id = await ingest(texts.join('\n'), more);
      await playIngest(api, id, texts);
      return id;
    },
    upload: async (content: string | Blob, filename: string, path = '/ingest/file') => {
      const body = new FormData();
      body.append('file', typeof content === 'string' ? new Blob([content]) : content, filename);
      const method = path === '/ingest/file' ? 'POST' : 'PUT';
      return api.request(path, { method, body, token, headers: { Prefer: 'respond-async' } });
    },
  };
}
export type User = ReturnType<typeof createUser>;
