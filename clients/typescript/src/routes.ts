import type { paths } from './openapi.js';

type MethodName = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** All routes of the service: `GET /documents/{document_id}` and so on. */
export type Route = {
  [Path in keyof paths]: {
    [Name in MethodName]: paths[Path][Name] extends object ? `${Uppercase<Name>} ${Path}` : never;
  }[MethodName];
}[keyof paths];

type Operation<Of extends Route> = Of extends `${infer Name} ${infer Path extends keyof paths}`
  ? paths[Path][Lowercase<Name> & keyof paths[Path]]
  : never;

type Given<Of extends Route, Place extends string> =
  Operation<Of> extends { parameters: Partial<Record<Place, infer Values>> }
    ? Exclude<Values, undefined>
    : never;

export type PathOf<Of extends Route> = Given<Of, 'path'>;
export type QueryOf<Of extends Route> = Given<Of, 'query'>;

type Contents<Holder> = Holder extends { content: infer Content } ? Content : never;
type Json<Content> = 'application/json' extends keyof Content ? Content['application/json'] : never;

/** The JSON body of a route; never where it takes none. */
export type BodyOf<Of extends Route> =
  Operation<Of> extends { requestBody?: infer Sent } ? Json<Contents<Exclude<Sent, undefined>>> : never;

type Success<Of extends Route, Status extends number> =
  Operation<Of> extends { responses: Record<Status, infer Got> } ? Contents<Got> : never;

/** JSON as a value; anything else, such as a file or a picture, as the whole answer. */
type Value<Content> = [Json<Content>] extends [never] ? Response : Json<Content>;

/** The answer of a route that may answer 202. */
export type Outcome<Ready, Pending = Ready> =
  /** 200: the work is done. */
  | { readonly ready: true; readonly value: Ready }
  /** 202: the work goes on. `value` says how far it is. */
  | { readonly ready: false; readonly value: Pending };

/** Everything that a route answers where it succeeds. */
export type AnswerOf<Of extends Route> = [Success<Of, 202>] extends [never]
  ? Value<Success<Of, 200>>
  : Outcome<Value<Success<Of, 200>>, Value<Success<Of, 202>>>;

/** Names of properties; of a union, those of each of its members. */
type Keys<Shape> = Shape extends unknown ? keyof Shape : never;
type Property<Shape, Key> = Shape extends unknown ? (Key extends keyof Shape ? Shape[Key] : never) : never;

/**
 * `Sent` without properties that `Shape` does not have. TypeScript by itself finds those only where an object is written
 * down, and not in a variable: `filter` for `filters` would compile.
 */
export type Exact<Sent, Shape> = unknown extends Shape
  ? Sent
  : [NonNullable<Shape>, Keys<Sent>] extends [Sent, Keys<NonNullable<Shape>>]
    ? Sent
    : Sent extends readonly (infer Item)[]
      ? readonly Exact<Item, Extract<Shape, readonly unknown[]>[number]>[]
      : Sent extends object
        ? {
            [Key in keyof Sent]: Key extends Keys<Extract<Shape, object>>
              ? Exact<Sent[Key], Property<Extract<Shape, object>, Key>>
              : never;
          }
        : Sent;
