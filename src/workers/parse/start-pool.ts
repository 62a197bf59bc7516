import { chooseLaunch, type ConfinementLogger } from './confinement/choose-launch.js';
import type { User } from './confinement/start-confined.js';
import { createParserPool, type ParserPool, type ParserPoolOptions } from './pool.js';
import { openWorkspace } from './confinement/workspace.js';

interface StartOptions extends Omit<ParserPoolOptions, 'launch' | 'workspace' | 'logger'> {
  /** The user that parsers run as when this process is root. */
  readonly user: User;
  readonly logger?: ConfinementLogger | undefined;
}

/** The maximum time for one page. Somebody waits for it, and others for theirs. */
const RENDER_MILLISECONDS = 10_000;
/** One of them for a page that is left to finish while another one is rendered (`pages/page-turns`). */
const RENDERERS = 2;

/**
 * Starts a pool of parsers with its own workspace. They are confined as strictly as this machine allows. Pages are rendered in
 * processes apart, so that they do not wait for files that are being read, nor such files for pages.
 */
export async function startParserPool({ user, ...options }: StartOptions): Promise<ParserPool> {
  const { logger } = options;
  const workspace = await openWorkspace({ logger });
  const launch = await chooseLaunch({ user, workspace, logger });
  const pool = createParserPool({ ...options, launch, workspace });
  const timeoutMilliseconds = Math.min(RENDER_MILLISECONDS, options.timeoutMilliseconds);
  const renderer = createParserPool({ ...options, size: RENDERERS, timeoutMilliseconds, launch, workspace });
  return {
    ...pool,
    render: (request) => renderer.render(request),
    async close() {
      await Promise.all([pool.close(), renderer.close()]);
      await workspace.close();
    },
  };
}
