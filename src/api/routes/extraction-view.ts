import { z } from 'zod';
import type { Extraction } from '../../shared/document.js';
import { locationSchema, PART_UNITS, receiptSchema } from '../../readers/index.js';
import type { DocumentExtraction } from '../services/documents/read-extraction.js';

/** The fields that say where a chunk stands. */
export const whereaboutsFields = {
  location: locationSchema
    .nullable()
    .describe(
      'Where the chunk stands in its file: pages with boxes in points from their top left corners, slides, sheet and rows, ' +
        'chapter, message or lines, all from 1; null where the format does not tell.',
    ),
  section: z.array(z.string()).describe('The headings over the chunk, the outermost first.'),
};

/** The short form that documents carry. */
export const extractionSummary = z.object({
  parser: z.string(),
  title: z.string().nullable().describe('The title that the file gives itself.'),
  language: z.string().nullable().describe('The language that the file says it is in.'),
  unit: z.enum(PART_UNITS).describe('The kind of parts that the file is divided into.'),
  parts: z.int().describe('How many of them it has.'),
  parts_read: z.int(),
  ocr_pages: z.int().describe('Pages that were read by text recognition.'),
});

export const viewSummary = ({
  partsRead,
  ocrPages,
  mail: _,
  ...rest
}: Extraction): z.infer<typeof extractionSummary> => ({
  ...rest,
  parts_read: partsRead,
  ocr_pages: ocrPages,
});

export const extractionView = receiptSchema
  .extend({
    document_id: z.uuid(),
    version: z.int().positive(),
    former_attachments: z
      .array(z.string())
      .describe(
        'Documents of attachments of earlier contents that stay as documents of their own, because who has replaced or ' +
          'cancelled the content may not delete them.',
      ),
  })
  .meta({
    id: 'Extraction',
    description:
      'The parts of the published version of a document that were read, and those that were not: `gap_counts` counts everything that is ' +
      'empty, garbled, guessed, damaged, skipped, hidden or cut by a limit, and `gaps` names the first hundred with the reason.',
  });

export const viewExtraction = ({
  documentId,
  version,
  receipt,
  formerAttachments,
}: DocumentExtraction): z.infer<typeof extractionView> => ({
  document_id: documentId,
  version,
  ...receipt,
  former_attachments: [...formerAttachments],
});
