import type { ServerResponse } from 'node:http';

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
