import { z } from 'zod';
import {
  COMPARISONS,
  MAX_CONDITIONS,
  MAX_LIST_VALUES,
  MAX_SOUGHT_CHARACTERS,
} from '../../../shared/filters/parse.js';

const reference = (id: string) => ({ $ref: `#/components/schemas/${id}` });

const value = { type: ['string', 'number', 'boolean', 'null'] };
const bound = {
  type: ['number', 'string'],
  description:
    'A number, a date of ISO 8601, or one relative to the moment of the request: `now`, `now-7d`, `now+1h`, `now-1M/M`.',
};
const sought = {
  type: ['string', 'number', 'boolean', 'null'],
  minLength: 1,
  maxLength: MAX_SOUGHT_CHARACTERS,
  description: 'A part of a text, or an element of a list.',
};
const values = { type: 'array', items: value, maxItems: MAX_LIST_VALUES };
const filters = { type: 'array', items: reference('Filter'), minItems: 1, maxItems: MAX_CONDITIONS };
const condition = { anyOf: [value, reference('FilterOperators')] };

const keysOfMetadata = { pattern: '^(?!\\$)' };

const schemas = {
  Filter: {
    description: 'Conditions on metadata. All keys of one object must match.',
    anyOf: [reference('FilterFields'), reference('FilterCombination')],
  },
  FilterFields: {
    description: 'A value, or operators, for each key of the metadata; `a.b` reaches into objects.',
    type: 'object',
    propertyNames: keysOfMetadata,
    additionalProperties: condition,
  },
  FilterCombination: {
    description: 'Filters that are combined. Keys of the metadata may stand beside them.',
    type: 'object',
    propertyNames: { pattern: '^(?!\\$(?!(and|or|not)$))' },
    not: { propertyNames: keysOfMetadata },
    properties: { $and: filters, $or: filters, $not: reference('Filter') },
    unevaluatedProperties: condition,
  },
  FilterOperators: {
    description: 'Conditions on one key, all of which must match.',
    type: 'object',
    properties: {
      $eq: value,
      $ne: value,
      ...Object.fromEntries(Object.keys(COMPARISONS).map((name) => [name, bound])),
      $in: values,
      $nin: values,
      $startsWith: { type: 'string', minLength: 1, description: 'The beginning of a text; case counts.' },
      $contains: sought,
      $containsAny: { type: 'array', items: sought, maxItems: MAX_CONDITIONS },
      $exists: { type: 'boolean' },
      $not: reference('FilterOperators'),
    },
    minProperties: 1,
    additionalProperties: false,
  },
};

const describedBy = (schema: object) =>
  z.unknown().meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, schema);
    },
  });

/**
 * The language of filters as JSON schemas, by the names under which they refer to each other, with the limits that
 * `parseFilter` checks, as far as a schema can express them. Keys of metadata and `$and`, `$or` and `$not` are in schemas
 * of their own: types with properties beside other keys of another type cannot be written in TypeScript.
 */
export const filterSchemas: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(schemas).map(([id, schema]) => [id, describedBy(schema)] as const),
);
