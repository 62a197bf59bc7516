import { z } from 'zod';

/** A part of a message, as postal-mime has it. */
const partSchema = z.object({
  contentType: z.object({
    parsed: z.object({ value: z.string() }),
    multipart: z.union([z.string(), z.literal(false)]).nullish(),
  }),
  contentDisposition: z.object({ parsed: z.object({ value: z.string() }) }),
  childNodes: z.array(z.unknown()),
});

/**
 * Whether a message has HTML that is no alternative to plain text. postal-mime then adds its words to the plain text, also
 * those that nobody sees. @param part the outermost one
 */
export function hasLooseHtml(part: unknown): boolean {
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) return false;
  const { contentType, contentDisposition, childNodes } = parsed.data;
  if (contentType.multipart === 'alternative') return false;
  const isHtml = contentType.parsed.value.toLowerCase() === 'text/html';
  const isAttached = contentDisposition.parsed.value.toLowerCase() === 'attachment';
  return (isHtml && !isAttached) || childNodes.some(hasLooseHtml);
}
