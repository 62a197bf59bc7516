import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServedFile {
  readonly body: Buffer;
  readonly etag?: string | undefined;
  /** As Hugging Face tells the SHA-256. */
  readonly linkedEtag?: string;
  readonly linkedSize?: number;
  readonly contentType?: string;
  readonly status?: number;
  /** The address that it redirects to. */
  readonly location?: string;
  /** Another length than the body has; null for none at all. */
  readonly claimedLength?: number | null;
  /** Bytes after which each answer breaks off. */
  readonly breaksAfter?: number;
  /** Bytes after which each answer says no more. */
  readonly hangsAfter?: number;
  readonly ignoresRange?: boolean;
  /** The beginning that it says it sends from, instead of the one that was asked for. */
  readonly claimedOffset?: number;
  /** Sends 16 KiB at a time with such a pause. */
  readonly pauseMs?: number;
  /** The `Authorization` without which it answers 401. */
  readonly authorization?: string;
}

export interface SeenRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
  /** Bytes of the body that were sent. */
  sent: number;
}

export interface ModelServer {
  readonly url: string;
  readonly files: Map<string, ServedFile>;
  readonly seen: SeenRequest[];
  /** Bytes of bodies that were sent for a path. */
  sentOf(path: string): number;
  close(): void;
}

/** A server of files on loopback that knows ranges, and all that can go wrong. */
export async function startModelServer(): Promise<ModelServer> {
  const files = new Map<string, ServedFile>();
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, { files, seen });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    files,
    seen,
    sentOf: (path) => seen.filter((each) => each.path === path).reduce((sum, each) => sum + each.sent, 0),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { files, seen }: Pick<ModelServer, 'files' | 'seen'>,
): Promise<void> {
  const { pathname: path } = new URL(request.url ?? '/', 'http://localhost');
  const { range, authorization } = request.headers;
  const one: SeenRequest = { path, range, authorization, sent: 0 };
  seen.push(one);
  const file = files.get(path);
  if (!file) return void response.writeHead(404).end('no such file');
  if (file.authorization !== undefined && file.authorization !== authorization)
    return void response.writeHead(401).end('who are you?');
  if (file.location !== undefined) {
    response.writeHead(302, { ...headersOf(file), location: file.location }).end('elsewhere');
    return;
  }
  const offset = file.ignoresRange === true ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  if (offset >= file.body.length) return void response.writeHead(416).end();
  writeHead(response, file, { offset, isRange: range !== undefined && file.ignoresRange !== true });
  await send(response, file, { offset, one });
}

function headersOf({ etag, linkedEtag, linkedSize, contentType }: ServedFile): Record<string, string> {
  return {
    'content-type': contentType ?? 'application/octet-stream',
    ...(etag === undefined ? {} : { etag }),
    ...(linkedEtag === undefined ? {} : { 'x-linked-etag': linkedEtag }),
    ...(linkedSize === undefined ? {} : { 'x-linked-size': String(linkedSize) }),
  };
}

function writeHead(
  response: ServerResponse,
  file: ServedFile,
  { offset, isRange }: { readonly offset: number; readonly isRange: boolean },
): void {
  const { body, claimedLength = body.length, claimedOffset = offset, status } = file;
  const length = claimedLength === null ? {} : { 'content-length': String(claimedLength - offset) };
  const range = `bytes ${String(claimedOffset)}-${String(body.length - 1)}/${String(claimedLength)}`;
  response.writeHead(status ?? (isRange ? 206 : 200), {
    ...headersOf(file),
    ...length,
    ...(isRange ? { 'content-range': range } : {}),
  });
}

const PIECE = 16 * 1024;

async function send(
  response: ServerResponse,
  { body, breaksAfter = Infinity, hangsAfter = Infinity, pauseMs = 0 }: ServedFile,
  { offset, one }: { readonly offset: number; readonly one: SeenRequest },
): Promise<void> {
  const last = Math.min(body.length, offset + Math.min(breaksAfter, hangsAfter));
  for (let at = offset; at < last && !response.destroyed; at += PIECE) {
    const piece = body.subarray(at, Math.min(last, at + PIECE));
    await new Promise((resolve) => response.write(piece, resolve));
    one.sent += piece.length;
    if (pauseMs > 0) await sleep(pauseMs);
  }
  if (last === body.length) response.end();
  // Broken off only when what was sent has arrived.
  else if (breaksAfter <= hangsAfter) setTimeout(() => response.destroy(), 50);
}
