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
              example: z.union([z.string(), z.number()]).optional(),
            }),
          )
          .default([]),
        requestBody: z.object({ content }).default({ content: {} }),
        responses: z.record(z.string(), z.object({ content })),
      }),
    ),
  ),
});
export type ExampledOperation = z.infer<typeof exampledPage>['paths'][string][string];

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
