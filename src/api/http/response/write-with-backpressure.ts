import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';
import { reasonOfEnd } from '../connections/slow-clients.js';

/** A connection holds at most this much that its client has not taken. */
export const PIECE_BYTES = 64 * 1024;

/**
 * Writes in pieces, each after the one before has left this process, with a turn of the event loop after each. A client
 * that takes none is cut off by whoever watches the connections.
 * @throws AbandonedError when the client is gone
 */
export async function writeOut(response: Response, text: string | Uint8Array): Promise<void> {
  if (typeof text === 'string' && text.length * 3 <= PIECE_BYTES) return writePiece(response, text);
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await writePiece(response, bytes.subarray(at, at + PIECE_BYTES));
    await nextTurn();
  }
}

function writePiece(response: Response, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(reasonOfEnd(response.req.socket));
    };
    if (response.destroyed) {
      leave();
      return;
    }
    response.once('close', leave);
    response.write(piece, (error) => {
      response.off('close', leave);
      if (error) leave();
      else resolve();
    });
  });
}
