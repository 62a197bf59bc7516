import { IncompatibleDataError, UnavailableError } from '../shared/errors.js';
import { toUnavailable } from '../shared/redis/client.js';
import { SettingsError } from '../shared/settings/rule.js';
import { UserError } from './user-messages.js';

/**
 * Returns the sentence that tells a user of an error; null for an error that nobody could solve by the settings or at
 * another place or time.
 */
export function sentenceOf(error: unknown): string | null {
  const known = toUnavailable(error);
  if (known instanceof UnavailableError) {
    const reason = known.cause instanceof Error ? `: ${known.cause.message}` : '';
    return `${known.message}${reason}`;
  }
  const isKnown = [UserError, SettingsError, IncompatibleDataError].some((each) => known instanceof each);
  return isKnown && known instanceof Error ? known.message : null;
}
