import { expect, describe, test } from '@jest/globals';
import { z } from 'zod';
import { createSchema } from 'zod-openapi';
import {
  dict,
  jsonFloat,
  jsonInteger,
  list,
  nonBlankString,
  optionalNull,
  optionalNullOr,
  optionalOr,
  queryInteger,
} from '../../../../src/api/http/validation/field-schemas.js';
import { metadata } from '../../../../src/api/http/validation/document-fields.js';

describe('the OpenAPI schema', () => {
  test('says of the fields what the checks hold them to', () => {
    const fields = z.object({
      query: nonBlankString({ max: 32 }),
      k: optionalNullOr(jsonInteger({ ge: 1, le: 1000 }), 4),
      min_score: optionalNull(jsonFloat({ ge: 0, le: 1 })),
      limit: optionalOr(queryInteger({ ge: 1, le: 100 }), 100),
      data: dict,
      metadata: optionalNullOr(metadata, {}),
      docs: list(z.string(), { min: 1, max: 3 }),
    });
    const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
    expect(createSchema(fields, { io: 'input', openapiVersion: '3.1.0' }).schema).toEqual({
      type: 'object',
      required: ['query', 'data', 'docs'],
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 32 },
        k: { ...nullable({ type: 'integer', minimum: 1, maximum: 1000 }), default: 4 },
        min_score: nullable({ type: 'number', minimum: 0, maximum: 1 }),
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
        data: { type: 'object', additionalProperties: true },
        metadata: { ...nullable({ type: 'object', additionalProperties: true }), default: {} },
        docs: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
      },
    });
  });
});
