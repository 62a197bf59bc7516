import type { Client } from './client.js';

export interface StreamEvent {
  /** Null for events that have no name. */
  readonly name: string | null;
  readonly data: Readonly<Record<string, unknown>> & { readonly type?: string; readonly text?: string };
}

/** A streamed query, read to its end; no events when it was answered otherwise. */
export async function streamQuery(
  url: string,
  client: Client,
  body: Readonly<Record<string, unknown>>,
  path = '/query',
) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: client.authorization },
    body: JSON.stringify({ ...body, stream: true }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const blocks = type.startsWith('text/event-stream') ? text.split('\n\n').filter(Boolean) : [];
  return { status: response.status, headers: response.headers, type, text, events: blocks.map(parseBlock) };
}

function parseBlock(block: string): StreamEvent {
  const name = /^event: (.*)$/m.exec(block)?.[1] ?? null;
  // @NOTE tests say what they expect, and fail when it is not there.
  const data = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}') as StreamEvent['data'];
  return { name, data };
}
