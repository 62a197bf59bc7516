import type { Tool as ToolDeclaration } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { RequestAction } from '../../../shared/audit/entry.js';
import { isPlainObject } from '../../../shared/json-values.js';
import { requirePermission, type Permission } from '../../auth/authentication.js';
import { describeError } from '../../http/error-handler.js';
import { HttpError } from '../../http/http-error.js';
import type { ApiRequest } from '../../http/route.js';
import { createIgnoredFields } from '../../http/unknown-fields.js';
import { parseInto } from '../../http/validation/validation-errors.js';

/** The HTTP request that a message came in. */
export type McpRequest = ApiRequest<unknown, unknown, Readonly<Record<string, unknown>>>;

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** Tells a model when to use it. */
  readonly description: string;
  readonly permission: Permission;
  readonly action: RequestAction;
  readonly input: Input;
  readonly output: Output;
  readonly run: (input: z.output<Input>, request: McpRequest) => Promise<z.output<Output>>;
}

/** A tool that a model may use. */
export interface Tool {
  readonly declaration: ToolDeclaration;
  /** @throws HttpError 403 without the permission, 422 for arguments that do not fit; errors of services */
  call(given: unknown, request: McpRequest): Promise<Record<string, unknown>>;
}

/** No tool takes anything away: the one that writes answers with a document of the same content where there is one. */
const HARMLESS = { destructiveHint: false, idempotentHint: true, openWorldHint: false };

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  title,
  description,
  permission,
  action,
  input,
  output,
  run,
}: ToolDefinition<Input, Output>): Tool {
  return {
    declaration: {
      name,
      title,
      description,
      inputSchema: jsonSchemaOf(input, 'input'),
      outputSchema: jsonSchemaOf(output, 'output'),
      annotations: { title, readOnlyHint: permission === 'read', ...HARMLESS },
    },
    call: async (given, request) => {
      request.noteAction(action);
      requirePermission(request.caller, permission);
      return run(parseArguments(input, given), request);
    },
  };
}

/** Models misspell fields as people do, and learn from being told, so that unknown ones are never ignored. */
function parseArguments<Input extends z.ZodObject>(schema: Input, given: unknown): z.output<Input> {
  const failures = createIgnoredFields({ handling: 'strict' }, 'refuse').check(schema, given, 'body');
  const parsed = parseInto(failures)(schema, given, 'body');
  if (parsed === undefined || failures.length > 0) throw new HttpError(422, failures);
  return parsed;
}

/** The same schema that validates, as hosts show it to models. */
function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): ToolDeclaration['inputSchema'] {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { override: stated } = jsonSchema;
      if (isPlainObject(stated)) Object.assign(jsonSchema, stated);
      delete jsonSchema['override'];
    },
  });
  // @NOTE it is JSON, which zod's type does not say.
  return JSON.parse(
    JSON.stringify({ ...described, additionalProperties: false }),
  ) as ToolDeclaration['inputSchema'];
}

/** Tells an error in one line, with the words and the fields that it has in all other answers. */
export function wordsOf(error: unknown): string {
  const { detail, headers } = describeError(error);
  const text =
    typeof detail === 'string'
      ? detail
      : detail.map(({ loc, msg }) => `${loc.slice(1).join('.') || 'arguments'}: ${msg}`).join('; ');
  const seconds = headers['Retry-After'];
  return seconds === undefined ? text : `${text}; try again in ${seconds} seconds`;
}

/** True for an error that nobody foresaw. */
export const isUnknown = (error: unknown): boolean => describeError(error).status === 500;
