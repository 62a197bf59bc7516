import './pdf-globals.js';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { z } from 'zod';
import type { Rectangle } from '../../../blocks/location.js';
import type { CarriedFile } from '../../../receipt/attachment-keeper.js';
import type { ReadError } from '../../../read-error.js';
import { around } from '../../pages/layout/piece.js';
import { characters, type DrawnCharacters } from '../fontless/drawn-characters.js';
import type { Operators } from '../fontless/text-walk.js';
import { extrasOf, listedFiles, type PageExtras } from '../carried/annotations.js';
import { passwordNeeded, pdfFailure, unknownEncryption } from '../failures.js';
import { isMisread, repairMisread } from '../judging/misread-text.js';
import { signsOfPage, type PageSign, type SignPage } from '../marks/page-signs.js';
import { placedTexts, supplementaryTexts, type PlacedText } from '../marks/placed-texts.js';
import type { ShiftedText } from '../shifted/shifted-text.js';
import { textOfPage, type TextPage } from './page-text.js';
import { columnPartsOn } from '../vertical/column-parts.js';
import { findColumns, type TextColumn } from '../vertical/find-columns.js';
import { shiftedOnPage, writeShiftedOn } from '../shifted/shifted-on-page.js';

const require = createRequire(import.meta.url);
const description = require.resolve('pdfjs-dist/package.json');
const resources = dirname(description);

export interface DocumentInfo {
  readonly title: string | undefined;
  readonly language: string | undefined;
  /** True if some of its layers may be off as it is opened. */
  readonly mayHideLayers: boolean;
}

/** A text that was typed onto a page. */
export interface TypedNote {
  /** The contents of the annotation as it states them. */
  readonly contents: string;
  /** The lines that its appearance shows; null where that has no text, undefined where the annotation is not shown. */
  readonly shown: readonly string[] | null | undefined;
}

/** A document as pdf.js reads it: slower than PDFium, and without boxes, but a hostile file cannot crash it. */
export interface PdfjsDocument {
  readonly pages: number;
  /** The text of a page, numbered from 1. @throws when it cannot be read */
  readonly pageText: (page: number) => Promise<string>;
  /** The number of the object of a page. @throws when it cannot be read */
  readonly pageObject: (page: number) => Promise<number | undefined>;
  /** The raised and lowered texts of a page. @throws when they cannot be read */
  readonly pageShifted: (page: number) => Promise<readonly ShiftedText[]>;
  /** The columns of a page whose text runs from top to bottom. @throws when they cannot be read */
  readonly pageColumns: (page: number) => Promise<readonly TextColumn[]>;
  /** Texts that were typed onto a page as annotations. @throws when they cannot be read */
  readonly pageNotes: (page: number) => Promise<readonly TypedNote[]>;
  /** The numbers of the annotations of a page that are not shown, fields of forms among them. @throws when they cannot be read */
  readonly hiddenAnnotations: (page: number) => Promise<ReadonlySet<number>>;
  /** Returns the texts of a page in symbol fonts. @throws when it cannot be read */
  readonly pageSigns: (page: number) => Promise<readonly PageSign[]>;
  /** The texts of a page with characters beyond U+FFFF. @throws when it cannot be read */
  readonly pageSupplementary: (page: number) => Promise<readonly PlacedText[]>;
  /**
   * The characters of a page that PDFium may leave out, since their font is not in the file.
   * @param known the texts that PDFium gives
   * @throws when it cannot be read
   */
  readonly pageFontless: (page: number, known: readonly string[]) => Promise<DrawnCharacters>;
  /** Returns the notes and files that people stuck onto a page. @throws when it cannot be read */
  readonly pageExtras: (page: number) => Promise<PageExtras>;
  /** The files that the document carries. @throws when they cannot be read */
  readonly files: () => Promise<readonly CarriedFile[]>;
  /** Tells whether a page switches to invisible text, however its operators are packed. @throws when it cannot be read */
  readonly isPartlyInvisible: (page: number) => Promise<boolean>;
  /** Reads the facts that the file states about itself; nothing where they are damaged. */
  readonly info: () => Promise<DocumentInfo>;
  readonly close: () => Promise<void>;
}

/** @throws ReadError when the file can never be read */
export async function openPdfjs(bytes: Uint8Array): Promise<PdfjsDocument> {
  // pdf.js takes the memory of the bytes that it is given, which other readers still need.
  const loading = getDocument({
    data: new Uint8Array(bytes),
    verbosity: VerbosityLevel.ERRORS,
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    isOffscreenCanvasSupported: false,
    cMapUrl: join(resources, 'cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: join(resources, 'standard_fonts/'),
    wasmUrl: join(resources, 'wasm/'),
  });
  const opened: unknown = await loading.promise.catch(async (error: unknown) => {
    await loading.destroy();
    throw openFailure(error);
  });
  // @NOTE Its types say less of annotations and operators than is read here.
  const pdf = opened as Opened;
  return {
    ...placedReaders(pdf),
    pages: pdf.numPages,
    pageText: async (page) => await pageText(await pdf.getPage(page)),
    pageObject: async (page) => (await pdf.getPage(page)).ref?.num,
    pageShifted: async (page) => await shiftedOnPage(await pdf.getPage(page)),
    pageColumns: async (page) => findColumns(await columnPartsOn(await pdf.getPage(page))),
    pageNotes: async (page) => notesSchema.parse(await annotationsOf(await pdf.getPage(page))),
    hiddenAnnotations: async (page) => hiddenSchema.parse(await annotationsOf(await pdf.getPage(page))),
    pageSigns: async (page) => signsOfPage(await pdf.getPage(page)),
    pageExtras: async (page) => {
      const loaded = await pdf.getPage(page);
      const toBox = (rectangle: readonly number[]) => boxOn(loaded, rectangle);
      return extrasOf(z.array(z.unknown()).parse(await annotationsOf(loaded)), toBox);
    },
    files: async () => listedFiles(await pdf.getAttachments()),
    isPartlyInvisible: async (page) => isInvisible(await (await pdf.getPage(page)).getOperatorList()),
    info: () => infoOf(pdf),
    close: () => loading.destroy(),
  };
}

/** Reads the texts of pages that PDFium may leave out, from the places of all their texts. */
function placedReaders(pdf: Opened): Pick<PdfjsDocument, 'pageSupplementary' | 'pageFontless'> {
  const lastTexts = keepLast(placedTexts);
  return {
    pageSupplementary: async (page) => supplementaryTexts(await lastTexts(await pdf.getPage(page))),
    pageFontless: async (number, known) => {
      const page = await pdf.getPage(number);
      const layers = await pdf.getOptionalContentConfig();
      const isVisible = (layer: unknown) => layers.isVisible(layer);
      return await characters(page, { texts: await lastTexts(page), known, isVisible });
    },
  };
}

/** Results that are kept: those of a batch of pages, which are looked through several times. */
const MAX_KEPT = 30;

/** The same function, which keeps its last results. */
function keepLast<Key, Value>(make: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const kept = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = kept.get(key) ?? make(key);
    kept.set(key, value);
    for (const first of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(first);
    return value;
  };
}

/** The version of pdf.js. */
export function pdfjsVersion(): string {
  return z.object({ version: z.string() }).parse(require(description)).version;
}

async function pageText(page: Page): Promise<string> {
  // pdf.js keeps its pages, so that a page has the text written on it the next time.
  writeShiftedOn(page);
  try {
    const text = await textOfPage(page);
    if (!isMisread(text)) return text;
    return repairMisread(await textOfPage(page, { disableNormalization: true })) ?? text;
  } finally {
    page.cleanup();
  }
}

interface Layers {
  /** The layers of the file, by their ids. */
  [Symbol.iterator](): Iterator<readonly [string, { readonly visible: boolean }]>;
  isVisible(layer: unknown): boolean;
}

/** A document of pdf.js. */
interface Opened {
  readonly numPages: number;
  getMetadata(): Promise<{ readonly info: unknown }>;
  getPage(page: number): Promise<Page>;
  getOptionalContentConfig(): Promise<Layers>;
  getAttachments(): Promise<unknown>;
}

interface Page extends SignPage {
  /** Frees the memory of the page's content. */
  cleanup(): void;
  readonly ref?: { readonly num: number } | null;
  getAnnotations(options: { intent: 'any' }): Promise<unknown>;
  getOperatorList(): Promise<Operators>;
}

const hiddenSchema = z.array(z.unknown()).transform(
  (annotations) =>
    new Set(
      annotations.flatMap((annotation) => {
        const { data } = hiddenAnnotationSchema.safeParse(annotation);
        return data && (data.annotationFlags & NOT_SHOWN) !== 0 ? [Number.parseInt(data.id, 10)] : [];
      }),
    ),
);
/** Its id is the number of its object, such as `12R`. */
const hiddenAnnotationSchema = z.object({ id: z.string(), annotationFlags: z.number() });

const annotationsOf = (page: Page): Promise<unknown> => page.getAnnotations({ intent: 'any' });

/** Flags of annotations that are not shown on screens: invisible, hidden and no view (ISO 32000-1, 12.5.3). */
const NOT_SHOWN = 1 | 2 | 32;
const annotationSchema = z.object({
  subtype: z.string(),
  annotationFlags: z.number(),
  contentsObj: z.object({ str: z.string() }),
  textContent: z.array(z.string()).nullish(),
});
const notesSchema = z.array(z.unknown()).transform((annotations) =>
  annotations.flatMap((annotation): TypedNote[] => {
    const { data } = annotationSchema.safeParse(annotation);
    if (data?.subtype !== 'FreeText') return [];
    const isShown = (data.annotationFlags & NOT_SHOWN) === 0;
    return [{ contents: data.contentsObj.str, shown: isShown ? (data.textContent ?? null) : undefined }];
  }),
);

/** The number of the operator `Tr` in pdf.js, and the modes in which it shows nothing. */
const SET_RENDERING_MODE = 38;
const INVISIBLE: readonly unknown[] = [3, 7];

const isInvisible = ({ fnArray, argsArray }: Operators): boolean =>
  fnArray.some((operator, at) => {
    const given = operator === SET_RENDERING_MODE ? argsArray[at] : undefined;
    return Array.isArray(given) && INVISIBLE.includes(given[0]);
  });

/** Returns the rectangle on a page as it is shown, in points from its top left, for a rectangle of the file. */
function boxOn(page: TextPage, [left = 0, bottom = 0, right = 0, top = 0]: readonly number[]): Rectangle {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = page.getViewport({ scale: 1 }).transform;
  const corners = [[left, bottom] as const, [right, top] as const];
  return around(
    corners.map(([x, y]) => ({ x: a * x + c * y + e, y: b * x + d * y + f, width: 0, height: 0 })),
  );
}

function openFailure(error: unknown): ReadError {
  if (error instanceof Error && error.name === 'PasswordException') return passwordNeeded(error);
  if (error instanceof Error && /^(?:unknown|unsupported) encryption/i.test(error.message))
    return unknownEncryption(error);
  return pdfFailure(error);
}

const infoSchema = z.looseObject({
  Title: z.string().optional().catch(undefined),
  Language: z.string().optional().catch(undefined),
});

async function infoOf(pdf: Opened): Promise<DocumentInfo> {
  const mayHideLayers = await hidesLayers(pdf).catch(() => true);
  try {
    const { Title: title, Language: language } = infoSchema.parse((await pdf.getMetadata()).info);
    return { title, language, mayHideLayers };
  } catch {
    return { title: undefined, language: undefined, mayHideLayers };
  }
}

async function hidesLayers(pdf: Opened): Promise<boolean> {
  const layers = await pdf.getOptionalContentConfig();
  return [...layers].some(([, { visible }]) => !visible);
}
