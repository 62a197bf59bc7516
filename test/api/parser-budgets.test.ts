import { describe, expect, test } from '@jest/globals';
import { parseCookie } from 'cookie';
import { createAuthentication } from '../../src/api/auth/authentication.js';
import { bodyFilters, parseFilterText } from '../../src/api/http/validation/search-fields.js';
import {
  queryInstant,
  nonBlankString,
  queryFloat,
  queryInteger,
} from '../../src/api/http/validation/field-schemas.js';
import { parsePythonDict } from '../../src/api/http/validation/python-literal.js';
import { metadata } from '../../src/api/http/validation/document-fields.js';
import { parseJson } from '../../src/api/http/json/json.js';
import { requestIdOf } from '../../src/api/http/logging/access-log.js';
import { isJson } from '../../src/api/http/request/body.js';
import { queryOf } from '../../src/api/http/request/read-parts.js';
import { parsePrefer } from '../../src/api/http/request/headers.js';
import { displayFilename } from '../../src/shared/document.js';
import { entityIdOf } from '../../src/shared/access/access-token.js';
import { DETECTION_BYTES, detectFileType } from '../../src/readers/detection/detect.js';
import { parseInstant } from '../../src/shared/filters/instants.js';
import { SECRET } from '../support/api.js';
import { attacks, findSlow, type Parser } from '../support/attacks.js';

const HEADER = 16 * 1024;
const BODY = 1024 * 1024;

const authenticate = createAuthentication({ secrets: [SECRET, `${SECRET}, the one before`], devMode: false });
const python = [
  '{',
  '}',
  '[',
  ']',
  "'",
  '"',
  '\\',
  ':',
  ',',
  'None',
  '1',
  '.',
  'e',
  '-',
  ' ',
  "{'a':",
  '[1,',
];
const instant = ['2026-01-02', 'T', ' ', '1', '0', '.', ':', '+', 'Z', '-', '2026-01-02T03:04:05.'];
const number = [' ', '+', '-', '1', '.', 'e', 'E', '\t', '1.', '.1'];
const filename = ['.', '/', '\\', 'a', ' ', '\u202e', '\ud800', '\u{1f600}', '.txt', '\0', '"'];

const head = (name: string | null, declared: string | null) => (text: string) =>
  detectFileType(Buffer.from(text, 'latin1'), name, declared);

/** Everything that a client's bytes meet in the API before a worker sees them. */
const parsers: Record<string, Parser> = {
  'the head of a file': {
    parse: head('a.txt', 'text/plain'),
    tokens: [
      '<!--',
      '-->',
      '<!---->',
      '<?xml',
      '>',
      '<!doctype',
      '<html',
      ' ',
      '\n',
      '\0',
      '{',
      'PK\x03\x04',
      '\xff',
    ],
    size: DETECTION_BYTES,
  },
  'the head of a file of another kind': {
    parse: head('a.docx', null),
    tokens: [
      'PK\x03\x04',
      'word',
      '/',
      'xl',
      'META-INF',
      'E\0n\0c\0',
      '%PDF',
      '-',
      '{\\rtf',
      'From ',
      '[',
      '"',
      '\xd0\xcf',
    ],
    size: DETECTION_BYTES,
  },
  "a file's name, to tell its type": {
    parse: (name) => detectFileType(Buffer.from('x'), name, name),
    tokens: [...filename, ';', 'text/plain'],
    size: HEADER,
  },
  "a file's name, to show it": { parse: displayFilename, tokens: filename, size: HEADER },
  Prefer: {
    parse: parsePrefer,
    tokens: ['wait', '=', '"', ',', ';', ' ', '\t', 'respond-async', 'a', '-', '="', '",'],
    size: HEADER,
  },
  Authorization: {
    parse: authenticate,
    tokens: ['Bearer', ' ', 'Bearer ', '.', 'eyJhbGciOiJIUzI1NiJ9', 'a', '=', '-', 'Bearer a.b'],
    size: HEADER,
  },
  Cookie: {
    parse: parseCookie,
    tokens: ['quire_admin', '=', ';', ' ', '"', '%', '%zz', ',', '; ', '=;'],
    size: HEADER,
  },
  'X-Request-Id': { parse: requestIdOf, tokens: ['a', '-', ' ', '.', '\n'], size: HEADER },
  'a media type': {
    parse: isJson,
    tokens: ['application/', 'json', '+', '.', '-', 'application/a+json'],
    size: HEADER,
  },
  'a query string': {
    parse: queryOf,
    tokens: ['?', '&', '=', '%', '+', 'a', '%20', '&a=', '[', ']'],
    size: HEADER,
  },
  'filters in a query string': { parse: parseFilterText, tokens: python, size: HEADER },
  'a literal of Python': { parse: parsePythonDict, tokens: python, size: 65_536 },
  'numbers within a literal of Python': {
    parse: (text) => parsePythonDict(`{'a': [${text}`),
    tokens: ['1', '0', '.', 'e', '+', '-', ',', ' ', '1e', '.1,', '\\x41', "'\\u0041"],
    size: 65_536,
  },
  'an instant in a query string': {
    parse: (text) => queryInstant.safeParse(text),
    tokens: instant,
    size: HEADER,
  },
  'an instant in a filter': { parse: parseInstant, tokens: instant, size: HEADER },
  'a number in a query string': {
    parse: (text) => [queryInteger().safeParse(text), queryFloat().safeParse(text)],
    tokens: number,
    size: HEADER,
  },
  'the name of a token': {
    parse: entityIdOf,
    tokens: [' ', 'A', 'a', '_', '-', '.', 'é', 'İ'],
    size: HEADER,
  },
  'a text with more than blanks': {
    parse: (text) => nonBlankString({ max: BODY }).safeParse(text),
    tokens: [' ', '\u3000', 'a', '\ud83d', '\ude00', '\u{1f600}'],
    size: BODY,
  },
  JSON: {
    parse: (text) => parseJson(Buffer.from(text)),
    tokens: ['{', '}', '[', ']', '"', '\\', ',', ':', '{"a":', '\\"', '1', ' '],
    size: BODY / 4,
  },
  'the metadata of a document': {
    parse: (text) => metadata.safeParse({ [text]: [text, { [text.slice(9)]: text }] }),
    tokens: ['a', '\ud800', '"', '\0', 'é'],
    size: BODY,
  },
  'a filter of a body': {
    parse: (text) => bodyFilters.safeParse({ [text]: { $gt: text }, $and: [{ [text]: { $in: [text] } }] }),
    tokens: ['a', '.', '$', '2026-01-02', ' ', '\ud800'],
    size: BODY / 4,
  },
};

describe('what a client sends takes no longer than it is long:', () => {
  test.each(Object.entries(parsers))('%s', (_name, parser) => {
    expect(findSlow(parser)).toBeNull();
  });

  test('and the measure itself finds what grows with the square, and what never ends', () => {
    const tokens = [' ', '<!---->'];
    const square = (text: string) => /\s+$/.test(text);
    const endless = (text: string) => /^(?:<!--[^]*?-->\s*)*<html/.test(text);
    expect(findSlow({ parse: square, tokens, size: HEADER })).not.toBeNull();
    expect(findSlow({ parse: endless, tokens, size: 300, hangs: 1_000 })).not.toBeNull();
    expect([...attacks({ tokens }, 100)].every(([, text]) => text.length <= 110)).toBe(true);
  });
});
