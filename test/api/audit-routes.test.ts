import { EventEmitter } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditAnswer, auditAction, createAuditTrail } from '../../src/api/http/audit/audit-trail.js';
import { COLLECTION_ID } from '../../src/api/routes/examples/collections.js';
import type { ApiReply } from '../../src/api/http/response/reply.js';
import { createAuditLog, type AuditLog } from '../../src/shared/audit/audit-log.js';
import { AUDIT_ACTIONS } from '../../src/shared/audit/entry.js';
import { currentNotes } from '../../src/shared/audit/notes.js';
import { allRoutes } from '../support/all-routes.js';
import { makeToken, startApi, type ApiClient } from '../support/api.js';

const routes = allRoutes();
const named = routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const);
const ID = '01234567-89ab-4cde-8f01-23456789abcd';
const SECRET_NAME = 'secret-name';

let folder: string;
let log: AuditLog;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-audit-'));
  log = createAuditLog({ folder, process: 'api', keepDays: 1, logger: console });
  api = await startApi({ routes, audit: { log, isRequired: false } });
});

afterAll(async () => {
  await api.close();
  await log.close();
  await rm(folder, { recursive: true });
});

async function text(): Promise<string> {
  await log.flush();
  const [name = ''] = await readdir(folder);
  return readFile(join(folder, name), 'utf8');
}
async function linesOf(request: string): Promise<Record<string, unknown>[]> {
  const lines = (await text()).trimEnd().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['request'] === request);
}

const VALUES: Readonly<Record<string, string>> = {
  document_id: ID,
  collection_id: COLLECTION_ID,
  page: '1',
  name: SECRET_NAME,
  owner: 'bob',
};
const pathOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? 'x');

describe('every route', () => {
  test.each(named)('%s leaves exactly its line where its caller is not known', async (name, route) => {
    if (route.audit === null) return;
    const request = name.replaceAll(/\W/g, '-');
    const headers = { 'X-Request-Id': request };
    const { status } = await api.request(pathOf(route.path), { method: route.method.toUpperCase(), headers });
    expect([401, 403]).toContain(status);
    const lines = await linesOf(request);
    expect(lines).toEqual([
      expect.objectContaining({
        type: 'request',
        action: route.audit,
        status,
        client: '127.0.0.1',
        complete: true,
      }),
    ]);
    expect(lines[0]).not.toHaveProperty('caller');
    if (route.path.includes('{document_id}')) expect(lines[0]).toMatchObject({ documents: [ID] });
    if (route.path.includes('{name}')) expect(lines[0]).toHaveProperty('cache');
    if (route.path.includes('{collection_id}')) expect(lines[0]).toMatchObject({ collection: COLLECTION_ID });
  });

  test('is in the log but for the probes, in which there is nothing of anybody, and a protocol', () => {
    const quiet = named.filter(([, { audit }]) => audit === null).map(([name]) => name);
    // The messages of MCP name their actions themselves (test/e2e/mcp.test.ts).
    expect(quiet).toEqual(['GET /health', 'GET /health/ready', 'GET /health/serving', 'POST /mcp']);
  });

  test.each(named)('%s: whatever its answer names as a document is noted', (_, { audit, examples }) => {
    // Operations of the past are told of, not documents.
    if (audit === 'usage.read') return;
    for (const [status, body] of Object.entries(examples?.responses ?? {})) {
      if (Number(status) >= 300) continue;
      expect(notedOf({ type: 'json', status: Number(status), body })).toEqual(idsIn(body));
    }
    for (const event of examples?.events ?? [])
      expect(notedOf({ type: 'json', status: 200, body: event })).toEqual(idsIn(event));
  });

  test('that names documents of attachments has them noted, too', () => {
    const others = ['a', 'b'].map((letter) => ID.replace('0', letter));
    const [attachment, former] = others;
    const body = { document_id: ID, attachments: [{ document_id: attachment }, { document_id: null }] };
    const answer = { ...body, former_attachments: [former] };
    expect(notedOf({ type: 'json', status: 200, body: answer })).toEqual(new Set([ID, ...others]));
  });

  test('of which an answer names very many documents lists a thousand of them', () => {
    const id = (number: number) => ID.slice(0, -4) + String(number).padStart(4, '0');
    const body = Array.from({ length: 1_003 }, (_, number) => ({ document_id: id(number) }));
    expect(notedOf({ type: 'json', status: 200, body }).size).toBe(1_000);
  });
});

/** The documents that the log notes of an answer. */
function notedOf(reply: ApiReply): Set<string> {
  const request = { ip: '127.0.0.1' } as never;
  const response = { get: () => 'id', once: () => undefined } as never;
  let noted = new Set<string>();
  createAuditTrail({ log, isRequired: false })(request, response, () => {
    auditAnswer(request, reply);
    noted = currentNotes()?.documents ?? noted;
  });
  return noted;
}

/** All values of an answer that have the form of the id of a document, wherever they stand, but for that of a collection. */
function idsIn(value: unknown): Set<string> {
  if (typeof value === 'string')
    return new Set(
      value !== COLLECTION_ID && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value) ? [value] : [],
    );
  if (typeof value !== 'object' || value === null) return new Set();
  return new Set(Object.values(value).flatMap((each) => [...idsIn(each)]));
}

describe('the line of a request', () => {
  test('that lacks a permission names its caller and its token', async () => {
    const token = makeToken({ permissions: ['read'], jti: 'token-7' } as never);
    const headers = { 'X-Request-Id': 'forbidden' };
    await api.request(`/documents/${ID}`, { method: 'DELETE', token, headers });
    expect(await linesOf('forbidden')).toEqual([
      expect.objectContaining({
        action: 'document.delete',
        status: 403,
        caller: 'alice',
        token: 'token-7',
        documents: [ID],
      }),
    ]);
  });

  test('whose client left before its answer began has status 499, and no other', () => {
    const statuses = [true, false].map((headersSent) => {
      const response = Object.assign(new EventEmitter(), { get: () => 'id', statusCode: 200, headersSent });
      const written: unknown[] = [];
      const noting = { ...log, write: (entry: unknown) => void written.push(entry) };
      const request = { ip: '127.0.0.1' } as never;
      createAuditTrail({ log: noting, isRequired: false })(request, response as never, () => {
        auditAction(request, 'document.read');
      });
      response.emit('close');
      return written;
    });
    expect(statuses).toEqual([
      [expect.objectContaining({ status: 200 })],
      [expect.objectContaining({ status: 499 })],
    ]);
  });

  test('holds nothing of a path that is no id, and no name of a cache', async () => {
    await api.request('/documents/the-secret-plan', { headers: { 'X-Request-Id': 'no-id' } });
    expect(await linesOf('no-id')).toHaveLength(1);
    expect(await text()).not.toContain('secret');
  });

  test('is of the closed list of actions', () => {
    for (const [, { audit }] of named) if (audit !== null) expect(AUDIT_ACTIONS).toContain(audit);
  });
});

describe('where the log is required and cannot be written', () => {
  test('requests are refused with 503 before anything is done, and probes are answered', async () => {
    let isFailing = true;
    const failing = { ...log, isFailing: () => isFailing };
    const strict = await startApi({ routes, audit: { log: failing, isRequired: true } });
    try {
      const token = makeToken();
      const refused = await strict.request('/documents', { token });
      expect(refused.status).toBe(503);
      expect(refused.headers.get('Retry-After')).not.toBeNull();
      expect((await strict.request('/health')).status).toBe(200);
      isFailing = false;
      expect((await strict.request('/documents')).status).toBe(401);
    } finally {
      await strict.close();
    }
  });
});
