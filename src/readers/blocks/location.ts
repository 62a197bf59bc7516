import { z } from 'zod';

const spanSchema = z.object({ first: z.int().min(1), last: z.int().min(1) });

/** A rectangle in points (1/72 inch) from the top left corner of a page as it is shown. */
const rectangleSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

const boxSchema = z.object({ page: z.int().min(1), ...rectangleSchema.shape });

/** The place of a passage in its file, as far as the format tells. */
export const locationSchema = z
  .object({
    pages: spanSchema.optional(),
    boxes: z.array(boxSchema).optional(),
    slides: spanSchema.optional(),
    /** The name of the sheet of a workbook. */
    sheet: z.string().optional(),
    /** Rows of the sheet, or of the table when the file is one. */
    rows: spanSchema.optional(),
    /** The name of the chapter of a book. */
    chapter: z.string().optional(),
    /** The number of the message in a mailbox. */
    message: z.int().min(1).optional(),
    /** The numbers of the lines of a text file. */
    lines: spanSchema.optional(),
  })
  .meta({
    id: 'Location',
    description: 'Where in its file a passage stands: spans include both ends, and all numbers begin at 1.',
  });

/** The fields of a location, in their order. */
export const LOCATION_FIELDS = locationSchema.keyof().options;

export type Span = z.infer<typeof spanSchema>;
export type Rectangle = Readonly<z.infer<typeof rectangleSchema>>;
export type Box = z.infer<typeof boxSchema>;
export type Location = z.infer<typeof locationSchema>;
