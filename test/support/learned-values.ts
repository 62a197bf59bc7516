import { z } from 'zod';

/** The token in the URI that `/local/generate_uri` answers with. */
export const tokenOf = (uri: string) => /:([^:@]+)@/.exec(uri)?.[1] ?? '';

/** The values of an answer that differ each time: ids, tokens and signed addresses, in the order in which they stand. */
export const learned = z.union([
  z.object({ external_id: z.string() }).transform(({ external_id }) => [external_id]),
  z.object({ id: z.string(), expires_at: z.unknown() }).transform(({ id }) => [id]),
  z.object({ uri: z.string() }).transform(({ uri }) => [tokenOf(uri)]),
  z
    .array(z.object({ index: z.number(), document_id: z.string().optional() }))
    .transform((outcomes) => outcomes.map(({ document_id: id }) => id ?? '')),
  z
    .array(z.object({ content: z.object({ value: z.url() }) }))
    .transform((found) =>
      found.flatMap(({ content: { value } }) => [...new URL(value).searchParams.values()]),
    ),
]);
