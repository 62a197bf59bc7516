import { unzipSync } from 'fflate';
import { DETECTION_BYTES, detectFileType } from '../../../src/readers/detection/detect.js';
import {
  factsOf,
  formatByExtension,
  formatOf,
  KNOWN_CONTENT_TYPES,
  isPicture,
  type FileFormat,
} from '../../../src/readers/detection/formats.js';
import { drawPdf, line } from '../drawn-pdf.js';
import { outlookMessage } from '../outlook-message.js';
import { sampleFiles } from '../sample-files.js';
import { smallBook } from './books.js';
import { smallDocx, smallOdp, smallOds, smallOdt, smallPptx, smallXlsx } from './office-files.js';
import { bmp, gif, jpeg, png, tiff, webp } from './pictures.js';
import { TEXTS } from './texts.js';

/** Larger files are cut off there, so that there is time for many mutations. */
const MAX_BYTES = 64 * 1024;

export interface Seed {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const mail = { subject: 'One', body: 'Text.', sender: ['Ann', 'ann@example.com'] } as const;

const binary: Readonly<Record<Exclude<FileFormat, keyof typeof TEXTS>, () => Uint8Array>> = {
  msg: () =>
    outlookMessage({
      ...mail,
      to: [['Bob', 'bob@example.com']],
      files: [{ name: 'x.txt', type: 'text/plain', bytes: Buffer.from('x') }],
      messages: [{ subject: 'Inner', html: '<p>Inner</p>' }],
    }),
  pdf: () => drawPdf({ pages: ['One', 'Two'].map((text) => ({ content: line(60, 700, text) })) }),
  docx: smallDocx,
  pptx: smallPptx,
  xlsx: smallXlsx,
  odt: smallOdt,
  ods: smallOds,
  odp: smallOdp,
  epub: smallBook,
  png,
  jpeg,
  tiff,
  webp,
  bmp,
  gif,
};

/** All formats that are read. */
export const FORMATS: readonly FileFormat[] = KNOWN_CONTENT_TYPES.flatMap((type) => formatOf(type) ?? []);
/** Formats that compiled code reads, so that they are fuzzed in confined processes. */
export const NATIVE: ReadonlySet<string> = new Set(FORMATS.filter((format) => factsOf(format).isNative));

const isText = (format: FileFormat): format is keyof typeof TEXTS => format in TEXTS;

/** A small file that is made here, the sample files of the format, and pictures in sample files. */
export function seedsOf(format: FileFormat): readonly Seed[] {
  const bytes = isText(format) ? Buffer.from(TEXTS[format]) : binary[format]();
  return [{ name: 'made here', bytes }, ...(samples().get(format) ?? [])];
}

let known: ReadonlyMap<FileFormat, readonly Seed[]> | undefined;

function samples(): ReadonlyMap<FileFormat, readonly Seed[]> {
  if (known) return known;
  const found = new Map<FileFormat, Seed[]>();
  const add = (format: FileFormat, seed: Seed): void => {
    if (seed.bytes.length > 0) found.set(format, [...(found.get(format) ?? []), seed]);
  };
  for (const { file, read } of sampleFiles()) {
    const bytes = read();
    const format = detectFileType(bytes.subarray(0, DETECTION_BYTES), file, null)?.format;
    if (!format) continue;
    add(format, { name: file, bytes: isText(format) ? bytes.subarray(0, MAX_BYTES) : bytes });
    for (const seed of picturesIn(file, bytes)) add(seed.format, seed);
  }
  known = found;
  return found;
}

function picturesIn(file: string, bytes: Uint8Array): readonly (Seed & { readonly format: FileFormat })[] {
  if (!Buffer.from(bytes.subarray(0, 2)).equals(Buffer.from('PK'))) return [];
  const formatNamed = (name: string) => formatByExtension(name.split('.').at(-1) ?? '');
  try {
    const isRead = (format: FileFormat | undefined): boolean => format !== undefined && isPicture(format);
    const members = unzipSync(bytes, { filter: ({ name }) => isRead(formatNamed(name)) });
    return Object.entries(members).flatMap(([name, picture]) => {
      const format = formatNamed(name);
      return format ? [{ name: `${file}:${name}`, bytes: picture, format }] : [];
    });
  } catch {
    // Some samples are damaged on purpose.
    return [];
  }
}
