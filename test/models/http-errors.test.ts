import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import express from 'express';
import { replyError } from '../../src/models/http/errors.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { createLogger } from '../../src/shared/observability/logger.js';

test('a state that finds no room on the disk is 503, and says when to ask again', async () => {
  const app = express();
  app.use((_request, response) => {
    const error = new UnavailableError('room on the disk (models)', { retryAfterSeconds: 30 });
    replyError(response, error, createLogger({ level: 'silent', process: 'test' }));
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // @NOTE a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${String(port)}/states`);
  server.close();
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('30');
  expect(response.headers.get('x-should-retry')).toBe('true');
  expect(await response.json()).toEqual({
    error: {
      message: 'room on the disk (models) is unavailable',
      type: 'server_error',
      param: null,
      code: 'unavailable',
    },
  });
});
