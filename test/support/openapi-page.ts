import { z } from 'zod';

const content = z.record(
  z.string(),
  z.object({
    example: z.unknown().optional(),
    /** The examples of server-sent events. */
    examples: z
      .record(z.string(), z.object({ value: z.object({ event: z.string().optional(), data: z.string() }) }))
      .default({}),
  }),
);
const bodies = z.record(
  z.string(),
  z.object({
    example: z.unknown().optional(),
    /** Of two examples, pages fill in the one that says least. */
    examples: z
      .object({ plain: z.object({ value: z.unknown() }), whole: z.object({ value: z.unknown() }) })
      .optional(),
  }),
);
const parameterExample = z.union([z.string(), z.number(), z.boolean()]);
/** The parts of the OpenAPI page that its examples are in. */
export const exampledPage = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z
          .array(
            z.object({
              name: z.string(),
              in: z.enum(['path', 'query', 'header']),
              example: parameterExample.optional(),
              schema: z.object({ examples: z.tuple([parameterExample]).optional() }),
            }),
          )
          .default([]),
        requestBody: z
          .object({ content: bodies, 'x-streamed-content': bodies.optional() })
          .default({ content: {} }),
        responses: z.record(z.string(), z.object({ content })),
      }),
    ),
  ),
});
export type ExampledOperation = z.infer<typeof exampledPage>['paths'][string][string];

/** The bodies that the page shows, of each content type first the one that says most. */
export function shownBodies({ requestBody }: ExampledOperation) {
  const { content, 'x-streamed-content': streamed } = requestBody;
  const types = Object.entries({ ...content, ...streamed });
  return {
    whole: types.map(([type, { example, examples }]) => ({ type, body: examples?.whole.value ?? example })),
    plain: types.flatMap(([type, { examples }]) => (examples ? [{ type, body: examples.plain.value }] : [])),
  };
}

export const NDJSON = 'application/x-ndjson';
export const isJsonType = (type: string) => /^application\/(.+\+)?json$/.test(type);
const formSchema = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]));

/** The body of a request of a content type as an example shows it. */
export function encodeExample(type: string | null, body: unknown): string | FormData | URLSearchParams {
  if (type !== null && isJsonType(type)) return JSON.stringify(body);
  if (type === NDJSON) return `${JSON.stringify(body)}\n`;
  const fields = Object.entries(formSchema.parse(body)).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, each] as const),
  );
  const form = type === 'multipart/form-data' ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) {
    if (name.startsWith('file') && form instanceof FormData)
      form.append(name, new Blob([String(value)]), 'handover.txt');
    else form.set(name, String(value));
  }
  return form;
}
