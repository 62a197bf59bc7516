import { keys } from '../redis/keys.js';

/**
 * The revision of the sharing lists that a search was made by. The step that reads its hits compares it with the present
 * one, so that a search need not ask for it first; see `confirmation.ts`, which does the same for the data.
 */
export interface SharingGuard {
  readonly key: string;
  readonly revision: string;
  readonly isConfirmed: boolean;
  confirm(): void;
}

/** The caller has other lists by now. */
export class SharingChangedError extends Error {
  override readonly name = 'SharingChangedError';
}

export function createGuard(callerId: string, revision: string): SharingGuard {
  let isConfirmed = false;
  return {
    key: keys.sharing(callerId),
    revision,
    get isConfirmed() {
      return isConfirmed;
    },
    confirm: () => {
      isConfirmed = true;
    },
  };
}

/** The key and the argument for `isSameSharing`; without a guard, some key that is not read. */
export const guardKey = (guard: SharingGuard | null): string => guard?.key ?? keys.epoch;
export const guardArgument = (guard: SharingGuard | null): string => (guard ? `=${guard.revision}` : '');

/** A Lua function that tells whether the lists of a caller are still in the state that a search was made by. */
export const IS_SAME_SHARING = `
local function is_same_sharing(key, revision)
  return revision == '' or '=' .. (redis.call('HGET', key, 'revision') or '') == revision
end`;
