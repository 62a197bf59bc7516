import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';
import { reasonOfEnd } from '../connections/slow-clients.js';

/** Sets status and content type. Express is not used, because it would add a charset, which JSON does not have. */
export function startJson(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends JSON text in one piece: it is small, or the same bytes go to all clients. */
export function sendText(response: ServerResponse, status: number, text: string | Uint8Array): void {
  // Node.js would measure a string, and then write it through another copy. Both go into one packet with the headers.
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  startJson(response, status);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

/** The maximum number of bytes of one response that wait in this process for the client to accept them. */
export const PIECE_BYTES = 64 * 1024;

/**
 * Writes in pieces: each waits until the one before has left this process, and for another turn of the event loop. A client
 * that accepts nothing is disconnected by `cutOffSlowClients`.
 * @throws AbandonedError when the client is gone
 */
export async function writeWithBackpressure(response: Response, text: string | Uint8Array): Promise<void> {
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
