import { createHash } from 'node:crypto';
import { types } from 'node:util';
import type { Redis } from './client.js';

/*
 * Scripts with names. A script declares its keys and arguments; callers pass an object with these names, and the Lua finds
 * locals with them. Nobody counts places, and each key that a script is given is declared.
 *
 * | kind       | callers pass          | the local in Lua                                                            |
 * | ---------- | --------------------- | --------------------------------------------------------------------------- |
 * | `key`      | a key                 | a string                                                                    |
 * | `keys`     | a list of keys        | a table                                                                     |
 * | `text`     | text, bytes, a number | a string                                                                    |
 * | `optional` | the same, or null     | a string, empty for null                                                    |
 * | `number`   | a number              | a number                                                                    |
 * | `list`     | texts or bytes        | a table                                                                     |
 * | `rows`     | lists of these        | a function that returns the values of the next row; none after the last row |
 *
 * A script gets KEYS with the single keys and then the lists, and ARGV with the lengths of all lists of keys but the last,
 * the single arguments, and then the lists, each but the last with its length before it. A row has its length before it.
 */

type KeyKinds = Readonly<Record<string, 'key' | 'keys'>>;
type ArgumentKinds = Readonly<Record<string, 'text' | 'optional' | 'number' | 'list' | 'rows'>>;

/** A text or bytes, which Redis takes as they are. */
export type Value = string | Buffer;

interface KeyValues {
  readonly key: string;
  readonly keys: readonly string[];
}

interface ArgumentValues {
  readonly text: Value | number;
  readonly optional: Value | number | null;
  readonly number: number;
  readonly list: readonly Value[];
  readonly rows: readonly (readonly Value[])[];
}

interface Declaration<Keys extends KeyKinds, Args extends ArgumentKinds> {
  readonly keys: Keys;
  readonly args: Args;
}

interface NamedCall<Keys extends KeyKinds, Args extends ArgumentKinds> {
  readonly keys: { readonly [Name in keyof Keys]: KeyValues[Keys[Name]] };
  readonly args: { readonly [Name in keyof Args]: ArgumentValues[Args[Name]] };
}

/** The shape in which the client sends a script's keys and arguments. */
export interface ScriptCall {
  readonly keys: string[];
  readonly arguments: Value[];
}

interface Script<Keys extends KeyKinds, Args extends ArgumentKinds, Reply, Client> {
  readonly run: (redis: Client, call: NamedCall<Keys, Args>) => Promise<Reply>;
  /** Makes the keys and arguments that the client sends. @throws where a name is missing or unknown */
  readonly pack: (call: NamedCall<Keys, Args>) => ScriptCall;
  readonly source: string;
  /** Returns the source as a Lua function of two tables, KEYS and ARGV, for a script that does this several times. */
  readonly asFunction: (name: string) => string;
}

/** Sends a script's keys and arguments with its source, or its digest. */
type Send<Client> = (redis: Client, call: ScriptCall) => Promise<unknown>;

/** Declares the keys and arguments of scripts. */
export function declareScript<const Keys extends KeyKinds, const Args extends ArgumentKinds>(
  declaration: Declaration<Keys, Args>,
) {
  const layout = layoutOf(declaration);
  const define = <Reply, Client>(
    body: string,
    sending: (source: string) => Send<Client>,
  ): Script<Keys, Args, Reply, Client> => {
    const lua = withoutMargins(body);
    if (/\b(?:KEYS|ARGV)\b/.test(lua)) throw new Error('a script finds its keys and arguments by name');
    const source = `${headerOf(layout, 'KEYS', 'ARGV')}\n${lua}`;
    const pack = (call: NamedCall<Keys, Args>) => packCall(layout, call);
    const send = sending(source);
    return {
      source,
      pack,
      asFunction: (name) =>
        `local function ${name}(keysHere, argsHere)\n${headerOf(layout, 'keysHere', 'argsHere')}\n${lua}\nend\n`,
      run: async (redis, call) =>
        // @NOTE the reply's type is what the script returns; Redis does not tell
        (await send(redis, pack(call))) as Reply,
    };
  };
  return {
    lua: <Reply>(body: string) => define<Reply, Pick<Redis, 'eval'>>(body, sendWhole),
    frequentLua: <Reply>(body: string) => define<Reply, Pick<Redis, 'eval' | 'evalSha'>>(body, sendByDigest),
  };
}

/**
 * Sends a script whole each time. A script that is sent by its digest has to be sent again to a server that has forgotten it,
 * and then comes behind later commands. Sending it whole costs Redis some microseconds for its digest, and a connection one
 * or two kilobytes.
 */
const sendWhole =
  (source: string): Send<Pick<Redis, 'eval'>> =>
  (redis, call) =>
    redis.eval(source, call);

/**
 * Sends a script by its digest, and whole to a server that does not know it. It is for long scripts that run for each
 * document, where that saves Redis 14 microseconds and the process 12 (4.5 KB). On such a server it comes behind commands that
 * were sent after it, so no caller may send any before its reply that rely on it.
 */
function sendByDigest(source: string): Send<Pick<Redis, 'eval' | 'evalSha'>> {
  const digest = createHash('sha1').update(source).digest('hex');
  return async (redis, call) => {
    try {
      return await redis.evalSha(digest, call);
    } catch (error) {
      // Nothing of it has run then. The error may be one of another realm.
      if (types.isNativeError(error) && error.message.startsWith('NOSCRIPT')) return redis.eval(source, call);
      throw error;
    }
  };
}

/** The names of a script in the order in which they are sent. */
interface Layout {
  readonly keys: readonly string[];
  readonly keyLists: readonly string[];
  readonly args: readonly { readonly name: string; readonly isNumber: boolean }[];
  readonly argLists: readonly { readonly name: string; readonly hasRows: boolean }[];
}

function layoutOf({ keys, args }: Declaration<KeyKinds, ArgumentKinds>): Layout {
  const names = [...Object.keys(keys), ...Object.keys(args)];
  for (const [i, name] of names.entries())
    if (!/^[a-z]\w*$/i.test(name) || TAKEN_NAMES.has(name) || names.indexOf(name) !== i)
      throw new Error(`a script cannot have ${name} as a name, or not twice`);
  const argKinds = Object.entries(args).map(([name, kind]) => ({ name, kind }));
  return {
    keys: Object.keys(keys).filter((name) => keys[name] === 'key'),
    keyLists: Object.keys(keys).filter((name) => keys[name] === 'keys'),
    args: argKinds
      .filter(({ kind }) => kind !== 'list' && kind !== 'rows')
      .map(({ name, kind }) => ({ name, isNumber: kind === 'number' })),
    argLists: argKinds
      .filter(({ kind }) => kind === 'list' || kind === 'rows')
      .map(({ name, kind }) => ({ name, hasRows: kind === 'rows' })),
  };
}

/** The words of Lua, and the names that the header and scripts use themselves. */
const TAKEN_NAMES = new Set(
  (
    'and break do else elseif end false for function if in local nil not or repeat return then true until while ' +
    'KEYS ARGV redis cjson string table math unpack listOf rowsOf place keysHere argsHere'
  ).split(' '),
);

const LIST_FUNCTION =
  'local function listOf(from,first,last)local list={}for i=first,last do list[i-first+1]=from[i]end return list end';
const ROWS_FUNCTION =
  'local function rowsOf(from,at,last)return function()if at>last then return end ' +
  'local first=at+1 at=first+from[at] return unpack(from,first,at-1)end end';

/** Returns the Lua that makes the locals. */
function headerOf({ keys, keyLists, args, argLists }: Layout, from: string, values: string): string {
  const lengths = Math.max(0, keyLists.length - 1);
  const hasList = keyLists.length > 0 || argLists.some(({ hasRows }) => !hasRows);
  const lines = [
    ...(hasList ? [LIST_FUNCTION] : []),
    ...(argLists.some(({ hasRows }) => hasRows) ? [ROWS_FUNCTION] : []),
    localsOf(keys.map((name, i) => [name, `${from}[${String(i + 1)}]`])),
    ...keyLists.map((name, i) => {
      const first = [String(keys.length + 1), ...keyLists.slice(0, i).map((other) => `#${other}`)].join('+');
      const last = i < lengths ? `${first}-1+${values}[${String(i + 1)}]` : `#${from}`;
      return `local ${name}=listOf(${from},${first},${last})`;
    }),
    localsOf(
      args.map(({ name, isNumber }, i) => {
        const value = `${values}[${String(lengths + i + 1)}]`;
        return [name, isNumber ? `tonumber(${value})` : value];
      }),
    ),
    ...argumentLists(argLists, lengths + args.length + 1, values),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

function argumentLists(lists: Layout['argLists'], first: number, values: string): string[] {
  if (lists.length === 0) return [];
  const lines = lists.map(({ name, hasRows }, i) => {
    const make = hasRows ? 'rowsOf' : 'listOf';
    if (i === lists.length - 1) return `local ${name}=${make}(${values},place,#${values})`;
    return `local ${name}=${make}(${values},place+1,place+${values}[place]) place=place+1+${values}[place]`;
  });
  return [`local place=${String(first)}`, ...lines];
}

const localsOf = (locals: readonly (readonly [name: string, value: string])[]): string =>
  locals.length === 0
    ? ''
    : `local ${locals.map(([name]) => name).join(',')}=${locals.map(([, value]) => value).join(',')}`;

interface AnyCall {
  readonly keys: Readonly<Record<string, KeyValues[keyof KeyValues]>>;
  readonly args: Readonly<Record<string, ArgumentValues[keyof ArgumentValues]>>;
}

function packCall({ keys, keyLists, args, argLists }: Layout, call: AnyCall): ScriptCall {
  requireOnly(call.keys, keys.length + keyLists.length);
  requireOnly(call.args, args.length + argLists.length);
  const sent: ScriptCall = { keys: [], arguments: [] };
  for (const name of keys) appendKeys(sent.keys, givenAs(call.keys, name));
  for (const [i, name] of keyLists.entries()) {
    const list = givenAs(call.keys, name);
    if (i < keyLists.length - 1) sent.arguments.push(String(list.length));
    appendKeys(sent.keys, list);
  }
  for (const { name } of args) append(sent.arguments, givenAs(call.args, name));
  for (const [i, { name }] of argLists.entries()) {
    const start = sent.arguments.length;
    if (i < argLists.length - 1) sent.arguments.push('');
    append(sent.arguments, givenAs(call.args, name));
    if (i < argLists.length - 1) sent.arguments[start] = String(sent.arguments.length - start - 1);
  }
  return sent;
}

function appendKeys(to: string[], value: KeyValues[keyof KeyValues]): void {
  if (typeof value === 'string') to.push(value);
  else for (const key of value) to.push(key);
}

/** Appends a value, those of a list, or rows with their lengths: one by one, which is quicker than spreading them. */
function append(to: Value[], value: ArgumentValues[keyof ArgumentValues]): void {
  if (value === null) to.push('');
  else if (typeof value === 'number') to.push(String(value));
  else if (typeof value === 'string' || Buffer.isBuffer(value)) to.push(value);
  else
    for (const each of value)
      if (typeof each === 'string' || Buffer.isBuffer(each)) to.push(each);
      else {
        to.push(String(each.length));
        for (const field of each) to.push(field);
      }
}

function givenAs<Of>(values: Readonly<Record<string, Of>>, name: string): Of {
  const value = values[name];
  if (value === undefined) throw new Error(`a script needs ${name}`);
  return value;
}

function requireOnly(values: object, count: number): void {
  const given = Object.keys(values).length;
  if (given > count)
    throw new Error(`a script of ${String(count)} names got ${Object.keys(values).join(', ')}`);
}

/** Removes indentation, empty lines and comments of their own lines, which the server would digest each time. */
const withoutMargins = (source: string): string =>
  source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
    .join('\n');

/** A command for each type of key that counts as a write and changes nothing: no text of UTF-8 is such a member. */
const NO_CHANGE = {
  string: (key: string) => `redis.call('GETEX', ${key})`,
  hash: (key: string) => `redis.call('HDEL', ${key}, '\\255')`,
  set: (key: string) => `redis.call('SREM', ${key}, '\\255')`,
  sortedSet: (key: string) => `redis.call('ZREM', ${key}, '\\255')`,
};

/**
 * Lua for a script that has to go on when Redis is full. Redis refuses the first command of a script that may need memory,
 * unless the script has written before; this is a write that needs none. Unlike the flag `allow-oom` of Redis 7, it can
 * depend on arguments and works from 6.2 on.
 *
 * @param key the local with the key, which the script has declared
 */
export const evenWhenFull = (type: keyof typeof NO_CHANGE, key: string): string => NO_CHANGE[type](key);

/**
 * A Lua function `serverTime` for scripts: the server's own time in ms, as a number. Scripts use it where the clocks of several
 * hosts may differ. Write it with `%d`, since Lua would write so large a number with an exponent.
 */
export const SERVER_TIME = `
local function serverTime()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;
