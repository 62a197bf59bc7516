import { z } from 'zod';
import { isPlainObject } from '../../../shared/is-plain-object.js';

/** A field of a request that its schema does not have, and the fields that stand in its place. */
export interface UnknownField {
  readonly loc: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Finds the fields of a value that a schema would drop, also inside of objects and lists that it describes. */
export function* findUnknown(
  schema: z.core.$ZodType,
  value: unknown,
  loc: UnknownField['loc'] = [],
): Generator<UnknownField> {
  const inner = unwrap(schema);
  // A list of a hundred thousand ids has nothing to be looked for.
  if (inner instanceof z.ZodArray && hasFields(inner.element) && Array.isArray(value)) {
    for (const [index, element] of value.entries())
      yield* findUnknown(inner.element, element, [...loc, index]);
  }
  if (!(inner instanceof z.ZodObject) || !isPlainObject(value) || inner.def.catchall) return;
  const shape: Readonly<Record<string, z.core.$ZodType>> = inner.shape;
  const known = Object.keys(shape);
  for (const [name, field] of Object.entries(value)) {
    const described = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (described) yield* findUnknown(described, field, [...loc, name]);
    else yield { loc: [...loc, name], known };
  }
}

function hasFields(schema: z.core.$ZodType): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject || (inner instanceof z.ZodArray && hasFields(inner.element));
}

/**
 * Takes away the wrappers that say when a value may be missing and how it is treated then, and leaves the description of
 * the value.
 */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault)
      inner = inner.def.innerType;
    else if (inner instanceof z.ZodPipe) inner = described(inner);
    else return inner;
  }
}

/**
 * Returns the schema that describes the value. A step that prepares a value stands before the schema of the value, and a
 * step that uses it behind.
 */
const described = ({ def }: z.ZodPipe): z.core.$ZodType =>
  def.in instanceof z.ZodTransform ? def.out : def.in;
