import { userInfo } from 'node:os';
import type { CommandAction } from '../shared/audit/entry.js';
import { openAudit, type AuditLog } from '../shared/audit/audit-log.js';
import type { Settings } from '../shared/settings/load.js';
import { say, UserError } from './user-messages.js';

/**
 * Runs a command and writes a line of it into the audit log, where the settings want one.
 *
 * @param about the user that the command makes a way in for
 * @throws UserError before the command runs, where the log is required and cannot be written
 */
export async function audited<Result>(
  action: CommandAction,
  settings: Settings,
  work: () => Promise<Result>,
  about: { readonly user?: string } = {},
): Promise<Result> {
  const log = await openLog(settings);
  if (!log) return work();
  const begun = Date.now();
  let succeeded = false;
  try {
    const result = await work();
    succeeded = true;
    return result;
  } finally {
    log.write({
      type: 'command',
      action,
      account: accountName(),
      ...about,
      succeeded,
      ms: Date.now() - begun,
    });
    await log.close();
  }
}

async function openLog(settings: Settings): Promise<AuditLog | null> {
  // The line is written as the command ends, and a process that is killed before has none to write.
  const log = openAudit(settings, { logger, process: 'cli', onExit: () => undefined });
  await log?.flush();
  if (settings.audit.required && log?.isFailing()) {
    await log.close();
    throw new UserError('The audit log cannot be written, and audit.required is set. See the line above.');
  }
  return log;
}

/** Standard output is for what commands print, such as a token. */
const tell = ({ err }: { readonly err?: unknown }, message: string) => {
  say(err instanceof Error ? `${message}: ${err.message}` : message);
};
const logger = { error: tell, warn: tell };

/** The name of the account that runs this process; its number where the system knows no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
