import { z } from 'zod';
import type { Rectangle } from '../../../blocks/location.js';
import { extensionOf, contentTypeOf, formatByExtension } from '../../../detection/formats.js';
import type { CarriedFile } from '../../../receipt/attachment-keeper.js';

/** A remark that people have stuck onto a page: a note, or words about what they marked or drew. */
export interface Remark {
  readonly text: string;
  readonly box: Rectangle;
}

export interface PageExtras {
  readonly remarks: readonly Remark[];
  /** True if there are more remarks, or longer ones, than are read. */
  readonly areCut: boolean;
  /** Files that hang on the page as annotations. */
  readonly files: readonly CarriedFile[];
}

const MAX_REMARKS = 500;
const MAX_CHARACTERS = 20_000;

/** Kinds of annotations that show their contents in a window of their own (ISO 32000-1, 12.5.6). Text typed onto pages is no remark. */
const KINDS = new Set(
  'Text Highlight Underline Squiggly StrikeOut Caret Stamp Ink Square Circle Line Polygon PolyLine'.split(
    ' ',
  ),
);
/** Flags of annotations that are not shown on screens: hidden and no view (ISO 32000-1, 12.5.3). */
const NOT_SHOWN = 2 | 32;

/** A file within a PDF, as pdf.js gives it. */
const fileSchema = z.object({
  filename: z.string().nullish(),
  content: z.instanceof(Uint8Array),
});

const annotationSchema = z.object({
  subtype: z.string(),
  annotationFlags: z.number(),
  rect: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  contentsObj: z.object({ str: z.string() }).catch({ str: '' }),
  /** The words that a link or a mark lies over. */
  overlaidText: z.string().catch(''),
  /** The state that a reviewer has set the note to, such as `Accepted`, in a note of its own. */
  state: z.string().nullish().catch(undefined),
  file: fileSchema.optional().catch(undefined),
});

/** @param toBox places a rectangle of the file on the page as it is shown */
export function extrasOf(
  annotations: readonly unknown[],
  toBox: (rectangle: readonly number[]) => Rectangle,
): PageExtras {
  const remarks: Remark[] = [];
  const files: CarriedFile[] = [];
  let areCut = false;
  for (const annotation of annotations) {
    const { data } = annotationSchema.safeParse(annotation);
    if (!data || (data.annotationFlags & NOT_SHOWN) !== 0) continue;
    if (data.file) files.push(toFile(data.file));
    const text = data.contentsObj.str.replace(/\r\n?/g, '\n').trim();
    const isRemark = KINDS.has(data.subtype) && !data.state && text !== '';
    // Some programs repeat the marked text.
    if (!isRemark || bare(text) === bare(data.overlaidText)) continue;
    areCut ||= remarks.length === MAX_REMARKS || text.length > MAX_CHARACTERS;
    if (remarks.length < MAX_REMARKS)
      remarks.push({ text: text.slice(0, MAX_CHARACTERS), box: toBox(data.rect) });
  }
  return { remarks, areCut, files };
}

const bare = (text: string): string => text.replace(/\s+/g, '');

/** The files that a document itself carries, as pdf.js lists them; none where it has none. */
export function listedFiles(attachments: unknown): CarriedFile[] {
  const listed = z.record(z.string(), z.unknown()).nullable().safeParse(attachments).data ?? {};
  return Object.entries(listed).flatMap(([name, file]) => {
    const { data } = fileSchema.safeParse(file);
    return data ? [toFile({ ...data, filename: nonEmpty(data.filename) ?? name })] : [];
  });
}

const nonEmpty = (text: string | null | undefined): string | undefined =>
  text === null || text === '' ? undefined : text;

function toFile({ filename, content }: z.infer<typeof fileSchema>): CarriedFile {
  const name = nonEmpty(filename?.replace(/^.*[/\\]/, '')) ?? null;
  const format = formatByExtension(extensionOf(name));
  const contentType = format ? contentTypeOf(format) : 'application/octet-stream';
  return { filename: name, contentType, bytes: content };
}
