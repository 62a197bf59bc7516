import { createHash } from 'node:crypto';
import { chown, stat, type FileHandle } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditFolder, auditRoom } from '../shared/audit/audit-log.js';
import { bytesOf, dayOf, listDayFiles, openDayFile } from '../shared/audit/day-files.js';
import { jsonLine, type AuditEntry, type CommandAction, type CommandEntry } from '../shared/audit/entry.js';
import type { Settings } from '../shared/settings/load.js';
import { systemErrorCode } from '../shared/system-error-code.js';
import { say, UserError } from './user-messages.js';

/** The process as its lines and files name it. */
const PROCESS = 'cli';
/** A disk that takes longer does not answer. */
const HUNG_MILLISECONDS = 10_000;
const CANNOT_WRITE = 'The audit log cannot be written';

/** The lines of what a command does, beside its own. */
export interface CommandLog {
  write(entry: AuditEntry): void;
  /** Writes the waiting lines. Resolves also where that fails, which is said. */
  flush(): Promise<void>;
}

/**
 * Runs a command and writes a line of it into the audit log, where the settings want one. It only ever appends: what is kept,
 * and for how long, is up to the service, whose settings may be others.
 *
 * @param about the user that the command makes a way in for, and the user whom it takes something from
 * @throws UserError before the command runs, where the log is required and cannot be written
 */
export async function audited<Result>(
  action: CommandAction,
  settings: Settings,
  work: (log: CommandLog) => Promise<Result>,
  about: Pick<CommandEntry, 'user' | 'from'> = {},
): Promise<Result> {
  const { log, required } = settings.audit;
  if (!log) return work({ write: () => undefined, flush: () => Promise.resolve() });
  const isWritable = await inTime(checkRoom(settings)).then(
    () => true,
    (error: unknown) => {
      if (required) throw new UserError(`${CANNOT_WRITE} (${reasonOf(error)}), and audit.required is set.`);
      say(`${CANNOT_WRITE}: ${reasonOf(error)}`);
      return false;
    },
  );
  const begun = Date.now();
  const lines = openLines(settings, isWritable);
  const write = async (succeeded: boolean) => {
    const entry = { type: 'command', action, account: accountName(), ...about, succeeded } as const;
    lines.write({ ...entry, ms: Date.now() - begun });
    await lines.flush();
  };
  try {
    const result = await work(lines);
    await write(true);
    return result;
  } catch (error) {
    await write(false);
    throw error;
  }
}

function openLines(settings: Settings, isWritable: boolean): CommandLog {
  let waiting = '';
  return {
    write: (entry) => {
      if (isWritable) waiting += jsonLine({ time: new Date().toISOString(), process: PROCESS, ...entry });
    },
    flush: async () => {
      const lines = waiting;
      waiting = '';
      if (lines === '') return;
      await inTime(append(settings, lines)).catch((error: unknown) => {
        say(`${CANNOT_WRITE}: ${reasonOf(error)}. It lacks lines of this command.`);
      });
    },
  };
}

/** @throws where a line could not be written now */
async function checkRoom(settings: Settings): Promise<void> {
  const { hasRoom, maxBytes } = auditRoom(settings);
  await withFile(settings, () => Promise.resolve());
  if (!(await hasRoom())) throw new Error('too little room on its disk');
  const bytes = await bytesOf(await listDayFiles(auditFolder(settings), dayOf(Date.now())));
  if (bytes > maxBytes) throw new Error('its files of today are larger than audit.max_megabytes');
}

const append = (settings: Settings, lines: string): Promise<void> =>
  withFile(settings, (file) => file.appendFile(lines));

/** Uses the file of today for commands of this account, which several of them may append to at once. */
async function withFile(settings: Settings, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const folder = auditFolder(settings);
  const known = await ownerOf(folder);
  const source = createHash('sha256').update(`${hostname()} ${accountName()}`).digest('hex').slice(0, 8);
  const file = await openDayFile(folder, `${dayOf(Date.now())}.${PROCESS}.${source}.jsonl`);
  try {
    // Root gives what it makes to whoever runs the service, who could not write beside it otherwise.
    if (process.getuid?.() === 0) {
      const { uid, gid } = known ?? (await stat(dirname(folder)));
      await file.chown(uid, gid);
      if (!known) await chown(folder, uid, gid);
    }
    await use(file);
  } finally {
    await file.close();
  }
}

/** Null where there is no such folder. */
const ownerOf = (folder: string) =>
  stat(folder).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => null,
  );

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = new AbortController();
  const hung = sleep(HUNG_MILLISECONDS, undefined, { signal: late.signal }).then(() => {
    throw new Error('its disk does not answer');
  });
  try {
    return await Promise.race([work, hung]);
  } finally {
    late.abort();
    hung.catch(() => undefined);
  }
}

const reasonOf = (error: unknown): string =>
  systemErrorCode(error) ?? (error instanceof Error ? error.message : String(error));

/** The name of the account that runs this process; its number where the system knows no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
