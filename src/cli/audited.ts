import { createHash } from 'node:crypto';
import { chown, stat, type FileHandle } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditFolder, auditRoom } from '../shared/audit/audit-log.js';
import { bytesOf, dayOf, listDayFiles, openDayFile } from '../shared/audit/day-files.js';
import { jsonLine, type CommandAction, type CommandEntry } from '../shared/audit/entry.js';
import type { Settings } from '../shared/settings/load.js';
import { systemErrorCode } from '../shared/system-error-code.js';
import { say, UserError } from './user-messages.js';

/** The process as its lines and files name it. */
const PROCESS = 'cli';
/** A disk that takes longer does not answer. */
const HUNG_MILLISECONDS = 10_000;
const CANNOT_WRITE = 'The audit log cannot be written';

/**
 * Runs a command and writes a line of it into the audit log, where the settings want one. It only ever appends: what is kept,
 * and for how long, is up to the service, whose settings may be others.
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
  const { log, required } = settings.audit;
  if (!log) return work();
  const isWritable = await inTime(checkRoom(settings)).then(
    () => true,
    (error: unknown) => {
      if (required) throw new UserError(`${CANNOT_WRITE} (${reasonOf(error)}), and audit.required is set.`);
      say(`${CANNOT_WRITE}: ${reasonOf(error)}`);
      return false;
    },
  );
  const begun = Date.now();
  const write = async (succeeded: boolean) => {
    if (!isWritable) return;
    const entry = { type: 'command', action, account: accountName(), ...about, succeeded } as const;
    await inTime(append(settings, { ...entry, ms: Date.now() - begun })).catch((error: unknown) => {
      say(`${CANNOT_WRITE}: ${reasonOf(error)}. It has no line of this command.`);
    });
  };
  try {
    const result = await work();
    await write(true);
    return result;
  } catch (error) {
    await write(false);
    throw error;
  }
}

/** @throws where a line could not be written now */
async function checkRoom(settings: Settings): Promise<void> {
  const { hasRoom, maxBytes } = auditRoom(settings);
  await withFile(settings, () => Promise.resolve());
  if (!(await hasRoom())) throw new Error('too little room on its disk');
  const bytes = await bytesOf(await listDayFiles(auditFolder(settings), dayOf(Date.now())));
  if (bytes > maxBytes) throw new Error('its files of today are larger than audit.max_megabytes');
}

async function append(settings: Settings, entry: CommandEntry): Promise<void> {
  const line = jsonLine({ time: new Date().toISOString(), process: PROCESS, ...entry });
  await withFile(settings, (file) => file.appendFile(line));
}

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
