import type { AccessLists } from '../access/access.js';
import type { BuildAction, ChangeAction, CommandAction, LogAction, RequestAction } from './actions.js';

/** A request and the status of its answer. It holds ids, and never the text of the request or its answer. */
export interface RequestEntry {
  readonly type: 'request';
  readonly action: RequestAction;
  readonly request: string;
  /** Absent where no valid token names one. */
  readonly caller?: string | undefined;
  /** The claim `jti` of the token, if it has one. */
  readonly token?: string | undefined;
  /** Whom else it is about: the user that a token is made for, that a signed address was made for, or an owner in a list. */
  readonly user?: string | undefined;
  /** The address of the client; of IPv6, its network. */
  readonly client: string;
  /** 499 where the client left before its answer began. */
  readonly status: number;
  /** False where the client did not get all of the answer. */
  readonly complete: boolean;
  readonly ms: number;
  /** The documents that the path names, and the documents that the answer names or was made of. */
  readonly documents?: readonly string[] | undefined;
  /** The number of further documents that are not listed. */
  readonly more?: number | undefined;
  /** A digest of the name of a cache. */
  readonly cache?: string | undefined;
}

/** The number of refused requests of a kind that have no line of their own, since too many came within a minute. */
export interface RefusalsEntry {
  readonly type: 'refusals';
  readonly action: RequestAction;
  /** Absent where no valid token named one. */
  readonly caller?: string | undefined;
  /** The address of the client, or `others` where there were too many of them. */
  readonly client: string;
  readonly count: number;
  /** The number of answers with each status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** A change of a document, as it was committed. */
export interface ChangeEntry {
  readonly type: 'change';
  readonly action: ChangeAction;
  /** The request that brought it about, if it did so at once. */
  readonly request?: string | undefined;
  /** Absent for changes that nobody asks for at that moment, such as the end of an ingest. */
  readonly caller?: string | undefined;
  readonly documents: readonly [string];
  readonly owner: string;
  readonly version: number;
  /** The users who came into the lists of access and went out of them. */
  readonly access?: AccessDifference | undefined;
}

export type AccessDifference = Partial<Record<keyof AccessLists, ListDifference>>;

interface ListDifference {
  readonly added?: readonly string[] | undefined;
  readonly removed?: readonly string[] | undefined;
  /** The number of further users that are not listed. */
  readonly more?: number | undefined;
}

/** A build of a cache that a worker ended, and whose documents are read from then on by questions to the cache. */
export interface BuildEntry {
  readonly type: 'build';
  readonly action: BuildAction;
  /** The owner of the cache, with whose rights the documents were read. */
  readonly caller: string;
  /** A digest of the name of the cache. */
  readonly cache: string;
  readonly documents: readonly string[];
  /** The number of further documents that are not listed. */
  readonly more?: number | undefined;
}

/** A command that was given on the machine itself, as it ends. */
export interface CommandEntry {
  readonly type: 'command';
  readonly action: CommandAction;
  /** The account of the operating system that gave it. */
  readonly account: string;
  /** The user that a token was made for. */
  readonly user?: string | undefined;
  readonly succeeded: boolean;
  readonly ms: number;
}

/** The places where a process begins and ends to write, and the number of lines lost in between. */
export interface LogEntry {
  readonly type: 'log';
  readonly action: LogAction;
  readonly lost?: number | undefined;
}

export type AuditEntry = RequestEntry | RefusalsEntry | ChangeEntry | BuildEntry | CommandEntry | LogEntry;

/** Is told when lines or old files make trouble. */
export interface AuditLogger {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
