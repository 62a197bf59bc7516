import type { ServerResponse } from 'node:http';

/** Sets status and type of a JSON answer; by hand, since express would add a charset, which JSON does not have. */
export function startJson(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends JSON text that is small, or shared by all who ask for it, in one piece. */
export function sendText(response: ServerResponse, status: number, text: string | Uint8Array): void {
  startJson(response, status);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  // As a string: it leaves in one piece with the headers, where bytes would be a second one.
  response.end(text);
}
