import { open, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isModelName } from '../../../shared/local-models/model-files.js';
import { onMissing } from '../../../shared/system-error-code.js';

const announcedSchema = z.object({
  /** The key of the file's address. */
  key: z.string(),
  /** Differs when the server has another file; null where the server says nothing to tell them apart by. */
  version: z.string().nullable(),
  /** In bytes. */
  size: z.int().positive(),
  /** In hexadecimal digits; null where the source does not tell it. */
  sha256: z.string().nullable(),
});
/** The facts about a file that a source announces before it sends it. */
export type Announced = z.infer<typeof announcedSchema>;

/** The part of a model file that was pulled so far. Drafts are hidden files, so that nobody takes them for models. */
export interface Draft {
  readonly path: string;
  /** Returns the announced facts of the draft; null where nothing is known of it. */
  announced(): Promise<Announced | null>;
  size(): Promise<number>;
  /** Empties it for another file. */
  begin(announced: Announced): Promise<void>;
  openToAppend(): Promise<FileHandle>;
  /** Gives it its name, once it is safe on the disk. */
  publish(): Promise<void>;
  remove(): Promise<void>;
}

const PART = '.part';
const NOTE = '.part.json';

export function draftOf(directory: string, name: string): Draft {
  const path = join(directory, `.${name}${PART}`);
  const note = join(directory, `.${name}${NOTE}`);
  return {
    path,
    announced: () => readNote(note),
    size: async () => (await sizeOf(path)) ?? 0,
    begin: async (announced) => {
      // A note without its part is a beginning; a part with the note of another file would be a wrong one.
      await rm(path, { force: true });
      await writeFile(note, JSON.stringify(announced), { mode: 0o600 });
    },
    openToAppend: () =>
      open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW, 0o644),
    publish: async () => {
      await sync(path);
      await rename(path, join(directory, name));
      await sync(directory);
      await rm(note, { force: true });
    },
    remove: async () => {
      await rm(path, { force: true });
      await rm(note, { force: true });
    },
  };
}

/** Lists the names of models of which a part is there, with the known facts of each. */
export async function listDrafts(
  directory: string,
): Promise<{ name: string; size: number; announced: Announced | null }[]> {
  const names = (await readdir(directory).catch(onMissing([])))
    .filter((file) => file.startsWith('.') && file.endsWith(PART))
    .map((file) => file.slice(1, -PART.length))
    .filter(isModelName)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const draft = draftOf(directory, name);
      return { name, size: await draft.size(), announced: await draft.announced() };
    }),
  );
}

async function readNote(path: string): Promise<Announced | null> {
  const text = await readFile(path, 'utf8').catch(onMissing(null));
  if (text === null) return null;
  try {
    return announcedSchema.parse(JSON.parse(text));
  } catch (error) {
    // Written by a process that was killed meanwhile.
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

const sizeOf = (path: string): Promise<number | null> => stat(path).then(({ size }) => size, onMissing(null));

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
