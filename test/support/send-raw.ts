import { once } from 'node:events';
import { connect } from 'node:net';
import type { RawRequest } from './header-attacks.js';

const PATIENCE_MILLISECONDS = 90_000;

/** Sends a request as it is, on a connection of its own. @returns the status of its answer, 0 where none came */
export async function sendRaw(
  port: number,
  { method, path, headers, body }: RawRequest,
  authorization: string,
): Promise<number> {
  const names = headers.map((line) => line.split(':')[0]?.toLowerCase());
  const own = [
    ...(names.includes('authorization') ? [] : [`Authorization: ${authorization}`]),
    ...(body && !names.includes('content-length') && !names.includes('transfer-encoding')
      ? [`Content-Length: ${String(body.length)}`]
      : []),
    'Connection: close',
  ];
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const ended = once(socket, 'close').catch(() => undefined);
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (data: string) => {
    if (text.length < 100) text += data;
  });
  socket.on('error', () => undefined);
  socket.setTimeout(PATIENCE_MILLISECONDS, () => socket.destroy());
  socket.write(
    Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...headers, ...own].join('\r\n')}\r\n\r\n`, 'latin1'),
  );
  if (body) socket.write(body);
  await ended;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
}
