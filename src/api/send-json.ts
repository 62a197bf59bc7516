import type { ServerResponse } from 'node:http';

/** Sets status and type of a JSON answer; by hand, since express would add a charset, which JSON does not have. */
export function startJson(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  startJson(response, status);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}
