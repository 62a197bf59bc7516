import { stat } from 'node:fs/promises';
import { DamagedModelError, readModelHeader } from '../../../shared/local-models/model-header.js';
import { UserError } from '../../user-messages.js';
import { copyModel } from './copy-model.js';
import { assertRoom } from './disk-room.js';
import { download } from './download.js';
import { draftOf, type Announced, type Draft } from './drafts.js';
import { hashFile } from './hash-file.js';
import type { ModelSource, RemoteSource } from './model-source.js';
import { showProgress, type ProgressOutput } from './show-progress.js';

export interface BringOptions {
  readonly signal: AbortSignal;
  readonly output: ProgressOutput;
  /** The time for which a server may send nothing; 30 seconds by default. */
  readonly patienceMs?: number;
  /** The pause before a broken connection is opened again; a second, and more each time. */
  readonly pauseMs?: number;
}

export interface Target {
  readonly directory: string;
  /** The hash that the file must have, in hexadecimal digits; null where the user does not say. */
  readonly sha256: string | null;
}

/**
 * Brings a model into the folder: into a draft, which gets the name of the model when it has been checked.
 * @throws UserError, TransferError
 */
export async function bringModel(source: ModelSource, target: Target, options: BringOptions): Promise<void> {
  const draft = draftOf(target.directory, source.name);
  const shown = showProgress(options.output);
  try {
    if ('path' in source) {
      await copyModel(source.path, draft, { signal: options.signal, onProgress: shown.show });
      await checkHash(draft, target.sha256, () => hashFile(draft.path, options.signal));
    } else {
      const fetched = await fetchModel(source.remote, { draft, target, onProgress: shown.show }, options);
      await checkHash(draft, target.sha256 ?? fetched.announced.sha256, () => fetched.sha256);
    }
  } finally {
    shown.end();
  }
  await checkModel(draft, source.name);
  await draft.publish();
}

interface Fetching {
  readonly draft: Draft;
  readonly target: Target;
  readonly onProgress: (done: number, total: number) => void;
}

function fetchModel(remote: RemoteSource, { draft, target, onProgress }: Fetching, options: BringOptions) {
  return download(remote, draft, {
    signal: options.signal,
    patienceMs: options.patienceMs ?? 30_000,
    pauseMs: options.pauseMs ?? 1_000,
    onProgress,
    onAnnounced: async (announced, done) => {
      checkAnnounced(announced, target);
      await assertRoom(target.directory, announced.size - done);
    },
  });
}

/** @throws UserError when the source has another file than was asked for */
export function checkAnnounced({ sha256 }: Announced, { sha256: wanted }: Target): void {
  if (wanted !== null && sha256 !== null && sha256 !== wanted)
    throw new UserError(`The source has a file of another SHA-256: ${sha256}`);
}

async function checkHash(
  draft: Draft,
  wanted: string | null,
  hash: () => string | Promise<string>,
): Promise<void> {
  if (wanted === null) return;
  const actual = await hash();
  if (actual === wanted) return;
  await draft.remove();
  throw new UserError(
    `What came is not the file: its SHA-256 is ${actual} instead of ${wanted}. It was removed.`,
  );
}

async function checkModel(draft: Draft, name: string): Promise<void> {
  try {
    await readModelHeader({ name, path: draft.path, status: await stat(draft.path) });
  } catch (error) {
    if (!(error instanceof DamagedModelError)) throw error;
    await draft.remove();
    throw new UserError(`What came ${error.message}. It was removed.`, { cause: error });
  }
}
