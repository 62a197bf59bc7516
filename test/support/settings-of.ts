import { readSettings, type Environment, type Settings } from '../../src/shared/settings/load.js';
import { SettingsError } from '../../src/shared/settings/rule.js';

/** The settings of an environment without a file. @throws SettingsError when some are wrong */
export function settingsOf(env: Environment): Settings {
  const result = readSettings({ env, toml: null });
  if ('problems' in result) throw new SettingsError(result.problems);
  return result.settings;
}
