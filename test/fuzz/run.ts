import { join } from 'node:path';
import { measure, type Measured, type Share } from './measure.js';
import { randomSample } from './random-sample.js';
import { readSample } from './read-sample.js';
import type { MarkKind, Sample } from './sample.js';
import { abilitiesOf, type Source } from './sources.js';
import { AbsentError, writeSamples } from './write-samples.js';

export interface RunOptions {
  readonly seed: number;
  /** The number of documents of each source. */
  readonly documents: number;
  /** The folder of the files. */
  readonly folder: string;
}

interface Failure {
  readonly seed: number;
  readonly path: string;
  readonly complaints: readonly string[];
  readonly gaps: readonly string[];
}

export interface Result {
  readonly source: Source;
  /** The reason why nothing was measured; null where it was. */
  readonly skipped: string | null;
  readonly documents: number;
  readonly characterErrors: number;
  readonly cells: Share;
  readonly marks: Readonly<Record<MarkKind, Share>>;
  readonly failures: readonly Failure[];
  /** Documents of which something is wrong and no gap says so. */
  readonly silent: number;
}

/** Writes documents of a source, reads them, and measures what was read. */
export async function runSource(source: Source, { seed, documents, folder }: RunOptions): Promise<Result> {
  const seeds = Array.from({ length: documents }, (_, index) => seed * 1_000 + index);
  const samples = seeds.map((each) => randomSample(each, abilitiesOf(source, each)));
  try {
    const into = join(folder, source.name.replace(/[^\w-]+/g, '-'));
    const written = await writeSamples(
      source,
      samples.map(({ document }) => document),
      into,
    );
    const measured: (Measured & Failure)[] = [];
    for (const [index, { path, lost }] of written.entries()) {
      const sample = samples[index];
      if (!sample) continue;
      const { text, failure, gaps } = await readSample(path);
      const goesOverPages = source.name.startsWith('pdf');
      const result = measure(without(withFrame(source, sample), lost), text, { goesOverPages });
      const complaints = failure === null ? result.complaints : [failure];
      measured.push({ ...result, complaints, seed: seeds[index] ?? seed, path, gaps });
    }
    return sumOf(source, measured);
  } catch (error) {
    if (!(error instanceof AbsentError)) throw error;
    return { ...sumOf(source, []), skipped: error.message };
  }
}

/** Adds the text that files of some formats hold besides, or that their writer adds. */
function withFrame({ name, conversions = [], ...source }: Source, sample: Sample): Sample {
  const extension = conversions.at(-1)?.extension ?? source.extension;
  const { title } = sample.document;
  const { text } = sample;
  switch (extension) {
    case 'json':
      return { ...sample, text: text.replace(/^/gm, 'part: ') };
    case 'xml':
      return { ...sample, text: text.replace(/^/gm, 'record: ') };
    case 'xlsx':
    case 'ods':
      return { ...sample, text: `Sheet\n${text}` };
    case 'html':
      return name.includes('LibreOffice') ? { ...sample, text: `${title}\n${text}` } : sample;
    case 'eml':
      return {
        ...sample,
        text: [title, 'From: Ann Example <ann@example.com>', 'To: bob@example.com', text].join('\n'),
      };
    case 'pdf':
      return foldedByPdfium(sample);
    default:
      return sample;
  }
}

/** The library around PDFium gives quotation marks and dashes in their plain forms. */
function foldedByPdfium(sample: Sample): Sample {
  const fold = (text: string): string =>
    text
      .replace(/[‘’‚]/g, "'")
      .replace(/[“”„]/g, '"')
      .replace(/[‐‑‒–—―−]/g, '-');
  return {
    ...sample,
    text: fold(sample.text),
    tables: sample.tables.map((rows) => rows.map((cells) => cells.map(fold))),
  };
}

/** The sample without the characters that its encoding does not have. */
function without(sample: Sample, lost: string): Sample {
  if (lost === '') return sample;
  const strip = (text: string): string => [...text].filter((character) => !lost.includes(character)).join('');
  return {
    ...sample,
    text: strip(sample.text),
    tables: sample.tables.map((rows) => rows.map((cells) => cells.map(strip))),
    marks: sample.marks.map((mark) => ({ ...mark, written: strip(mark.written) })),
  };
}

function sumOf(source: Source, measured: readonly (Measured & Failure)[]): Result {
  const failures = measured.filter(({ complaints }) => complaints.length > 0);
  const characters = measured.reduce((sum, each) => sum + each.characters, 0);
  const wrong = measured.reduce((sum, each) => sum + each.wrongCharacters, 0);
  const shareOf = (of: (each: Measured) => Share): Share => ({
    right: measured.reduce((sum, each) => sum + of(each).right, 0),
    of: measured.reduce((sum, each) => sum + of(each).of, 0),
  });
  return {
    source,
    skipped: null,
    documents: measured.length,
    characterErrors: characters === 0 ? 0 : wrong / characters,
    cells: shareOf(({ cells }) => cells),
    marks: {
      raised: shareOf(({ marks }) => marks.raised),
      symbol: shareOf(({ marks }) => marks.symbol),
      invisible: shareOf(({ marks }) => marks.invisible),
    },
    failures,
    silent: failures.filter(({ gaps }) => gaps.length === 0).length,
  };
}
