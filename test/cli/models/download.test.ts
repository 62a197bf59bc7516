import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { download, type DownloadOptions } from '../../../src/cli/models/pulling/download.js';
import { draftOf, type Announced, type Draft } from '../../../src/cli/models/pulling/drafts.js';
import type { RemoteSource } from '../../../src/cli/models/pulling/model-source.js';
import { redirected, TransferError } from '../../../src/cli/models/pulling/open-remote.js';
import { UserError } from '../../../src/cli/user-messages.js';
import { startModelServer, type ModelServer, type ServedFile } from '../../support/model-server.js';
import { rejection } from '../../support/rejection.js';

let folder: string;
let server: ModelServer;
let draft: Draft;
const PATH = '/some/model.gguf';

/** Begins as a model and differs everywhere. */
function bytesOf(length: number, seed = 1): Buffer {
  const body = Buffer.alloc(length);
  for (let at = 0; at < length; at += 32)
    createHash('sha256')
      .update(`${String(seed)} ${String(at)}`)
      .digest()
      .copy(body, at);
  body.write('GGUF');
  return body;
}
const body = bytesOf(300_000);
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-download-'));
  server = await startModelServer();
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  server.files.clear();
  server.seen.length = 0;
  draft = draftOf(folder, 'model.gguf');
  await draft.remove();
});

const serve = (file: Partial<ServedFile> = {}, path = PATH) =>
  server.files.set(path, { body, etag: '"one"', ...file });

const remote = (path = PATH): RemoteSource => ({
  url: new URL(`${server.url}${path}`),
  token: null,
  isHub: true,
  key: path,
});

function get(options: Partial<DownloadOptions> = {}, from = remote()) {
  return download(from, draft, {
    signal: new AbortController().signal,
    patienceMs: 20_000,
    pauseMs: 1,
    onAnnounced: () => Promise.resolve(),
    onProgress: () => undefined,
    ...options,
  });
}

/** Downloads until so many bytes are there, and is then stopped. */
async function getSome(bytes: number): Promise<void> {
  const stop = new AbortController();
  const onProgress = (done: number) => {
    if (done >= bytes) stop.abort();
  };
  await rejection(get({ signal: stop.signal, onProgress }));
  expect(await draft.size()).toBeGreaterThanOrEqual(bytes);
  expect(await draft.size()).toBeLessThan(body.length);
}

describe('a download', () => {
  test('brings the file, and its hash', async () => {
    serve();
    const { announced, sha256 } = await get();
    expect(await readFile(draft.path)).toEqual(body);
    expect(sha256).toBe(sha256Of(body));
    expect(announced).toEqual({ key: PATH, version: '"one"', size: body.length, sha256: null });
  });

  test('goes on where a connection broke off, again and again', async () => {
    serve({ breaksAfter: 70_000 });
    const { sha256 } = await get();
    expect(sha256).toBe(sha256Of(body));
    expect(await readFile(draft.path)).toEqual(body);
    expect(server.seen.map(({ range }) => range)).toEqual([
      undefined,
      'bytes=70000-',
      'bytes=140000-',
      'bytes=210000-',
      'bytes=280000-',
    ]);
    expect(server.sentOf(PATH)).toBe(body.length);
  });

  test('gives up when new tries bring nothing', async () => {
    serve({ breaksAfter: 70_000 });
    let breaks = 0;
    const onProgress = (done: number) => {
      if (done === 140_000 && breaks++ === 0) serve({ breaksAfter: 0 });
    };
    expect(await rejection(get({ onProgress }))).toBeInstanceOf(TransferError);
    expect(server.seen.filter(({ range }) => range === 'bytes=140000-')).toHaveLength(5);
    expect(await draft.size()).toBe(140_000);
  });

  test('goes on where an earlier one was stopped', async () => {
    serve({ pauseMs: 5 });
    await getSome(100_000);
    const had = await draft.size();
    server.seen.length = 0;
    const { sha256 } = await get();
    expect(sha256).toBe(sha256Of(body));
    expect(await readFile(draft.path)).toEqual(body);
    expect(server.seen.map(({ range }) => range)).toEqual([`bytes=${String(had)}-`]);
    expect(server.sentOf(PATH)).toBe(body.length - had);
  });

  test('asks for nothing when all of it is there', async () => {
    serve();
    await get();
    server.seen.length = 0;
    expect(await get()).toMatchObject({ sha256: sha256Of(body) });
    expect(server.seen).toEqual([]);
  });

  test.each<{ what: string; before?: Partial<ServedFile>; change: Partial<ServedFile> }>([
    { what: 'is another one meanwhile', change: { body: bytesOf(300_000, 2), etag: '"two"' } },
    { what: 'has become shorter', change: { body: bytesOf(50_000, 2), etag: '"two"' } },
    { what: 'is sent from its beginning whatever was asked for', change: { ignoresRange: true } },
    {
      what: 'comes without anything to tell it by',
      before: { etag: undefined },
      change: { etag: undefined },
    },
  ])('begins anew when the file $what', async ({ before, change }) => {
    serve({ pauseMs: 5, ...before });
    await getSome(100_000);
    serve(change);
    const { sha256 } = await get();
    const now = change.body ?? body;
    expect(sha256).toBe(sha256Of(now));
    expect(await readFile(draft.path)).toEqual(now);
  });

  test('does not go on with what was pulled from another address', async () => {
    serve({ pauseMs: 5 });
    await getSome(100_000);
    serve({ body: bytesOf(300_000, 3) }, '/other/model.gguf');
    const { sha256 } = await get({}, remote('/other/model.gguf'));
    expect(sha256).toBe(sha256Of(bytesOf(300_000, 3)));
  });

  test('ends when the server is silent, and says for how long', async () => {
    serve({ hangsAfter: 50_000 });
    const onProgress = (done: number) => {
      if (done === 150_000) serve({ hangsAfter: 0 });
    };
    const error = await rejection(get({ patienceMs: 300, onProgress }));
    expect(error).toBeInstanceOf(TransferError);
    expect(error).toMatchObject({ message: 'nothing came for 0.3 seconds' });
    // It has gone on as long as tries brought something.
    expect(await draft.size()).toBe(150_000);
  });

  test('does not try again where nothing was ever reached', async () => {
    const nobody = await startModelServer();
    nobody.close();
    const url = new URL(`${nobody.url}${PATH}`);
    const error = await rejection(get({ pauseMs: 60_000 }, { ...remote(), url }));
    expect(error).toBeInstanceOf(TransferError);
    expect(error).toMatchObject({ message: `${url.host} cannot be reached (ECONNREFUSED)` });
  });

  test.each<[string, Partial<ServedFile>]>([
    [
      'sends a page with 200',
      { body: Buffer.from('<!DOCTYPE html><title>Log in</title>'), contentType: 'text/html' },
    ],
    ['does not say how long it is', { claimedLength: null }],
    ['says two lengths', { linkedSize: 299_999 }],
    ['has no such file', { status: 404 }],
    ['refuses', { status: 403 }],
    ['sends in a circle', { location: PATH }],
    ['sends to an address that is not encrypted', { location: 'http://192.0.2.1/model.gguf' }],
    ['sends to an address with a password', { location: 'https://me:secret@localhost/model.gguf' }],
    ['sends to a file of this machine', { location: 'file:///etc/passwd' }],
  ])('is refused, and leaves nothing, when the server %s', async (_, file) => {
    serve(file);
    const error = await rejection(get());
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).not.toContain('secret');
    expect(await draft.size()).toBe(0);
  });

  test('is refused, and does not go on for ever, when the server announces more than it has', async () => {
    serve({ claimedLength: 400_000 });
    expect(await rejection(get({ patienceMs: 300 }))).toBeInstanceOf(UserError);
    expect(server.seen.map(({ range }) => range)).toEqual([
      undefined,
      'bytes=300000-',
      undefined,
      'bytes=300000-',
    ]);
    expect(await draft.size()).toBe(0);
  });

  test('takes no part that it has not asked for', async () => {
    serve({ pauseMs: 5 });
    await getSome(100_000);
    serve({ claimedOffset: 7 });
    const { sha256 } = await get();
    expect(sha256).toBe(sha256Of(body));
  });

  test('follows to another host, where the token does not go, and believes the first about the hash', async () => {
    const elsewhere = await startModelServer();
    const told: Announced[] = [];
    try {
      elsewhere.files.set('/bytes', { body, etag: `"${'b'.repeat(64)}"`, linkedEtag: 'c'.repeat(64) });
      serve({
        location: `${elsewhere.url}/bytes`,
        linkedEtag: `"${sha256Of(body)}"`,
        linkedSize: body.length,
      });
      const onAnnounced = (announced: Announced) => Promise.resolve(void told.push(announced));
      await get({ onAnnounced }, { ...remote(), token: 'secret' });
      expect(server.seen).toMatchObject([{ authorization: 'Bearer secret' }]);
      expect(elsewhere.seen).toMatchObject([{ authorization: undefined }]);
      expect(told).toMatchObject([{ sha256: sha256Of(body), version: sha256Of(body) }]);
    } finally {
      elsewhere.close();
    }
  });
});

test('no other host sends to an address of this machine', () => {
  const from = new URL('https://models.example/one.gguf');
  for (const to of [
    'http://127.0.0.1:6379/',
    'https://localhost/x.gguf',
    'http://[::1]:8000/',
    '//127.1.2.3/x',
  ])
    expect(() => redirected(from, to)).toThrow('models.example sends to an address of this machine.');
  expect(redirected(from, 'https://files.example/x').href).toBe('https://files.example/x');
  expect(redirected(new URL('http://127.0.0.1:1/a'), 'http://127.0.0.1:2/b').port).toBe('2');
});
