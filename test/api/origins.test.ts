import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sourceOfBaseUrl } from '../../src/api/http/origins.js';
import { startApi, type ApiClient } from '../support/api.js';
import { createTestRoutes } from '../support/test-routes.js';

describe('pages of other origins', () => {
  let api: ApiClient;
  beforeAll(async () => {
    api = await startApi({ routes: createTestRoutes(), corsOrigins: ['https://app.example.com'] });
  });
  afterAll(() => api.close());

  const preflight = (origin: string) =>
    api.request('/things/a', {
      method: 'OPTIONS',
      headers: { origin, 'Access-Control-Request-Method': 'POST' },
    });

  test('are let in when their origin is configured', async () => {
    const origin = 'https://app.example.com';
    const answer = await api.request('/things/a', { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    const asked = await preflight(origin);
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(asked.headers.get('access-control-allow-methods')).toContain('PATCH');
  });

  test.each([
    'https://evil.example.com',
    'http://localhost:3000',
    'null',
    'https://app.example.com.evil.com',
  ])('are not when it is %s', async (origin) => {
    const answer = await api.request('/things/a', { headers: { origin } });
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    expect((await preflight(origin)).headers.has('access-control-allow-origin')).toBe(false);
    expect(answer.headers.get('vary')).toContain('Origin');
  });
});

/** fetch does not let the Host header be set. */
function askAs(port: number, host: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', path: '/things/a', method, headers: { host, ...headers } },
      (response) => {
        let body = '';
        response.on('data', (part: Buffer) => (body += part.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body });
        });
      },
    );
    request.on('error', reject).end();
  });
}

describe('the address of the service', () => {
  test('is the one that the request was sent to', async () => {
    const api = await startApi({ routes: createTestRoutes() });
    expect(JSON.parse((await askAs(api.port, 'docs.example.com:81')).body)).toMatchObject({
      baseUrl: 'http://docs.example.com:81',
    });
    const forwarded = { 'X-Forwarded-Host': 'evil.example.com', 'X-Forwarded-Proto': 'https' };
    expect(JSON.parse((await askAs(api.port, 'a.example.com', forwarded)).body)).toMatchObject({
      baseUrl: 'http://a.example.com',
    });
    expect(await askAs(api.port, 'a"b')).toMatchObject({
      status: 400,
      body: '{"detail":"Invalid Host header"}',
    });
    await api.close();
  });

  test('is what a trusted proxy says', async () => {
    const api = await startApi({ routes: createTestRoutes(), trustProxy: 1 });
    const forwarded = { 'X-Forwarded-Host': 'docs.example.com', 'X-Forwarded-Proto': 'https' };
    expect(JSON.parse((await askAs(api.port, 'inner:8000', forwarded)).body)).toMatchObject({
      baseUrl: 'https://docs.example.com',
    });
    await api.close();
  });

  test('is the public one, when there is one, whatever a trusted proxy says', async () => {
    const publicUrl = 'https://example.com/quire/';
    const api = await startApi({ routes: createTestRoutes(), publicUrl, trustProxy: 1 });
    const forwarded = { 'X-Forwarded-Host': 'docs.example.com', 'X-Forwarded-Proto': 'https' };
    expect(JSON.parse((await askAs(api.port, 'inner:8000', forwarded)).body)).toMatchObject({
      baseUrl: 'https://example.com/quire',
    });
    await api.close();
  });
});

test.each([
  [{ publicUrl: 'https://example.com', trustProxy: '1' }, 'api.public_url'],
  [{ publicUrl: '', trustProxy: '0' }, 'Host'],
  [
    { publicUrl: '', trustProxy: '10.0.0.0/8' },
    'X-Forwarded-Host and X-Forwarded-Proto of trusted proxies, else Host',
  ],
])('the log says where the address of the service comes from (%j)', (settings, source) => {
  expect(sourceOfBaseUrl(settings)).toBe(source);
});

describe('dev mode', () => {
  test('refuses a foreign Host, and only that', async () => {
    const api = await startApi({ routes: createTestRoutes(), devMode: true });
    for (const host of [
      'localhost',
      `127.0.0.1:${String(api.port)}`,
      '[::1]:8000',
      'LOCALHOST:1',
      'app.localhost',
    ]) {
      expect(await askAs(api.port, host)).toMatchObject({ status: 200 });
    }
    for (const host of [
      'evil.example.com',
      'localhost.evil.com',
      '127.0.0.1.evil.com',
      '10.0.0.1',
      '169.254.1.1:8000',
    ]) {
      expect(await askAs(api.port, host)).toMatchObject({ status: 403 });
    }
    await api.close();
  });

  test('on other than loopback addresses takes addresses and local names as Host', async () => {
    const api = await startApi({
      routes: createTestRoutes(),
      devMode: true,
      allowRemoteDevMode: true,
      hostNames: ['quire.lan'],
    });
    for (const host of ['10.0.0.1:8000', '[fe80::1]', 'api:8000', 'quire.lan']) {
      expect(await askAs(api.port, host)).toMatchObject({ status: 200 });
    }
    expect(await askAs(api.port, 'evil.example.com')).toMatchObject({ status: 403 });
    await api.close();
  });

  test('lets in pages of loopback origins, and takes no writes from pages of others', async () => {
    const api = await startApi({ routes: createTestRoutes(), devMode: true });
    const origin = 'http://localhost:3000';
    const answer = await api.request('/things/a', { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    const evil = { origin: 'https://evil.example.com' };
    expect(await askAs(api.port, 'localhost', evil, 'POST')).toMatchObject({ status: 403 });
    expect(await askAs(api.port, 'localhost', evil)).toMatchObject({ status: 200 });
    await api.close();
  });

  test('takes writes from its own pages, under whatever name it is asked', async () => {
    const routes = createTestRoutes();
    const api = await startApi({ routes, devMode: true, allowRemoteDevMode: true });
    const own = { origin: 'http://10.0.0.1:8000' };
    expect(await askAs(api.port, '10.0.0.1:8000', own, 'POST')).toMatchObject({ status: 422 });
    expect(await askAs(api.port, '10.0.0.2:8000', own, 'POST')).toMatchObject({ status: 403 });
    await api.close();
  });
});
