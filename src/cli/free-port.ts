import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemErrorCode } from '../shared/system-error-code.js';
import { UserError } from './user-messages.js';

/** Returns a loopback port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function adviceFor(code: string | null, place: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${place} is in use, perhaps by another Quire. Stop that, or set PORT to another port.`;
    case 'EACCES':
      return `${place} may not be used by this user. Set PORT to a port from 1024 up.`;
    default:
      return `${place} cannot be listened on (${code ?? 'unknown error'}). Set HOST and PORT.`;
  }
}

/** @throws UserError when the API could not listen at `host` and `port` */
export async function assertPortIsFree(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    throw new UserError(adviceFor(systemErrorCode(error), `Port ${String(port)} of ${host}`), {
      cause: error,
    });
  }
  server.close();
  await once(server, 'close');
}
