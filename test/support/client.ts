import jsonwebtoken from 'jsonwebtoken';
import type { Location } from '../../src/readers/blocks/location.js';

/** A document as the API shows it; its schema is held against every response elsewhere. */
export interface WireDocument {
  readonly external_id: string;
  readonly filename: string | null;
  readonly content_type: string;
  readonly metadata: Record<string, unknown>;
  readonly storage_info: { readonly bucket?: string; readonly key?: string };
  readonly chunk_ids: readonly string[];
  readonly system_metadata: {
    readonly version: number;
    readonly published_version: number | null;
    readonly status: string;
    readonly stage: string;
    readonly error: { readonly code: string; readonly message: string; readonly stage: string } | null;
    readonly chunk_count: number;
    readonly token_count: number;
  };
}

export interface WireChunk {
  readonly content: string;
  readonly score: number;
  readonly document_id: string;
  readonly owner: string;
  readonly chunk_number: number;
  readonly location: Location | null;
  readonly section: readonly string[];
  readonly download_url: string | null;
}

export interface Reply<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export const TEST_SECRET = 'a secret of the tests, long enough for HS256';

export type Client = ReturnType<typeof createClient>;

/** Speaks to a running service as one user; without a user, as the one that dev mode makes of it. */
export function createClient(url: string, user?: string, permissions: readonly string[] = ['read', 'write']) {
  const authorization: Record<string, string> =
    user === undefined
      ? {}
      : {
          authorization: `Bearer ${jsonwebtoken.sign({ entity_id: user, permissions }, TEST_SECRET, { expiresIn: '1h' })}`,
        };

  const send = async <Body>(method: string, path: string, init: RequestInit = {}): Promise<Reply<Body>> => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(authorization)) headers.set(name, value);
    const response = await fetch(url + path, { ...init, method, headers });
    const text = await response.text();
    // @NOTE tests say what they expect, and fail when it is not there.
    const body = (text === '' ? null : JSON.parse(text)) as Body;
    return { status: response.status, headers: response.headers, body };
  };

  const json = <Body>(method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    send<Body>(method, path, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  return {
    /** Any request, with the user's token. */
    send,
    /** The value of its header; empty without a user. */
    authorization: authorization['authorization'] ?? '',
    get: <Body>(path: string) => send<Body>('GET', path),
    delete: <Body>(path: string) => send<Body>('DELETE', path),
    post: <Body>(path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
      json<Body>('POST', path, body, headers),
    patch: <Body>(path: string, body: unknown) => json<Body>('PATCH', path, body),
    put: <Body>(path: string, body: unknown, headers: Record<string, string> = {}) =>
      json<Body>('PUT', path, body, headers),
    ingestText: (content: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      json<WireDocument>('POST', '/ingest/text', { content, ...more }, headers),
    ingestFile: (bytes: Uint8Array, filename: string, headers: Record<string, string> = {}) => {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(bytes)]), filename);
      return send<WireDocument & { detail?: string }>('POST', '/ingest/file', { body: form, headers });
    },
    searchChunks: (query: string, more: Record<string, unknown> = {}) =>
      json<WireChunk[]>('POST', '/retrieve/chunks', { query, ...more }),
  };
}
