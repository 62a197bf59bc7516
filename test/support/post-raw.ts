import type { Client } from './client.js';
import { openRaw, type RawConnection } from './raw-http.js';

interface RawRequest {
  readonly url: string;
  readonly client: Client;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  /** The number of times that it is sent, one behind the other on the same connection. */
  readonly repeat?: number;
}

/** Sends a request by hand, so that the answer can be taken, left, or not read. */
export async function postRaw({
  url,
  client,
  path,
  method = 'POST',
  body,
  repeat = 1,
}: RawRequest): Promise<RawConnection> {
  const connection = await openRaw(Number(new URL(url).port));
  const text = body === undefined ? '' : JSON.stringify(body);
  const request = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(repeat === 1 ? ['Connection: close'] : []),
    `Authorization: ${client.authorization}`,
    ...(text === ''
      ? []
      : ['Content-Type: application/json', `Content-Length: ${String(Buffer.byteLength(text))}`]),
    '',
    text,
  ].join('\r\n');
  connection.socket.write(request.repeat(repeat));
  return connection;
}
