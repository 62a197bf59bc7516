import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const PATIENCE_MILLISECONDS = 90_000;

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: () => string;
  /** Waits until what was received matches. */
  readonly until: (pattern: RegExp) => Promise<string>;
  /** Waits until the other side ends the connection. */
  readonly closed: () => Promise<string>;
}

/** A TCP connection to talk HTTP by hand, for what proper clients do not send; of this machine's addresses, from any. */
export async function openRaw(port: number, localAddress = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  let text = '';
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => {
    text += part;
    wake();
  });
  socket.on('error', wake);
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  const waitFor = (holds: () => boolean, what: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = () => {
        if (!holds()) return;
        waiting.delete(check);
        clearTimeout(timer);
        resolve(text);
      };
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`${what} did not come; received: ${text.slice(0, 500)}`));
      }, PATIENCE_MILLISECONDS);
      waiting.add(check);
      check();
    });
  return {
    socket,
    received: () => text,
    until: (pattern) => waitFor(() => pattern.test(text), String(pattern)),
    closed: () => waitFor(() => isClosed, 'the end of the connection'),
  };
}
