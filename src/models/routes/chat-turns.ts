import { z } from 'zod';

const partSchema = z.object({ type: z.literal('text'), text: z.string() });
const contentSchema = z.union([
  z.string(),
  z.array(partSchema).transform((parts) => parts.map(({ text }) => text).join('')),
]);

/** Messages of a conversation. Text only: local models see no pictures, and have no tools. */
export const turnsSchema = z
  .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: contentSchema }))
  .min(1)
  .max(1_000);
