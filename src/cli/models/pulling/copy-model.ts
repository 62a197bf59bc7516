import { copyFile, stat } from 'node:fs/promises';
import { constants, createReadStream } from 'node:fs';
import { dirname } from 'node:path';
import { systemErrorCode } from '../../../shared/system-error-code.js';
import { UserError } from '../../user-messages.js';
import { assertRoom } from './disk-room.js';
import type { Draft } from './drafts.js';

export interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Copies a file of this machine into a draft; where the file system can, the two share their blocks until one is changed.
 * Never a link: later changes of the file must not change the model.
 * @throws UserError
 */
export async function copyModel(path: string, draft: Draft, options: CopyOptions): Promise<void> {
  const size = await sizeOfFile(path);
  await draft.remove();
  if (await cloneFile(path, draft.path)) return;
  await assertRoom(dirname(draft.path), size);
  const handle = await draft.openToAppend();
  try {
    let done = 0;
    for await (const part of createReadStream(path, { highWaterMark: 1024 ** 2, signal: options.signal })) {
      // @NOTE a stream without an encoding yields buffers, which its type does not say
      const bytes = part as Buffer;
      await handle.appendFile(bytes);
      done += bytes.length;
      options.onProgress(done, size);
    }
  } finally {
    await handle.close();
  }
}

async function sizeOfFile(path: string): Promise<number> {
  try {
    const status = await stat(path);
    if (status.isFile()) return status.size;
    throw new UserError(`${path} is no file.`);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    throw new UserError(
      `There is no file ${path}. Models of Hugging Face are named like this: hf:user/repo:file.gguf`,
    );
  }
}

/** @returns false where the file system cannot let two files share their blocks */
async function cloneFile(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    const cannot = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM'];
    if (cannot.includes(systemErrorCode(error) ?? '')) return false;
    throw error;
  }
}
