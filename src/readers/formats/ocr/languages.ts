import { existsSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const require = createRequire(import.meta.url);
const unpack = promisify(gunzip);
/** The folders of a data package, the more exact data first. */
const VARIANTS = ['4.0.0_best_int', '4.0.0'];
/** The languages whose data is built in (scripts/build-assets.mjs): it lies beside this file. */
const BUILT_IN: readonly string[] = ['eng'];
const MAX_DATA_BYTES = 256 * 1024 * 1024;

export interface LanguageData {
  /** The languages whose data is there, as Tesseract wants them, such as `eng+deu`; empty for none. */
  readonly language: string;
  readonly folder: string;
  /** The languages whose packages are not installed. */
  readonly missing: readonly string[];
}

let folder: Promise<string> | undefined;
const unpacked = new Map<string, Promise<boolean>>();

/** Returns the languages without data, neither in the build nor in an installed package. */
export function missingLanguages(languages: readonly string[]): string[] {
  return languages.filter(
    (language) => !dataFolders(language).some((folder) => existsSync(join(folder, packedName(language)))),
  );
}

/** Unpacks the data of these languages from their npm packages, once in this process. Nothing is downloaded. */
export async function prepareLanguages(languages: readonly string[]): Promise<LanguageData> {
  folder ??= mkdtemp(join(tmpdir(), 'quire-tessdata-'));
  const path = await folder;
  const found: string[] = [];
  const missing: string[] = [];
  for (const language of new Set(languages)) {
    const done = unpacked.get(language) ?? unpackLanguage(language, path);
    unpacked.set(language, done);
    ((await done) ? found : missing).push(language);
  }
  return { language: found.join('+'), folder: path, missing };
}

/** @returns whether there is data of the language */
async function unpackLanguage(language: string, path: string): Promise<boolean> {
  for (const folder of dataFolders(language)) {
    const packed = await readFile(join(folder, packedName(language))).catch(() => undefined);
    if (!packed) continue;
    await writeFile(
      join(path, `${language}.traineddata`),
      await unpack(packed, { maxOutputLength: MAX_DATA_BYTES }),
    );
    return true;
  }
  return false;
}

const packedName = (language: string): string => `${language}.traineddata.gz`;

/**
 * Returns the folders where data of a language may lie, the best first; none for a language that is neither built in nor
 * installed.
 */
function dataFolders(language: string): readonly string[] {
  if (!/^[A-Za-z_]{2,24}$/.test(language)) return [];
  const builtIn = BUILT_IN.includes(language) ? [import.meta.dirname] : [];
  try {
    const root = dirname(require.resolve(`@tesseract.js-data/${language}/package.json`));
    return builtIn.concat(VARIANTS.map((variant) => join(root, variant)));
  } catch {
    return builtIn;
  }
}

interface WarningLogger {
  readonly warn: (fields: { readonly missing: readonly string[] }, message: string) => void;
}

/** Names the languages of text recognition whose data is not installed, once, before any file is read. */
export function warnOfMissingLanguages(languages: readonly string[], logger: WarningLogger): void {
  const missing = missingLanguages(languages);
  if (missing.length === 0) return;
  const packages = missing.map((language) => `@tesseract.js-data/${language}`).join(' ');
  logger.warn({ missing }, `text recognition has no data of some languages: npm install ${packages}`);
}
