import type { ServerResponse } from 'node:http';

/** Sets status and type of a JSON answer; by hand, since express would add a charset, which JSON does not have. */
export function startJson(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  startJson(response, status);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  // As a string: it leaves in one piece with the headers, where bytes would be a second one.
  response.end(text);
}
