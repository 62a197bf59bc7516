import type { DataState } from '../ports.js';
import { keys } from '../redis/keys.js';

/**
 * Tells whether the candidates of a search are of the present state of the data. An index need not ask Redis for that
 * before it answers: the step that reads the hits finds it out, without a round trip of its own.
 */
export interface Confirmation {
  /** The function for the index; undefined once candidates were outdated, since the next ones are to be certain. */
  readonly onUnconfirmed: ((state: DataState) => void) | undefined;
  /** The state to compare with the present one; null when nothing is left to be confirmed. */
  readonly state: DataState | null;
  confirm(): void;
  /** Makes the next candidates be certain. */
  giveUp(): void;
}

/** Candidates were found in data that is not the present one, so that others may be missing among them. */
export class OutdatedError extends Error {
  override readonly name = 'OutdatedError';
}

export function createConfirmation(): Confirmation {
  let state: DataState | null = null;
  let note: Confirmation['onUnconfirmed'] = (of) => {
    state = of;
  };
  return {
    get onUnconfirmed() {
      return note;
    },
    get state() {
      return state;
    },
    confirm: () => {
      state = null;
    },
    giveUp: () => {
      state = null;
      note = undefined;
    },
  };
}

/** The keys, and the arguments for `isPresent`, of a state. */
export const STATE_KEYS = [keys.epoch, keys.sequence];
export const stateArguments = (state: DataState | null): readonly [string, string, string] =>
  state ? [`run_id:${state.server}`, state.epoch, String(state.sequence)] : ['', '', ''];

/**
 * A Lua function that tells whether a state is the present one. The server process is compared, too, because a server that
 * lost its last changes may have seen as many others since.
 */
export const IS_PRESENT = `
local function is_present(epoch_key, sequence_key, run_id, epoch, sequence)
  local seen = redis.call('MGET', epoch_key, sequence_key)
  if seen[1] ~= epoch or (seen[2] or '0') ~= sequence then return false end
  local server = redis.pcall('INFO', 'server')
  return type(server) == 'string' and string.find(server, run_id, 1, true) ~= nil
end`;
