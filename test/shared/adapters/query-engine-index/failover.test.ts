import { afterEach, expect, test } from '@jest/globals';
import { askUntilReady, expectOnly } from '../../../support/ask-until-ready.js';
import { fillIndex } from '../../../support/fill-index.js';
import {
  chunkCount,
  createQueryEngineBench,
  documentCount,
  isReady,
} from '../../../support/query-engine-bench.js';
import { describeWithQueryEngine } from '../../../support/query-engine.js';
import { startRedisProxy } from '../../../support/redis-proxy.js';
import { until } from '../../../support/until.js';

describeWithQueryEngine('a Query Engine behind one address that fails over', (engine) => {
  const { start, connect, open, dataOf, closeAll } = createQueryEngineBench(engine);
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await closeAll();
  });

  const MANY = { documents: 1_000, chunksEach: 10, dimensions: 4 };
  const WHOLE = { chunks: 10_000, documents: 1_000 };

  /** A server, its replica, and the address that leads to the former at first. */
  const startPair = async () => {
    const first = await start({ server: ['--repl-diskless-sync-delay', '0'] });
    const second = await start({ server: ['--replicaof', '127.0.0.1', String(first.port)] });
    const replica = await connect(second);
    await until(async () => (await replica.info('replication')).includes('master_link_status:up'));
    const proxy = await startRedisProxy(first.port);
    closing.push(() => proxy.close());
    return { first, second, proxy, address: { ...first, url: proxy.url } };
  };

  test('answers nothing or the whole while a replica takes over, and finds what comes in then', async () => {
    const { first, second, proxy, address } = await startPair();
    const { index, problems } = await open(address);
    await until(isReady(index));
    await fillIndex(proxy.url, MANY);
    expect(await (await connect(first)).wait(1, 10_000)).toBe(1);
    expect(await chunkCount(index)).toBe(WHOLE.chunks);

    await first.crash();
    await until(async () => (await index.state()) === 'loading');
    await (await connect(second)).sendCommand(['REPLICAOF', 'NO', 'ONE']);
    proxy.moveTo(second.port);
    const answers = await askUntilReady(index);
    expectOnly(answers, WHOLE);
    expect([await chunkCount(index), await documentCount(index)]).toEqual([WHOLE.chunks, WHOLE.documents]);

    const data = await dataOf(second);
    await data.publish(await data.create(), [[1, 0, 0, 0]]);
    expect(await chunkCount(index)).toBe(WHOLE.chunks + 1);
    expect(problems).toEqual([]);
  });

  test('builds the index from the hashes where the replica has none', async () => {
    const { first, second, proxy, address } = await startPair();
    const { index } = await open(address);
    await until(isReady(index));
    await fillIndex(proxy.url, MANY);
    expect(await (await connect(first)).wait(1, 10_000)).toBe(1);
    const replica = await connect(second);
    await replica.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    for (const name of await replica.ft._list()) await replica.ft.dropIndex(name);
    proxy.moveTo(second.port);
    const answers = await askUntilReady(index);
    expectOnly(answers, WHOLE);
    expect(answers.refusals).toBeGreaterThan(0);
    expect(await chunkCount(index)).toBe(WHOLE.chunks);
  });
});
