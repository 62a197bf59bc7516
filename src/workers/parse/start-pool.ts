import { chooseLaunch, type ConfinementLogger } from './confinement/choose-launch.js';
import type { User } from './confinement/start-confined.js';
import { createParserPool, type ParserPool, type ParserPoolOptions } from './pool.js';
import { openWorkspace } from './confinement/workspace.js';

interface StartOptions extends Omit<ParserPoolOptions, 'launch' | 'workspace' | 'logger'> {
  /** The user that parsers run as when this process is root. */
  readonly user: User;
  readonly logger?: ConfinementLogger | undefined;
}

/** Starts a pool of parsers with its own workspace. They are confined as strictly as this machine allows. */
export async function startParserPool({ user, ...options }: StartOptions): Promise<ParserPool> {
  const { logger } = options;
  const workspace = await openWorkspace({ logger });
  const launch = await chooseLaunch({ user, workspace, logger });
  const pool = createParserPool({ ...options, launch, workspace });
  return {
    ...pool,
    async close() {
      await pool.close();
      await workspace.close();
    },
  };
}
