import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { SampleDocument } from './sample.js';
import type { Conversion, Source } from './sources.js';

const WRITERS = fileURLToPath(new URL('writers/write.py', import.meta.url));
const PYTHON = process.env['QUIRE_TEST_PYTHON'] ?? 'python3';
const OFFICE = process.env['QUIRE_TEST_SOFFICE'] ?? 'soffice';
const MAX_MILLISECONDS = 600_000;
/** The exit code of `writers/write.py` where a library is absent. */
const LIBRARY_IS_ABSENT = 3;

const answers = z.object({ lost: z.string() });

export interface WrittenSample {
  readonly path: string;
  /** Characters that the encoding of the file does not have. */
  readonly lost: string;
}

/** A package that a source needs is not installed. */
export class AbsentError extends Error {}

/**
 * Writes a file for each document, in a folder for the source.
 * @throws AbsentError where Python, a library or LibreOffice is absent
 */
export async function writeSamples(
  source: Source,
  documents: readonly SampleDocument[],
  folder: string,
): Promise<WrittenSample[]> {
  const steps = [source.extension, ...(source.conversions ?? []).map(({ extension }) => extension)];
  const folders = steps.map((extension, index) => join(folder, `${String(index)}-${extension}`));
  for (const each of folders) mkdirSync(each, { recursive: true });
  const named = (index: number, step: number): string =>
    join(folders[step] ?? folder, `sample-${String(index + 1)}.${steps[step] ?? ''}`);
  const lines = documents.map((document, index) => JSON.stringify({ path: named(index, 0), document }));
  const written = await run(PYTHON, [WRITERS, source.writer], `${lines.join('\n')}\n`);
  const lost = written
    .trim()
    .split('\n')
    .map((line) => answers.parse(JSON.parse(line)).lost);
  for (const [step, conversion] of (source.conversions ?? []).entries())
    await convert(
      documents.map((_, index) => named(index, step)),
      conversion,
      {
        into: folders[step + 1] ?? folder,
        profile: join(folder, 'profile'),
      },
    );
  return documents.map((_, index) => ({ path: named(index, steps.length - 1), lost: lost[index] ?? '' }));
}

/** Converts files with LibreOffice, whose profile is one of its own, so that no other run is met. */
async function convert(
  files: readonly string[],
  { extension, filter }: Conversion,
  { into, profile }: { readonly into: string; readonly profile: string },
): Promise<void> {
  const options = ['--headless', '--norestore', `-env:UserInstallation=file://${profile}`];
  await run(OFFICE, [...options, '--convert-to', filter, '--outdir', into, ...files], '');
  const missing = files.filter(
    (file) => !existsSync(join(into, basename(file).replace(/\.[^.]+$/, `.${extension}`))),
  );
  if (missing.length > 0) throw new Error(`LibreOffice made no ${extension} of ${missing.join(', ')}`);
}

async function run(command: string, args: readonly string[], input: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const options = { timeout: MAX_MILLISECONDS, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(command, args, options, (error, output, complaints) => {
      if (error === null) resolve(output);
      else if (error.code === 'ENOENT') reject(new AbsentError(`${command} is not installed`));
      else if (error.code === LIBRARY_IS_ABSENT) reject(new AbsentError(complaints.trim()));
      else reject(new Error(`${command} ${args[1] ?? ''}: ${complaints.slice(-2_000)}`, { cause: error }));
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
