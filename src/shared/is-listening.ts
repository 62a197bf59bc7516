import { once } from 'node:events';
import { connect } from 'node:net';
import { errorCode } from './error-code.js';

/** Whether a living process listens on a local socket: a file, or a name of Linux's own (`\0…`). */
export async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (errorCode(error) === 'ECONNREFUSED' || errorCode(error) === 'ENOENT') return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
