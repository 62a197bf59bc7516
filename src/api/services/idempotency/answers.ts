import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { z } from 'zod';

/** An answer of JSON as it was sent, without the headers that every answer has. */
const answerSchema = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
});
export type Answer = z.infer<typeof answerSchema>;

/** The most bytes of one remembered answer, packed. A small document takes 400, and one of 20,000 chunks 53,000. */
const MAX_PACKED_BYTES = 64 * 1024;
/** Ids of chunks pack well, and nothing that this service answers packs better than by this factor. */
const MAX_BYTES = 100 * MAX_PACKED_BYTES;

const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

/** Null when the answer is too large to be remembered. */
export async function packAnswer({ status, headers, body }: Answer): Promise<Buffer | null> {
  const text = JSON.stringify({ status, headers, body });
  if (text.length > MAX_BYTES) return null;
  const packed = await pack(text);
  return packed.length > MAX_PACKED_BYTES ? null : packed;
}

export async function unpackAnswer(packed: Buffer): Promise<Answer> {
  const text = await unpack(packed);
  const answer: unknown = JSON.parse(text.toString('utf8'));
  return answerSchema.parse(answer);
}
