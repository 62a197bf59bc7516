import { isPlainObject } from '../../shared/json-values.js';

/** The service that answers. */
export interface Target {
  /** Its address, with or without a slash at its end. */
  readonly url: string;
  /** Null in dev mode. */
  readonly token: string | null;
}

export interface Posted {
  readonly status: number;
  readonly text: string;
}

export type Message = Readonly<Record<string, unknown>>;

/** Sends a message to the service. @throws an error of `fetch` where it cannot be reached */
export type Post = (message: Message, options?: PostOptions) => Promise<Posted>;

interface PostOptions {
  /** The message as it was written, with numbers that this process could not hold. */
  readonly text?: string;
  /** The version that an older host has agreed on, which its messages do not tell. */
  readonly version?: string | undefined;
  readonly signal?: AbortSignal;
}

export function createPost({ url, token }: Target): Post {
  const address = `${url.replace(/\/$/, '')}/mcp`;
  return async (message, { text, version, signal } = {}) => {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...protocolHeaders(message, version),
      },
      body: text ?? JSON.stringify(message),
      ...(signal && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** Over HTTP, a message of the era without sessions says in headers what it says in itself. */
function protocolHeaders({ method, params }: Message, agreed?: string): Record<string, string> {
  const { _meta: meta, name, uri } = isPlainObject(params) ? params : {};
  const version = isPlainObject(meta) ? meta[VERSION] : undefined;
  if (typeof version !== 'string' || typeof method !== 'string')
    return agreed === undefined ? {} : { 'MCP-Protocol-Version': agreed };
  const subject = name ?? uri;
  return {
    'MCP-Protocol-Version': headerValue(version),
    'Mcp-Method': headerValue(method),
    ...(typeof subject === 'string' && { 'Mcp-Name': headerValue(subject) }),
  };
}

/** Signs that no header may hold are written in base64, as the protocol has it. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
