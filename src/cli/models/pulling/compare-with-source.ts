import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { say, UserError } from '../../user-messages.js';
import { checkAnnounced, type BringOptions, type Target } from './bring-model.js';
import { hashFile } from './hash-file.js';
import type { ModelSource, RemoteSource } from './model-source.js';
import { openRemote } from './open-remote.js';
import { TransferError } from './transfer-error.js';

/**
 * Makes sure that the existing file of that name is the requested one.
 * @throws UserError when it is another one
 */
export async function compareWithSource(
  source: ModelSource,
  target: Target,
  { signal, patienceMs = 30_000 }: BringOptions,
): Promise<void> {
  const path = join(target.directory, source.name);
  const wanted =
    'path' in source
      ? { size: (await stat(source.path)).size, sha256: await hashFile(source.path, signal) }
      : await ask(source.remote, target, { signal, patienceMs });
  const { size } = await stat(path);
  const sha256 = target.sha256 ?? wanted?.sha256 ?? null;
  const isSame =
    (wanted === null || wanted.size === size) &&
    (sha256 === null || (await hashFile(path, signal)) === sha256);
  if (isSame) return;
  throw new UserError(
    `Another file of the name ${source.name} is there. Run npx quire models remove ${source.name} first, or give this one another name with --as.`,
  );
}

/** Asks the source for the facts about its file; null when it cannot be reached. */
async function ask(
  remote: RemoteSource,
  target: Target,
  { signal, patienceMs }: { readonly signal: AbortSignal; readonly patienceMs: number },
) {
  // Aborted at the end in any case, since nobody reads the body.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TransferError('the source is silent')), patienceMs);
  try {
    const opened = await openRemote(remote, 0, AbortSignal.any([signal, controller.signal]));
    if (!opened) return null;
    checkAnnounced(opened.announced, target);
    return opened.announced;
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    say(`${error.message}: what is there was not compared with it.`);
    return null;
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
