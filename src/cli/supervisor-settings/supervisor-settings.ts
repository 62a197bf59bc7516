import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isPlainObject } from '../../shared/json-values.js';
import type { Environment } from '../executables.js';
import { UserError } from '../user-messages.js';

export interface SupervisorSettings {
  /** Empty for a Redis of our own. */
  readonly redisUrl: string;
  readonly dataDirectory: string;
  readonly host: string;
  readonly port: number;
  readonly drainSeconds: number;
  readonly devMode: boolean;
  /** True if `JWT_SECRET_KEY` is set. */
  readonly hasOwnSecret: boolean;
  /** True if a model makes the vectors. */
  readonly usesModel: boolean;
  /** Null where no setting names a local model. */
  readonly models: { readonly token: string } | null;
}

export type SettingsAnswer = { readonly settings: SupervisorSettings } | { readonly wrong: string };

/**
 * Reads the settings in a process of its own: their schemas take twenty megabytes, which the supervisor would keep for as
 * long as the service runs.
 * @throws UserError that names every problem
 */
export async function readSupervisorSettings(env: Environment): Promise<SupervisorSettings> {
  const path = fileURLToPath(new URL('./main.js', import.meta.url));
  const child = fork(path, [], { env: { ...env }, stdio: ['ignore', 1, 2, 'ipc'] });
  const messages: readonly unknown[] = await Promise.race([once(child, 'message'), untilSilent(child)]);
  const [answer] = messages;
  if (!isAnswer(answer)) throw new TypeError('the process of settings gave no answer');
  if ('wrong' in answer) throw new UserError(answer.wrong);
  return answer.settings;
}

/** The process is our own code: it is enough to know which of the two answers it gives. */
const isAnswer = (message: unknown): message is SettingsAnswer =>
  isPlainObject(message) && ('settings' in message || 'wrong' in message);

/** A process that fails says why on stderr. */
async function untilSilent(child: ReturnType<typeof fork>): Promise<never> {
  await once(child, 'disconnect');
  throw new UserError('The settings could not be read.');
}
