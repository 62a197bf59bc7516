import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import jsonwebtoken from 'jsonwebtoken';
import { TEST_SECRET, type WireDocument } from '../support/client.js';
import { openRaw } from '../support/raw-http.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const PREVIOUS_SECRET = GUARDED.JWT_SECRET_KEY_PREVIOUS;
const PASSWORD = GUARDED.LOCAL_URI_PASSWORD;
const REFUSED = { detail: 'Invalid authentication credentials' };

const refusal = z.object({
  detail: z.string().optional(),
  message: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
  error_msg: z.string().optional(),
});
/** The words of an error, in whatever form the protocol of its path tells it. */
function toldIn(text: string): string | undefined {
  const { detail, message, error, error_msg: words } = refusal.parse(JSON.parse(text));
  return detail ?? message ?? error?.message ?? words;
}

const service = useService({ env: GUARDED });
let operations: Operation[];

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly isOpen: boolean;
}

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly security?: readonly object[] }>>;
}

beforeAll(async () => {
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: path
        .replace(/\{document_id\}/, '00000000-0000-4000-8000-000000000000')
        .replace(/\{\w+\}/, 'name'),
      isOpen: security?.length === 0 || security?.some((way) => !('bearer' in way)) === true,
    })),
  );
});

async function ask({ method, path }: Pick<Operation, 'method' | 'path'>, token?: string) {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const body = method === 'GET' ? {} : { body: '{' };
  const response = await fetch(`${service.url}${path}`, { method, headers, ...body });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const sign = (claims: object, secret = TEST_SECRET) => jsonwebtoken.sign(claims, secret, { expiresIn: '1h' });

describe('outside dev mode', () => {
  test('every operation but the open ones asks for a token before it looks at anything else', async () => {
    const open = operations.filter(({ isOpen }) => isOpen).map(({ path }) => path);
    expect(open.sort()).toEqual([
      '/downloads/00000000-0000-4000-8000-000000000000',
      '/health',
      '/health/ready',
      '/health/serving',
      '/local/generate_uri',
    ]);
    const closed = operations.filter(({ isOpen }) => !isOpen);
    expect(closed.length).toBeGreaterThan(20);
    const none = jsonwebtoken.sign({ entity_id: 'alice' }, TEST_SECRET, {
      algorithm: 'HS512',
      expiresIn: '1h',
    });
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"entity_id":"alice","exp":9999999999}').toString('base64url')}.`;
    for (const operation of closed) {
      for (const token of [undefined, 'nonsense', none, unsigned]) {
        const { status, headers, text } = await ask(operation, token);
        expect({ ...operation, status, told: toldIn(text) }).toEqual({
          ...operation,
          status: 401,
          told: operation.path.startsWith('/dify') ? expect.any(String) : REFUSED.detail,
        });
        expect(headers.get('www-authenticate')).toBe('Bearer');
      }
    }
  });

  test('reads need read, writes need write: with the other permission alone they are a 403', async () => {
    // Choices about documents that others share are a matter of readers.
    const asReader =
      /^\/(?:retrieve|query|sharing|v1|v2|dify|open-webui)|\/(?:query|leave|accept|lookup|facets)$/;
    const reads = operations.filter(
      ({ method, path, isOpen }) => !isOpen && (method === 'GET' || asReader.test(path)),
    );
    // A message of MCP says by itself which permission it needs.
    const writes = operations.filter((each) => !each.isOpen && !reads.includes(each) && each.path !== '/mcp');
    const denied = async (wanted: readonly Operation[], permissions: readonly string[]) => {
      for (const operation of wanted) {
        const { status, text } = await ask(operation, sign({ entity_id: 'alice', permissions }));
        expect({ ...operation, status, told: toldIn(text) }).toEqual({
          ...operation,
          status: 403,
          told: 'Insufficient permissions',
        });
      }
    };
    await denied(reads, ['write']);
    await denied(writes, ['read']);
    await denied([...reads, ...writes], []);
  });

  test('an endless body of a stranger is answered after its headers', async () => {
    const { socket, until } = await openRaw(Number(new URL(service.url).port));
    socket.write(
      'POST /ingest/file HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    await until(/^HTTP\/1.1 401 [^]*Invalid authentication credentials/);
    socket.destroy();
  });

  test('metrics and the admin pages know admins only, and the scrape token opens metrics alone', async () => {
    const statuses = async (token?: string) => {
      const paths = ['/metrics', '/admin/queues/', '/admin/documents/00000000-0000-4000-8000-000000000000'];
      return Promise.all(paths.map(async (path) => (await ask({ method: 'GET', path }, token)).status));
    };
    expect((await statuses())[0]).toBe(401);
    expect((await statuses(GUARDED.QUIRE_METRICS_TOKEN)).map((status) => status === 200)).toEqual([
      true,
      false,
      false,
    ]);
    expect(await statuses(sign({ entity_id: 'bob', permissions: ['read', 'write'] }))).toEqual([
      403, 403, 403,
    ]);
    expect(await statuses(sign({ entity_id: 'bob', permissions: ['admin'] }))).toEqual([200, 200, 404]);
  });
});

describe('a token', () => {
  const listWith = async (token: string) => (await ask({ method: 'GET', path: '/documents' }, token)).status;

  test('made by `quire token` opens the service, which need not be asked for it', async () => {
    const env = { PATH: process.env['PATH'], JWT_SECRET_KEY: TEST_SECRET, QUIRE_CONFIG: '/dev/null' };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['dist/cli/main.js', 'token', '--name', 'Carol', '--days', '1', '--permissions', 'read'],
      { env },
    );
    expect(stdout.split('\n')).toHaveLength(2);
    expect(await listWith(stdout.trim())).toBe(200);
    expect((await ask({ method: 'POST', path: '/ingest/text' }, stdout.trim())).status).toBe(403);
  });

  test('is the part between : and @ of the URI that /local/generate_uri gives for the password', async () => {
    const generate = (fields: Record<string, string>) =>
      fetch(`${service.url}/local/generate_uri`, { method: 'POST', body: new URLSearchParams(fields) });
    for (const fields of [{ name: 'dora' }, { name: 'dora', password_token: 'wrong' }]) {
      const refused = await generate(fields);
      expect([refused.status, await refused.json()]).toEqual([401, REFUSED]);
    }
    const { uri } = (await (await generate({ name: 'Dora Day', password_token: PASSWORD })).json()) as {
      uri: string;
    };
    const [, name, token = '', place] = /^databridge:\/\/([^:]+):([^@]+)@(.+)$/.exec(uri) ?? [];
    expect([name, place]).toEqual(['dora_day', new URL(service.url).host]);
    expect(jsonwebtoken.verify(token, TEST_SECRET)).toMatchObject({
      entity_id: 'dora_day',
      permissions: ['read', 'write', 'admin'],
    });
    expect(await listWith(token)).toBe(200);
  });

  test('signed with the previous secret is good while the secret is being changed, an expired one never', async () => {
    expect(await listWith(sign({ entity_id: 'erin' }, PREVIOUS_SECRET))).toBe(200);
    expect(await listWith(sign({ sub: 'erin' }))).toBe(200);
    expect(await listWith(sign({ entity_id: 'erin' }, `${TEST_SECRET}.`))).toBe(401);
    const past = Math.floor(Date.now() / 1_000) - 10;
    expect(await listWith(jsonwebtoken.sign({ entity_id: 'erin', exp: past }, TEST_SECRET))).toBe(401);
    expect(await listWith(jsonwebtoken.sign({ entity_id: 'erin' }, TEST_SECRET))).toBe(401);
  });
});

test('who owns nothing here gets 404 for what is not there and 403 for what is, the admin of the service too', async () => {
  const owner = service.client('frida');
  const { body } = await owner.ingestText('A private note.');
  for (const permissions of [['read', 'write'], ['admin']]) {
    const stranger = service.client('gus', permissions);
    const path = `/documents/${body.external_id}`;
    const asked = [
      await stranger.get(path),
      await stranger.get(`${path}/status`),
      await stranger.get(`${path}/chunks`),
      await stranger.get(`${path}/download`),
      await stranger.patch(path, { metadata: {} }),
      await stranger.put(`${path}/content`, { content: 'Mine.' }),
      await stranger.post(`${path}/retry`),
      await stranger.post(`${path}/cancel`),
      await stranger.delete(path),
    ];
    const refused = { status: 403, body: { detail: 'Insufficient permissions' } };
    expect(asked).toMatchObject(asked.map(() => refused));
    expect((await stranger.get<WireDocument[]>('/documents')).body).toEqual([]);
    expect((await stranger.searchChunks('private note')).body).toEqual([]);
    expect((await stranger.get(path.replace(/.{4}$/, '0000'))).status).toBe(404);
  }
  expect((await owner.get<WireDocument>(`/documents/${body.external_id}`)).body).toEqual(body);
});
