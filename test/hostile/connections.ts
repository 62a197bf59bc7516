import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../support/client.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';

export const openMany = (port: number, count: number, localAddress?: string): Promise<RawConnection[]> =>
  Promise.all(Array.from({ length: count }, () => openRaw(port, localAddress)));

interface Upload {
  readonly port: number;
  readonly caller: Client;
  /** The part of the file that comes. */
  readonly begun?: string | Uint8Array;
}

/** Begins uploads that never end, each with a part of its file, a few at a time. */
export async function holdUploads(
  { port, caller, begun = 'Some text' }: Upload,
  count: number,
  localAddress?: string,
): Promise<RawConnection[]> {
  const type = 'Content-Type: multipart/form-data; boundary=xx';
  const length = `Content-Length: ${String(begun.length + 100_000)}`;
  const head = headOf(caller, 'POST /ingest/file', type, length);
  const part = '--xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
  const beginning = Buffer.concat([Buffer.from(head + part), Buffer.from(begun)]);
  const held: RawConnection[] = [];
  while (held.length < count) {
    const more = await openMany(port, Math.min(20, count - held.length), localAddress);
    // At once: what comes after a refusal would reset the connection, and the answer with it.
    for (const { socket } of more) socket.write(beginning);
    held.push(...more);
    await sleep(20);
  }
  return held;
}

export function closeAll(connections: readonly RawConnection[]): void {
  for (const { socket } of connections) socket.destroy();
}

/** Waits until each connection has ended or has been answered, at most so long. */
export async function untilHeard(connections: readonly RawConnection[], seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  const isHeard = ({ socket, received }: RawConnection) => socket.closed || received() !== '';
  while (performance.now() < end && !connections.every(isHeard)) await sleep(20);
}

/** Status of what a raw connection answered first, `silent` where it said nothing. */
export function statusLine(text: string): number | string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
  return status === undefined ? 'silent' : Number(status);
}

/** The number of answers of a status that a raw connection has received. */
export const answersOf = (status: number, text: string): number =>
  text.split(`HTTP/1.1 ${String(status)} `).length - 1;

/** The head of a request with a caller's token. */
export const headOf = ({ authorization }: Client, line: string, ...more: readonly string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: localhost', `Authorization: ${authorization}`, ...more].join('\r\n')}\r\n\r\n`;

/** A request for passages with a body of its whole length. */
export function searchOf(client: Client, body: string, ...more: readonly string[]): string {
  const described = ['Content-Type: application/json', `Content-Length: ${String(body.length)}`];
  return headOf(client, 'POST /retrieve/chunks', ...described, ...more) + body;
}
