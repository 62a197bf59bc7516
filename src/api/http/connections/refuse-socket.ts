import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

interface Refusal {
  readonly status: number;
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

/** Answers in JSON on a connection without a request that could be answered, and ends it. Null: without an answer. */
export function refuseSocket(socket: Duplex, refusal: Refusal | null): void {
  if (refusal === null || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, retryAfterSeconds } = refusal;
  const reason = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ detail: refusal.detail ?? reason });
  const lines = [
    `HTTP/1.1 ${String(status)} ${reason}`,
    'Content-Type: application/json',
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    `X-Request-Id: ${randomUUID()}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${String(retryAfterSeconds)}`]),
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => {
    socket.destroy();
  });
}
