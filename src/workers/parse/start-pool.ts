import { chooseLaunch, type ConfinementLogger } from './confinement/choose-launch.js';
import type { User } from './confinement/start-confined.js';
import { createParserPool, type ParserPool, type ParserPoolOptions } from './pool.js';
import { openWorkspace } from './confinement/workspace.js';

interface StartOptions extends Omit<ParserPoolOptions, 'launch' | 'workspace' | 'logger'> {
  /** Whom parsers run as where this process is root. */
  readonly user: User;
  readonly logger?: ConfinementLogger | undefined;
}

/** A pool of parsers, confined as far as this machine lets them be, with a folder of its own. */
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
