import { deepStrictEqual } from 'node:assert';
import {
  errorBody,
  responsesOf,
  streamError,
  validationErrorBody,
} from '../../src/api/http/response/declared-responses.js';
import { z } from 'zod';
import { errorShapeOf } from '../../src/api/http/response/error-shapes.js';
import type { Route } from '../../src/api/http/route.js';

export interface SeenResponse {
  readonly method: string;
  /** The path of the request, with or without a query string. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Text of the body; null when it was not read as text. */
  readonly text: string | null;
}

/** Fails when a response is not as its route declares it: status, type, every field, and no field more. */
export type CheckResponse = (response: SeenResponse) => void;

export function createCheckResponse(routes: readonly Route[]): CheckResponse {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (response) => {
    const { method, path, status, headers, text } = response;
    const about = `${method} ${path} answered ${String(status)}`;
    assert(headers.has('x-request-id'), `${about} without X-Request-Id`);
    const place = path.split('?')[0] ?? '';
    const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
    const matching = patterns.filter(({ route, pattern }) => route.method === asked && pattern.test(place));
    const [{ route } = { route: null }] = matching.sort(
      (a, b) => Number(isExact(b, place)) - Number(isExact(a, place)),
    );
    if (route) checkDeclared(route, response, about);
    else if (status >= 400 && text !== null && method !== 'HEAD')
      checkBody(errorShapeOf(place)?.body ?? errorBody, text, about);
  };
}

const isExact = ({ route }: { route: Route }, path: string) => route.path === path;

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`);
}

function checkDeclared(route: Route, { status, headers, text, method }: SeenResponse, about: string): void {
  const shape = responsesOf(route).get(status);
  const type = headers.get('content-type') ?? '';
  if (shape === undefined) throw new Error(`${about}, which its route does not declare`);
  if (shape === 'download') return;
  if (shape === 'empty') {
    assert((text ?? '') === '' && type === '', `${about} with a body`);
    return;
  }
  if (shape === 'png') {
    assert(type === 'image/png', `${about} as ${type}`);
    return;
  }
  const isStream = type.startsWith('text/event-stream');
  if (shape === 'events' || (isStream && status === 200 && route.events)) {
    assert(isStream, `${about} as ${type}, not as events`);
    const failure = errorShapeOf(route.path)?.body ?? streamError;
    if (route.events && text !== null) checkEvents({ event: route.events, failure }, text, about);
    return;
  }
  if (type === 'application/x-ndjson' && route.items && shape instanceof z.ZodArray) {
    // @NOTE zod types the element of an array by its core class.
    const element = shape.element as z.ZodType;
    for (const line of (text ?? '').split('\n')) if (line !== '') checkBody(element, line, about);
    return;
  }
  assert(type === 'application/json', `${about} as ${type}`);
  if (text === null || method === 'HEAD') return;
  // Some refusals of what was asked are a sentence, others a list.
  if (status === 422 && !errorShapeOf(route.path)) checkBody(validationErrorBody, text, about);
  else checkBody(shape, text, about);
}

interface EventSchemas {
  readonly event: z.ZodType;
  readonly failure: z.ZodType;
}

function checkEvents({ event, failure }: EventSchemas, text: string, about: string): void {
  for (const block of text.split('\n\n')) {
    const [, name, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(block) ?? [];
    if (data === undefined || data === '[DONE]') continue;
    checkBody(name === 'error' ? failure : event, data, about);
  }
}

function checkBody(schema: z.ZodType, text: string, about: string): void {
  const body: unknown = JSON.parse(text);
  const parsed = schema.safeParse(body);
  if (!parsed.success)
    throw new Error(`${about} with a body that does not fit: ${parsed.error.message}\n${text.slice(0, 500)}`);
  // Parsing with a schema drops fields that it does not declare.
  deepStrictEqual(body, parsed.data, `${about} with fields that its schema does not declare`);
}

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
