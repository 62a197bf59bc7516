import { once } from 'node:events';
import { connect } from 'node:net';
import { systemErrorCode } from '../system-error-code.js';

/** Tells whether a living process listens on a local socket, which is a file or an abstract name of Linux (`\0…`). */
export async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    switch (systemErrorCode(error)) {
      case 'ECONNREFUSED':
      case 'ENOENT':
        return false;
      // The listener ended after it had let this connection wait.
      case 'ECONNRESET':
        return await isListening(path);
      default:
        throw error;
    }
  } finally {
    socket.destroy();
  }
}
