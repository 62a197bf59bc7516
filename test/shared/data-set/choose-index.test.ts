import { afterEach, expect, test } from '@jest/globals';
import { chooseIndex } from '../../../src/shared/data-set/choose-index.js';
import { IncompatibleDataError } from '../../../src/shared/errors.js';
import { createRedis } from '../../../src/shared/redis/client.js';
import { startQueryEngine, type QueryEngine } from '../../support/query-engine-server.js';
import { describeWithQueryEngine } from '../../support/query-engine.js';
import { startRedisProxy } from '../../support/redis-proxy.js';
import { rejection } from '../../support/rejection.js';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function connect(url: string) {
  const client = createRedis(url, { failFast: true, onError: () => undefined });
  await client.connect();
  closing.push(() => {
    client.destroy();
  });
  return client;
}

async function start(engine: QueryEngine, server: readonly string[] = []) {
  const redis = await startQueryEngine(engine, { server });
  closing.push(() => redis.stop());
  return redis;
}

describeWithQueryEngine('the choice of the index', (engine) => {
  test('takes the Query Engine where it is, unless the settings say otherwise', async () => {
    const client = await connect((await start(engine)).url);
    expect((await chooseIndex(client, 'auto')).name).toBe('query-engine');
    expect((await chooseIndex(client, 'query-engine')).name).toBe('query-engine');
    expect((await chooseIndex(client, 'exact')).name).toBe('exact');
  });

  /** The real server, except for some bytes of its requests or replies. */
  const connectThrough = async (from: RegExp, to: string) => {
    const proxy = await startRedisProxy((await start(engine)).port, (bytes) =>
      Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1'),
    );
    closing.push(() => proxy.close());
    return connect(proxy.url);
  };

  test('takes the exact index where the module knows only some of the commands, and names these', async () => {
    const client = await connectThrough(/FT\.CURSOR/, 'FT.ABSENT');
    const reason = 'the search module of this Redis has no FT.CURSOR';
    expect(await chooseIndex(client, 'auto')).toEqual({ name: 'exact', reason });
    const refused = await rejection(chooseIndex(client, 'query-engine'));
    expect(refused).toBeInstanceOf(IncompatibleDataError);
    expect(String(refused)).toContain(reason);
  });

  test('takes the exact index where the module is older than any that was tried', async () => {
    const client = await connectThrough(/(\bver\r\n:)\d{5}\r/, '$120811\r');
    expect(await chooseIndex(client, 'auto')).toEqual({
      name: 'exact',
      reason: 'the search module of this Redis is 2.8.11, older than 2.10.0',
    });
  });

  test('goes by what can be asked where the server forbids to tell about itself', async () => {
    const redis = await start(engine);
    const admin = await connect(redis.url);
    await admin.sendCommand([
      'ACL',
      'SETUSER',
      'managed',
      'on',
      '>secret',
      '~*',
      '&*',
      '+@all',
      '-command',
      '-module',
    ]);
    const client = await connect(redis.url.replace('//', '//managed:secret@'));
    expect((await chooseIndex(client, 'auto')).name).toBe('query-engine');
    await admin.sendCommand(['ACL', 'SETUSER', 'managed', '-ft._list']);
    expect((await chooseIndex(client, 'auto')).reason).toBe('this Redis has no Query Engine');
  });
});
