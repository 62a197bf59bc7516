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
    if (systemErrorCode(error) === 'ECONNREFUSED' || systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
