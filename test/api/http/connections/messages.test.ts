import { once } from 'node:events';
import { createServer, request as ask, type RequestListener } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import express, { type Express } from 'express';
import { createMessages } from '../../../../src/api/http/connections/server.js';

let close: () => void = () => undefined;
afterEach(() => {
  close();
});

async function answerOf(messages: ReturnType<typeof createMessages>, listener: RequestListener) {
  const { IncomingMessage, ServerResponse } = messages;
  const server = createServer({ IncomingMessage, ServerResponse }, listener);
  close = () => server.close();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const sent = ask({ port, agent: false, headers: { 'X-Forwarded-For': '10.1.2.3' } }).end();
  // @NOTE the types of `once` do not know the events of node:http
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString()) as unknown;
}

const tell = (app: Express) =>
  app.get('/', (request, response) => {
    response
      .set('X-Test', 'yes')
      .json({ ip: request.ip, isOwn: request.app === app && response.app === app });
  });

test('Express leaves the prototype of a request and its response as it is, and its methods work', async () => {
  const messages = createMessages();
  const app = express().set('trust proxy', 1);
  messages.serve(app);
  tell(app);
  const prototypes: unknown[] = [];
  const prototypesOf = (...objects: object[]) => {
    prototypes.push(objects.map((each): unknown => Object.getPrototypeOf(each)));
  };
  const answer = await answerOf(messages, (request, response) => {
    prototypesOf(request, response);
    app(request, response);
    prototypesOf(request, response);
  });
  expect(answer).toEqual({ ip: '10.1.2.3', isOwn: true });
  expect(prototypes).toHaveLength(2);
  expect(prototypes[1]).toEqual(prototypes[0]);
  const [before, after] = prototypes as [object[], object[]];
  expect(after.every((each, i) => each === before[i])).toBe(true);
});

test('another application answers them with its own settings, also when it is mounted in the first', async () => {
  const messages = createMessages();
  messages.serve(express());
  expect(await answerOf(messages, tell(express()))).toMatchObject({ isOwn: true });
  close();

  const app = express().set('trust proxy', 1);
  const others = createMessages();
  others.serve(app);
  app.use(express().get('/elsewhere', (_request, response) => response.end()));
  tell(app);
  expect(await answerOf(others, app)).toEqual({ ip: '10.1.2.3', isOwn: true });
});
