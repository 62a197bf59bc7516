import { expect, test } from '@jest/globals';
import { declareScript, evenWhenFull } from '../../../src/shared/redis/script.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });

const everything = declareScript({
  keys: { first: 'key', some: 'keys', others: 'keys', last: 'key' },
  args: { text: 'text', number: 'number', list: 'list', rows: 'rows', rest: 'list' },
});
const echo = everything.lua<unknown[]>(`
local found = {}
repeat
  local row = {rows()}
  found[#found + 1] = row
until #row == 0
return {first, last, some, others, text, number + 1, list, found, rest}
`);

test('a script finds by name what it was given, whatever the lengths of lists', async () => {
  const nothing: { some: string[]; others: string[]; list: string[]; rows: string[][]; rest: string[] } = {
    some: [],
    others: [],
    list: [],
    rows: [],
    rest: [],
  };
  const run = (lists: Partial<typeof nothing>) => {
    const { some, others, ...args } = { ...nothing, ...lists };
    return echo.run(redis, {
      keys: { first: 'f', last: 'l', some, others },
      args: { text: 't', number: 41, ...args },
    });
  };
  const all = { some: ['a', 'b'], others: ['c'], list: ['x'], rows: [['1', '2'], ['3']], rest: ['y', 'z'] };
  const rows = [['1', '2'], ['3'], []];
  expect(await run(all)).toEqual(['f', 'l', ['a', 'b'], ['c'], 't', 42, ['x'], rows, ['y', 'z']]);
  expect(await run({})).toEqual(['f', 'l', [], [], 't', 42, [], [[]], []]);
  const some = await run({ others: ['c'], list: ['x', 'y'], rest: ['z'] });
  expect(some).toEqual(['f', 'l', [], ['c'], 't', 42, ['x', 'y'], [[]], ['z']]);
});

test('an argument that may be missing is an empty text in the script', async () => {
  const tell = declareScript({ keys: {}, args: { one: 'optional', other: 'optional', last: 'text' } }).lua<
    string[]
  >('return {one, other, last}');
  expect(await tell.run(redis, { keys: {}, args: { one: null, other: 7, last: 'l' } })).toEqual([
    '',
    '7',
    'l',
  ]);
});

test('bytes arrive as they are, alone and in lists and rows', async () => {
  const bytes = Buffer.from([0, 255, 10, 13, 128, 0]);
  const write = declareScript({
    keys: { hash: 'key' },
    args: { value: 'text', list: 'list', rows: 'rows' },
  }).lua<number>(`
redis.call('HSET', hash, 'value', value, 'list', list[2], rows())
return redis.call('HSET', hash, rows())`);
  await write.run(redis, {
    keys: { hash: 'bytes' },
    args: {
      value: bytes,
      list: ['', bytes],
      rows: [
        ['row', bytes],
        ['second', bytes],
      ],
    },
  });
  for (const field of ['value', 'list', 'row', 'second'])
    expect(await redis.sendCommand(['HSTRLEN', 'bytes', field])).toBe(bytes.length);
  const same = declareScript({ keys: { hash: 'key' }, args: { value: 'text' } }).lua<number>(`
local same = 0
for _, each in ipairs(redis.call('HVALS', hash)) do if each == value then same = same + 1 end end
return same`);
  expect(await same.run(redis, { keys: { hash: 'bytes' }, args: { value: bytes } })).toBe(4);
});

test('a list may be longer than what Lua can unpack', async () => {
  const count = declareScript({ keys: { keys: 'keys' }, args: { list: 'list' } }).lua<number[]>(
    'return {#keys, #list}',
  );
  const many = Array.from({ length: 20_000 }, (_, i) => String(i));
  expect(await count.run(redis, { keys: { keys: many }, args: { list: many } })).toEqual([20_000, 20_000]);
});

test('a missing or an unknown name is an error of types, and at runtime', () => {
  const script = declareScript({ keys: { one: 'key' }, args: { value: 'text' } }).lua<null>('return nil');
  // @ts-expect-error a key is missing
  expect(() => script.pack({ keys: {}, args: { value: '1' } })).toThrow('a script needs one');
  // @ts-expect-error an argument is missing
  expect(() => script.pack({ keys: { one: 'a' }, args: {} })).toThrow('a script needs value');
  const more = { value: '1', other: '2' };
  expect(() => script.pack({ keys: { one: 'a' }, args: more })).toThrow('value, other');
  // @ts-expect-error the name is unknown
  expect(() => script.pack({ keys: { one: 'a' }, args: { value: '1', other: '2' } })).toThrow('value, other');
  // @ts-expect-error a list is no key
  expect(script.pack({ keys: { one: ['a'] }, args: { value: '1' } }).keys).toEqual(['a']);
});

test('names that Lua or the header have, and places, are refused', () => {
  const named = (name: string) => () => declareScript({ keys: { [name]: 'key' }, args: {} });
  for (const name of ['end', 'redis', 'listOf', 'two words', '1st', '']) expect(named(name)).toThrow('name');
  expect(() => declareScript({ keys: { same: 'key' }, args: { same: 'text' } })).toThrow('twice');
  expect(() => declareScript({ keys: {}, args: {} }).lua('return KEYS[1]')).toThrow('by name');
});

test('a script can be a function of another, which does the same several times', async () => {
  const add = declareScript({ keys: { counter: 'key' }, args: { by: 'number', more: 'list' } }).lua<number>(
    `return redis.call('INCRBY', counter, by + #more)`,
  );
  const addAll = declareScript({ keys: { counters: 'keys' }, args: { calls: 'rows' } }).lua<number[]>(`
${add.asFunction('add')}
local done = {}
for i, counter in ipairs(counters) do done[i] = add({counter}, {calls()}) end
return done`);
  const calls = [
    add.pack({ keys: { counter: 'n1' }, args: { by: 1, more: [] } }),
    add.pack({ keys: { counter: 'n2' }, args: { by: 2, more: ['', ''] } }),
  ];
  const done = await addAll.run(redis, {
    keys: { counters: calls.flatMap(({ keys }) => keys) },
    args: { calls: calls.map((call) => call.arguments) },
  });
  expect(done).toEqual([1, 4]);
});

test('what lets a script go on when Redis is full changes nothing, whether the key is there or not', async () => {
  await redis.set('t:string', '1', { EX: 100 });
  await redis.hSet('t:hash', 'a', '1');
  await redis.sAdd('t:set', ['a', '']);
  await redis.zAdd('t:sortedSet', { value: '', score: 1 });
  const types = ['string', 'hash', 'set', 'sortedSet'] as const;
  const dump = () => Promise.all(types.map((type) => redis.sendCommand(['DUMP', `t:${type}`])));
  const before = await dump();
  const changes = async () => /rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))?.[1];
  const noted = await changes();
  for (const type of types) {
    const script = declareScript({ keys: { one: 'key' }, args: {} }).lua<null>(
      `${evenWhenFull(type, 'one')} return nil`,
    );
    for (const key of [`t:${type}`, 't:missing']) await script.run(redis, { keys: { one: key }, args: {} });
  }
  expect(await dump()).toEqual(before);
  expect(await changes()).toBe(noted);
  expect(await redis.ttl('t:string')).toBeGreaterThan(90);
  expect(await redis.exists('t:missing')).toBe(0);
});

const counting = declareScript({ keys: { count: 'key' }, args: { by: 'text' } }).frequentLua<number>(`
-- counts
return redis.call('INCRBY', count, by)
`);
const count = (by: string) => counting.run(redis, { keys: { count: 'count' }, args: { by } });

test('a frequent script runs once, on a server that knows it, does not yet, or has forgotten it', async () => {
  await redis.scriptFlush();
  expect(await count('1')).toBe(1);
  expect(await count('2')).toBe(3);
  await redis.scriptFlush();
  expect(await Promise.all([count('3'), count('4')])).toHaveLength(2);
  expect(await redis.get('count')).toBe('10');
});

test('its own errors are passed on, and it does not run again', async () => {
  await redis.set('count', '1');
  await expect(count('x')).rejects.toThrow('not an integer');
  expect(await redis.get('count')).toBe('1');
});
