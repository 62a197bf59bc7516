import { z } from 'zod';

const outcome = z.object({
  index: z.number(),
  status: z.string().optional(),
  document_id: z.string().optional(),
  ignored: z.array(z.string()).optional(),
  error: z
    .object({
      loc: z.array(z.union([z.string(), z.number()])),
      msg: z.string(),
      type: z.string(),
      retry_after: z.number().optional(),
      document_id: z.string().optional(),
    })
    .optional(),
});
export type WireOutcome = z.infer<typeof outcome>;

/** The outcomes of a batch in JSON. */
export const outcomesOf = (body: unknown): WireOutcome[] => z.array(outcome).parse(body);

/** The outcomes of a stream, one a line. */
export const linesOf = (text: string): WireOutcome[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => outcome.parse(JSON.parse(line)));

export const ndjson = (items: readonly unknown[]): string =>
  items.map((item) => `${JSON.stringify(item)}\n`).join('');

/** The short form to compare: the status, or the type of the error. */
export const inShort = ({ index, status, error }: WireOutcome): [number, string] => [
  index,
  error ? error.type : (status ?? ''),
];
