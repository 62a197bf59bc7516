import { z } from 'zod';
import { createRandom, type Random } from '../../chaos/random.js';
import { isSane, observed, statusOf, type Attack } from '../attack.js';

const openApi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

const VALUES = [
  'null',
  'true',
  '-1',
  '1e999',
  '""',
  '"\\ud800"',
  '[]',
  '{}',
  '[[]]',
  '{"$in":1}',
  '{"$not":{"$not":{}}}',
  '{"a":{"$gt":"x"}}',
  '"../.."',
  '"x"',
  '9007199254740993',
  '0.1',
  '{"__proto__":{"x":1}}',
  '[null]',
  '"\\u0000"',
] as const;
const FIELDS = [
  'query',
  'k',
  'filters',
  'min_score',
  'ranking',
  'content',
  'metadata',
  'filename',
  'access_control',
  'name',
  'model',
  'gguf_file',
  'docs',
  'max_tokens',
  'temperature',
  'stream',
  'expiry_days',
  'password_token',
  'use_reranking',
] as const;
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'multipart/form-data; boundary=b',
  'application/x-www-form-urlencoded',
  'application/json; charset=x',
  ';;;',
  'multipart/form-data',
] as const;
const QUERIES = [
  '',
  '?skip=-1',
  '?limit=a',
  '?filters={',
  "?filters={'a': None}",
  '?a[b]=1&a=2',
  '?%',
  '?limit=1&limit=2',
  '?since=x',
  '?caller=a&expires=b&signature=c',
] as const;

function makeRequest(random: Random, [path, methods]: [string, string[]]) {
  const place = path.replace(/\{\w+\}/g, () =>
    random.pick([
      '00000000-0000-4000-8000-000000000000',
      'x',
      '%00',
      '..%2f',
      'deals',
      '%F0%9F%92%A3',
      '-',
      '%zz',
    ] as const),
  );
  const method = random.chance(0.9)
    ? (random.pickAny(methods) ?? 'get')
    : random.pick(['put', 'patch', 'delete', 'head', 'options', 'post'] as const);
  const fields = Array.from(
    { length: random.whole(0, 5) },
    () => `"${random.pick(FIELDS)}":${random.pick(VALUES)}`,
  );
  const text = `{${fields.join()}}`;
  const body = random.chance(0.1)
    ? text.slice(0, random.whole(0, text.length))
    : random.chance(0.05)
      ? random.pick(VALUES)
      : text;
  const hasBody = method !== 'get' && method !== 'head';
  return {
    path: place + random.pick(QUERIES),
    method: method.toUpperCase(),
    body: hasBody ? body : null,
    type: random.chance(0.7) ? 'application/json' : random.pick(TYPES),
    prefer: random.pick(['respond-async', 'wait=0', 'wait=-1', 'wait=x', 'wait="0"; a', ',,,'] as const),
  };
}

export const malformedAttacks: readonly Attack[] = [
  {
    name: 'generated malformed requests to every route',
    patienceSeconds: 600,
    run: async ({ url, attacker, isShort }) => {
      const { paths } = openApi.parse(await (await fetch(`${url}/openapi.json`)).json());
      const routes = Object.entries(paths).map(([path, methods]): [string, string[]] => [
        path,
        Object.keys(methods),
      ]);
      const random = createRandom('malformed');
      const statuses: (number | string)[] = [];
      const failed: string[] = [];
      for (let n = 0; n < (isShort ? 400 : 6_000); n += 1) {
        const route = random.pickAny(routes);
        if (!route) continue;
        const { path, method, body, type, prefer } = makeRequest(random, route);
        const headers = { authorization: attacker.authorization, 'content-type': type, prefer };
        const status = await statusOf(fetch(url + path, { method, body, headers }));
        statuses.push(status);
        if (!isSane(status)) failed.push(`${method} ${path} ${body ?? ''}`);
      }
      const seen = observed(statuses, isSane);
      return { ...seen, wrong: failed[0] ? `${seen.wrong ?? ''}: ${failed[0].slice(0, 200)}` : null };
    },
  },
];
