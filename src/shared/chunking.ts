import { z } from 'zod';

/**
 * The ways to cut a text: Quire's own, and those of LangChain. `recursive` and the languages are those of
 * `RecursiveCharacterTextSplitter` in @langchain/textsplitters, whose list of languages a test compares with this one.
 */
export const SPLITTERS = [
  'quire',
  'recursive',
  'markdown',
  'latex',
  'cpp',
  'go',
  'html',
  'java',
  'js',
  'php',
  'proto',
  'python',
  'rst',
  'ruby',
  'rust',
  'scala',
  'sol',
  'swift',
] as const;
export type Splitter = (typeof SPLITTERS)[number];

/** The bounds of the tokens of a chunk. OpenAI's vector stores allow as many at most. */
const MIN_SIZE = 16;
const MAX_SIZE = 4_096;

const absentIfNull = <Value>(value: Value | null | undefined): Value | undefined => value ?? undefined;

const fields = z.object({
  size: z
    .int()
    .min(MIN_SIZE)
    .max(MAX_SIZE)
    .nullish()
    .transform(absentIfNull)
    .describe('The most tokens of a chunk. Default: the setting `chunk.size`.'),
  overlap: z
    .int()
    .min(0)
    .max(MAX_SIZE / 2)
    .nullish()
    .transform(absentIfNull)
    .describe(
      'The most tokens that a chunk repeats of the one before; at most half of `size`, which must be stated with it. Default: ' +
        'the setting `chunk.overlap`, and at most a quarter of `size`.',
    ),
  splitter: z
    .enum(SPLITTERS)
    .nullish()
    .transform(absentIfNull)
    .describe(
      'The way to cut: `quire` (default) by the layout of the file; `recursive`, `markdown`, `latex` or a programming ' +
        'language as the splitters of LangChain do.',
    ),
});

/** The way in which a content is cut into chunks, as a request states it and a record keeps it. */
export const chunkingSchema = fields
  .check(({ value: { size, overlap }, issues }) => {
    if (overlap === undefined) return;
    if (size === undefined)
      issues.push({ code: 'custom', message: 'overlap needs a size', input: overlap, path: ['overlap'] });
    // A chunk that repeats nearly all of the one before makes thousands of times the text of a document.
    else if (overlap > size / 2)
      issues.push({
        code: 'too_big',
        origin: 'number',
        maximum: Math.floor(size / 2),
        inclusive: true,
        input: overlap,
        path: ['overlap'],
      });
  })
  .meta({ id: 'Chunking', description: 'How the text is cut into chunks.' });
/** Fields that are not stated are undefined: the settings decide when the content is cut. */
export type Chunking = z.output<typeof chunkingSchema>;

export const isSameChunking = (one: Chunking | undefined, other: Chunking | undefined): boolean =>
  one?.size === other?.size && one?.overlap === other?.overlap && one?.splitter === other?.splitter;

/** Tells whether chunks lack the white space at their ends, so that they cannot be joined as they are. */
export const trimsChunks = (stated: Chunking | undefined): boolean =>
  (stated?.splitter ?? 'quire') !== 'quire';

/** Completes the parts that are not stated. */
export function wholeChunking(
  stated: Chunking | undefined,
  settings: { readonly size: number; readonly overlap: number },
): { readonly size: number; readonly overlap: number; readonly splitter: Splitter } {
  const size = stated?.size ?? settings.size;
  const mostOverlap = stated?.size === undefined ? settings.overlap : Math.floor(size / 4);
  const overlap = stated?.overlap ?? Math.min(settings.overlap, mostOverlap);
  return { size, overlap, splitter: stated?.splitter ?? 'quire' };
}
