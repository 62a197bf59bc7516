import { z } from 'zod';

/** Text is a string, or a list of lines with their ends. */
const text = z
  .union([z.string(), z.array(z.string())])
  .transform((lines) => (typeof lines === 'string' ? lines : lines.join('')));
const optionalText = text.optional().catch(undefined);
const optionalName = z.string().optional().catch(undefined);

const outputSchema = z.object({
  output_type: z.string().catch(''),
  text: optionalText,
  data: z.record(z.string(), z.unknown()).optional().catch(undefined),
  ename: optionalName,
  evalue: optionalName,
  /** Pictures of notebooks until version 3. */
  png: z.unknown().optional(),
  jpeg: z.unknown().optional(),
});

const cellSchema = z.object({
  cell_type: z.string().catch('raw'),
  source: optionalText,
  /** The source of code until version 3 of the format. */
  input: optionalText,
  language: optionalName,
  level: z.int().optional().catch(undefined),
  attachments: z.record(z.string(), z.unknown()).optional().catch(undefined),
  outputs: z
    .array(outputSchema.catch({ output_type: '' }))
    .optional()
    .catch(undefined),
});

const cells = z.array(cellSchema);

/** A notebook in version 4 of its format (nbformat), or in version 3, which has its cells in worksheets. */
export const notebookSchema = z.object({
  metadata: z
    .object({
      title: optionalName,
      kernelspec: z.object({ language: optionalName }).optional().catch(undefined),
      language_info: z.object({ name: optionalName }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  cells: cells.optional(),
  worksheets: z.array(z.object({ cells })).optional(),
});

export type Notebook = z.infer<typeof notebookSchema>;
export type Cell = z.infer<typeof cellSchema>;
export type Output = z.infer<typeof outputSchema>;
export const outputTextSchema = text;
