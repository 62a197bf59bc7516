import type { IncomingHttpHeaders } from 'node:http';
import busboy, { type Busboy, type Limits } from 'busboy';
import { z } from 'zod';
import { decodeAs, encodingOf, percentBytes } from '../../../readers/index.js';
import { parameterValue } from '../parameter-value.js';
import { HttpError } from '../http-error.js';

/**
 * A quoted value, or a parameter that names its charset (RFC 5987), such as `filename*=iso-8859-1'de'Gr%F6%DFe`. A quote that is
 * never closed goes on to the end, so that none is looked at twice.
 */
const PARAMETER = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|(\*=)([^\s'";]{1,60})'[^\s'";]*'([^\s;"]*)/g;
const PLAIN_NAME = /;\s*filename\s*=/i;
/** Makes another parameter of one, so that a plain one beside it counts. */
const OTHER_NAME = '-unknown=x';

const headerSchema = z.record(z.string(), z.array(z.string()));
const headerParserSchema = z.looseObject({ cb: z.custom<(header: unknown) => void>() });

export const malformed = (cause?: unknown): HttpError =>
  new HttpError(400, 'Malformed multipart body', { cause });

/** The charset of a part, as busboy reads it. */
const CHARSET = /;[ \t]*charset=("[^"]*"|[^\s;]*)/gi;

/**
 * A parser of multipart bodies whose names of parts and files are right in any charset. Fields are given byte by byte, to
 * be read by `fieldText`. @throws HttpError 400
 */
export function createMultipartParser(headers: IncomingHttpHeaders, limits: Limits): Busboy {
  try {
    return readHeaders(busboy({ headers, defParamCharset: 'utf8', defCharset: 'latin1', limits }));
  } catch (error) {
    throw malformed(error);
  }
}

/** Returns the text of a field. @param charset the part's `encoding`, which may be no charset; then it is UTF-8 */
export const fieldText = (bytes: Buffer, charset: string): string =>
  decodeAs(bytes, encodingOf(charset) ?? 'utf-8');

/**
 * busboy takes windows-1252 for ISO 8859-1, skips a part with a name in a charset that it does not know, and gives no value of
 * a field in most charsets. So its reader of headers is given them with such names in UTF-8, and charsets of fields in
 * another header, which it passes on.
 */
function readHeaders(parser: Busboy): Busboy {
  let current: unknown = null;
  let known: unknown;
  // @NOTE a private field of the pinned version, which holds the one reader of headers while it reads them.
  Object.defineProperty(parser, '_hparser', {
    get: () => current,
    set: (next: unknown) => {
      current = next;
      if (next === null || next === known) return;
      known = next;
      const { cb } = headerParserSchema.parse(next);
      Object.assign(Object(next), { cb: (header: unknown) => cb(withCharsets(header)) });
    },
  });
  return parser;
}

function withCharsets(header: unknown): unknown {
  const fields = headerSchema.parse({ ...Object(header) });
  const disposition = fields['content-disposition']?.[0];
  if (disposition?.includes('*=') === true) fields['content-disposition'] = [namesInUtf8(disposition)];
  const type = fields['content-type']?.[0] ?? '';
  const [charset] = Array.from(type.matchAll(CHARSET), ([, name = '']) => name);
  if (charset === undefined) return fields;
  fields['content-type'] = [type.replace(CHARSET, '')];
  fields['content-transfer-encoding'] = [charset];
  return fields;
}

/** Parameters that say nothing, or in charsets that nobody knows, are left to the plain ones beside them, if there are any. */
function namesInUtf8(disposition: string): string {
  const hasPlain = PLAIN_NAME.test(disposition);
  return disposition.replace(PARAMETER, (whole, extended: unknown, charset: unknown, value: unknown) => {
    if (extended === undefined) return whole;
    const encoding = encodingOf(String(charset)) ?? (hasPlain ? undefined : 'utf-8');
    if (encoding === undefined) return OTHER_NAME;
    const name = decodeAs(percentBytes(Buffer.from(String(value), 'latin1')), encoding);
    return name === '' ? OTHER_NAME : `*=utf-8''${parameterValue(name)}`;
  });
}
