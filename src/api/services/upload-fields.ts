import { z } from 'zod';
import type { AccessLists } from '../../shared/access.js';
import type { Metadata } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import { parseJson } from '../json.js';
import { accessControl, metadata, optionalNull, optionalNullOr, parseRequest } from '../validation.js';

/** Raw bytes of JSON, white space and escapes included; what it holds is bounded by the schemas. */
export const LIMITS = { metadata: 128 * 1024, access_control: 4 * 1024 * 1024 } as const;

const fieldsSchema = z.object({
  metadata: optionalNullOr(metadata, {}),
  access_control: optionalNull(accessControl),
});

export interface UploadFields {
  readonly limits: Readonly<Record<string, number>>;
  /** @throws AppError 400 for what is no JSON object, 422 for what is over the limits */
  readonly take: (name: string, value: string | null) => void;
  readonly values: () => { metadata: Metadata; accessControl: Partial<AccessLists> };
}

/** The form fields beside an uploaded file. */
export function createUploadFields(): UploadFields {
  const taken = new Map<string, unknown>();
  const parse = () => parseRequest(fieldsSchema, Object.fromEntries(taken), 'body');
  return {
    limits: LIMITS,
    take: (name, value) => {
      if (value === null) throw tooLong(name);
      taken.set(name, parseObject(name, value));
      parse();
    },
    values: () => {
      const { metadata, access_control } = parse();
      return { metadata, accessControl: compact(access_control ?? {}) };
    },
  };
}

function parseObject(name: string, text: string): unknown {
  const value = attemptJson(text);
  const isObject = typeof value === 'object' && !Array.isArray(value);
  if (!isObject) throw new AppError(400, `Invalid ${name} JSON`);
  return value;
}

function attemptJson(text: string): unknown {
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

const tooLong = (name: string) =>
  new AppError(422, [{ loc: ['body', name], msg: 'this field is too long', type: 'value_error' }]);

type StatedLists = { readonly [Name in keyof AccessLists]?: string[] | undefined };

/** Lists that were not stated are left out. */
export function compact({ readers, writers, admins }: StatedLists): Partial<AccessLists> {
  return { ...(readers && { readers }), ...(writers && { writers }), ...(admins && { admins }) };
}
