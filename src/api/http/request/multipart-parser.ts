import type { IncomingHttpHeaders } from 'node:http';
import busboy, { type Busboy, type Limits } from 'busboy';
import { z } from 'zod';
import { decodeAs } from '../../../shared/encoding/decode-as.js';
import { encodingOf } from '../../../shared/encoding/labels.js';
import { parameterValue, percentBytes } from '../../../shared/encoding/percent.js';
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

/** A parser of multipart bodies whose names of parts and files are right in any charset. @throws HttpError 400 */
export function createMultipartParser(headers: IncomingHttpHeaders, limits: Limits): Busboy {
  try {
    return readNamesInUtf8(busboy({ headers, defParamCharset: 'utf8', limits }));
  } catch (error) {
    throw malformed(error);
  }
}

/**
 * busboy takes windows-1252 for ISO 8859-1, and skips a part with a name in a charset that it does not know. So its reader of
 * headers is given them with such names in UTF-8.
 */
function readNamesInUtf8(parser: Busboy): Busboy {
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
      Object.assign(Object(next), { cb: (header: unknown) => cb(withNamesInUtf8(header)) });
    },
  });
  return parser;
}

function withNamesInUtf8(header: unknown): unknown {
  const fields = headerSchema.parse({ ...Object(header) });
  const disposition = fields['content-disposition']?.[0];
  return disposition?.includes('*=') === true
    ? { ...fields, 'content-disposition': [namesInUtf8(disposition)] }
    : header;
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
