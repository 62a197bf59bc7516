import { ROUTES } from './openapi.js';
import type { AnswerOf, BodyOf, Exact, PathOf, QueryOf, Route } from './routes.js';
import { send, type CallOptions, type Connection, type Payload, type Read } from './send.js';

/** The parts of a request beside its options. */
export interface Parts {
  readonly path?: object | undefined;
  /** Objects are sent as JSON; undefined and null leave a parameter out. */
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** The content type of `body`. */
  readonly type?: string;
  /** In place of a body of JSON. */
  readonly payload?: Payload;
}

/** An object without required properties may be left out. */
type Needed<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : Partial<Value> extends Value
    ? Readonly<Partial<Record<Name, Value>>>
    : Readonly<Record<Name, Value>>;

/** Everything that a route takes. */
export type InputOf<Of extends Route> = CallOptions &
  Needed<'path', PathOf<Of>> &
  Needed<'query', QueryOf<Of>> &
  Needed<'body', BodyOf<Of>>;

/** Sends a request, and makes of its answer what `read` does. */
export async function sendTo<Result>(
  connection: Connection,
  route: Route,
  parts: Parts,
  { read, ...options }: CallOptions & { readonly read: Read<Result> },
): Promise<Result> {
  const [method = '', template = ''] = route.split(' ');
  const path = fill(template, parts.path ?? {}) + queryString(parts.query ?? {});
  const payload = parts.payload ?? (parts.body === undefined ? null : jsonOf(parts.body, parts.type));
  const isRepeatable = has(route, 'read');
  return send(
    connection,
    { method, path, payload, isRepeatable, isKeyed: has(route, 'keyed') },
    read,
    options,
  );
}

const has = (route: Route, trait: string): boolean => ROUTES[route]?.includes(trait) ?? false;

/** Reads the answer of a route as its type says. */
export const readAnswer =
  <Of extends Route>(route: Of): Read<AnswerOf<Of>> =>
  async (response) => {
    const value: unknown = has(route, 'bytes') ? response : await response.json();
    // @NOTE the service holds its answers against the schemas that these types are made of.
    return (has(route, 'waits') ? { ready: response.status !== 202, value } : value) as AnswerOf<Of>;
  };

/** Tells the options of a call from what stands beside them: the fields of a request, or its query. */
export function splitOptions<All extends CallOptions>(all: All) {
  const { signal, timeout, retries, headers, wait, idempotencyKey, ...fields } = all;
  return { call: { signal, timeout, retries, headers, wait, idempotencyKey }, fields };
}

function jsonOf(body: unknown, type = 'application/json'): Payload {
  const text = JSON.stringify(body);
  return { type, open: () => text, canRepeat: () => true };
}

/** @throws TypeError for a value with which the address would be that of another route */
function fill(template: string, path: object): string {
  const values = new Map<string, unknown>(Object.entries(path));
  return template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = values.get(name);
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || ['', '.', '..'].includes(text))
      throw new TypeError(`${JSON.stringify(value)} is no ${name}`);
    return encodeURIComponent(text);
  });
}

function queryString(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of new Map<string, unknown>(Object.entries(values))) {
    if (value === undefined || value === null) continue;
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** The parameters of a path, in their order. */
type PathArguments<Path extends string, Values> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [value: Values[Name & keyof Values], ...PathArguments<Rest, Values>]
  : [];

/**
 * A route as a method: the parameters of its path, then its body, then its options, which hold its query, too. Both may be
 * left out where nothing in them is required.
 */
export type MethodOf<Of extends Route> = [BodyOf<Of>] extends [never]
  ? <Sent extends MethodOptions<Of>>(
      ...values: [...PathArguments<Of, PathOf<Of>>, options?: Sent & Exact<Sent, MethodOptions<Of>>]
    ) => Promise<AnswerOf<Of>>
  : <Sent extends BodyOf<Of>>(
      ...values: [
        ...PathArguments<Of, PathOf<Of>>,
        body: Sent & Exact<Sent, BodyOf<Of>>,
        options?: CallOptions,
      ]
    ) => Promise<AnswerOf<Of>>;

type MethodOptions<Of extends Route> = CallOptions & ([QueryOf<Of>] extends [never] ? unknown : QueryOf<Of>);

export type MethodsOf<Table extends Readonly<Record<string, Route>>> = {
  readonly [Name in keyof Table]: MethodOf<Table[Name]>;
};

/** Makes the methods of a table of routes. */
export function createMethods<const Table extends Readonly<Record<string, Route>>>(
  connection: Connection,
  table: Table,
): MethodsOf<Table> {
  const methods = Object.entries(table).map(
    ([name, route]) => [name, createMethod(connection, route)] as const,
  );
  const made: unknown = Object.fromEntries(methods);
  // @NOTE each method takes what its route is typed to take.
  return made as MethodsOf<Table>;
}

function createMethod(connection: Connection, route: Route) {
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const takesBody = has(route, 'body');
  return (...values: readonly unknown[]): Promise<unknown> => {
    const path = Object.fromEntries(names.map((name, place) => [name, values[place]]));
    const [first, second] = values.slice(names.length);
    // @NOTE the type of the method says so.
    const { call, fields: query } = splitOptions(
      ((takesBody ? second : first) as CallOptions | undefined) ?? {},
    );
    const parts = takesBody ? { path, query, body: first } : { path, query };
    return sendTo(connection, route, parts, { ...call, read: readAnswer(route) });
  };
}
