import {
  entityIdOf,
  PERMISSIONS,
  signAccessToken,
  TOKEN_TYPES,
  type Permission,
  type TokenType,
} from '../shared/access/access-token.js';
import { loadSettings, type Environment, type Settings } from '../shared/settings/load.js';
import { loadOrCreateSecret } from '../shared/settings/secret.js';
import { audited } from './audited.js';
import { askRunningService } from './locks.js';
import { UserError } from './user-messages.js';

export interface TokenRequest {
  readonly name: string;
  readonly days: string;
  readonly permissions: string;
  readonly type: string;
}

function parsePermissions(text: string): Permission[] {
  const names = text.split(',').map((name) => name.trim());
  const known = PERMISSIONS.filter((permission) => names.includes(permission));
  if (known.length === new Set(names).size) return known;
  throw new UserError(
    `--permissions ${text}: allowed: some of ${PERMISSIONS.join(',')}, separated by commas`,
  );
}

function parseDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= 3650) return days;
  throw new UserError(`--days ${text}: allowed: a whole number from 1 to 3650`);
}

function parseType(text: string): TokenType {
  const type = TOKEN_TYPES.find((known) => known === text);
  if (type !== undefined) return type;
  throw new UserError(`--type ${text}: allowed: ${TOKEN_TYPES.join(' or ')}`);
}

/**
 * Loads the settings with a secret.
 * @throws UserError where a service runs whose secret this process does not know: a token of another would fit nothing
 */
async function settingsWithSecret(env: Environment): Promise<Settings> {
  const { jwtSecretKey, dataDirectory } = loadSettings(env);
  const running = jwtSecretKey === null ? await askRunningService(dataDirectory) : null;
  if (!running?.hasOwnSecret) return loadSettings(env, ['secret']);
  throw new UserError(
    `The service that runs with the data folder ${dataDirectory} was started with JWT_SECRET_KEY, which is not set here: no token that is made here would fit. Set JWT_SECRET_KEY to the same value in this terminal.`,
  );
}

/**
 * Makes an access token from the secret alone; no server has to run.
 * @throws UserError, SettingsError
 */
export async function makeToken(request: TokenRequest, env: Environment): Promise<string> {
  const entityId = entityIdOf(request.name);
  if (entityId === null) throw new UserError(`--name ${request.name}: allowed: 1 to 64 of a-z 0-9 . _ -`);
  const claims = {
    entityId,
    days: parseDays(request.days),
    permissions: parsePermissions(request.permissions),
    type: parseType(request.type),
  };
  const settings = await settingsWithSecret(env);
  const sign = async () => {
    const secret = settings.jwtSecretKey ?? (await loadOrCreateSecret(settings.dataDirectory));
    return signAccessToken(secret, claims);
  };
  return audited('command.token', settings, sign, { user: entityId });
}
