import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AbandonedError } from '../../services/abandoned-error.js';
import type { AnswerMemory } from '../../services/answer-memory/answer-memory.js';

/** A client that accepts fewer bytes than this in the allowed time counts as stalled. */
const MIN_BYTES = 64 * 1024;
const CHECK_MILLISECONDS = 1_000;
const GIVE_WAY_MILLISECONDS = 10_000;

export interface SlowClientLimits {
  /** A client for which bytes are waiting, and which accepts less than 64 KiB in this time, is disconnected. */
  readonly stalledMilliseconds: number;
  /**
   * The maximum number of bytes that are written and not yet accepted, for all clients together. Beyond this the clients
   * that have been behind for longest are disconnected.
   */
  readonly maxUnsentBytes: number;
  /**
   * The answer memory whose slow clients give way while somebody waits for the memory of their answers. A slow client took
   * less than 150 KB a second of its answer when that was last measured, over `giveWayMilliseconds` (10 s).
   */
  readonly answerMemory?: Pick<AnswerMemory, 'givesWay' | 'holds'>;
  readonly giveWayMilliseconds?: number;
  readonly onCutOff?: () => void;
}

/** Progress shows in steps of up to 1.5 MB, so that a client that takes twice as much is never below it over ten seconds. */
const MIN_BYTES_PER_SECOND = 150_000;
/** Clients that give way at each look, one a second. */
const MAX_GIVING_WAY = 10;

/** The last measurement of a client, with the bytes that it had accepted by then. */
interface Mark {
  /** Its last progress. */
  at: number;
  taken: number;
  /** The beginning of the time over which its rate is measured now. */
  since: number;
  takenBefore: number;
  /** Bytes a second, when it was last measured; infinite for a client that was not behind for so long. */
  rate: number;
}

/** A client for which bytes wait. */
interface Behind {
  readonly socket: Socket;
  readonly mark: Mark;
}

interface NotedRequest {
  readonly callerId: string;
  readonly signal: AbortSignal;
}

const requests = new WeakMap<Socket, NotedRequest>();

/** Notes which request, and whose, is being answered on a connection. */
export function noteRequest(socket: Socket, request: NotedRequest): void {
  requests.set(socket, request);
}

const cutOff = new WeakSet<Socket>();

/** Tells why a connection closed before its response was complete. */
export function reasonOfEnd(socket: Socket): AbandonedError {
  return new AbandonedError(cutOff.has(socket) ? 'stalled' : 'client_closed');
}

/** Disconnects a client whose unread answers leave no room for another one. Returns the reason. */
export function cutOffClient(socket: Socket): AbandonedError {
  cutOff.add(socket);
  socket.destroy();
  return reasonOfEnd(socket);
}

/**
 * Disconnects clients that read their responses too slowly, whatever is being sent: lists, downloads, event streams,
 * pages, errors. It watches sockets rather than responses, because responses may wait behind each other on one socket.
 */
export function cutOffSlowClients(server: Server, limits: SlowClientLimits): void {
  const { stalledMilliseconds, onCutOff } = limits;
  const marks = new Map<Socket, Mark>();
  server.on('connection', (socket: Socket) => {
    const now = performance.now();
    marks.set(socket, { at: now, taken: 0, since: now, takenBefore: 0, rate: Infinity });
    socket.once('close', () => marks.delete(socket));
  });
  const check = () => {
    const behind = [...marks].flatMap(([socket, mark]) => updated(socket, mark, limits));
    for (const socket of tooSlow(behind, limits)) {
      cutOff.add(socket);
      onCutOff?.();
      socket.destroy();
    }
  };
  const timer = setInterval(check, Math.min(CHECK_MILLISECONDS, stalledMilliseconds / 4));
  timer.unref();
  server.once('close', () => {
    clearInterval(timer);
  });
}

/** Notes the progress of a client. Returns it if bytes wait for it. */
function updated(
  socket: Socket,
  mark: Mark,
  { giveWayMilliseconds = GIVE_WAY_MILLISECONDS }: SlowClientLimits,
): Behind[] {
  const now = performance.now();
  const taken = socket.bytesWritten - socket.writableLength;
  const isBehind = socket.writableLength > 0;
  if (!isBehind || taken - mark.taken >= MIN_BYTES) Object.assign(mark, { at: now, taken });
  const elapsed = now - mark.since;
  if (isBehind && elapsed < giveWayMilliseconds) return [{ socket, mark }];
  const rate = isBehind ? (1_000 * (taken - mark.takenBefore)) / elapsed : Infinity;
  Object.assign(mark, { since: now, takenBefore: taken, rate });
  return isBehind ? [{ socket, mark }] : [];
}

/** Returns the connections to end: stalled ones, connections that hold too much together, and connections that give way. */
function tooSlow(behind: readonly Behind[], limits: SlowClientLimits): Set<Socket> {
  const stalledSince = performance.now() - limits.stalledMilliseconds;
  const isStalled = ({ mark }: Behind) => mark.at <= stalledSince;
  const others = behind.filter((each) => !isStalled(each)).sort((a, b) => a.mark.at - b.mark.at);
  const ended = new Set(behind.filter(isStalled).map(({ socket }) => socket));
  let unsent = others.reduce((sum, { socket }) => sum + socket.writableLength, 0);
  for (const { socket } of others) {
    if (unsent <= limits.maxUnsentBytes) break;
    unsent -= socket.writableLength;
    ended.add(socket);
  }
  for (const { socket } of givingWay(others, limits)) ended.add(socket);
  return ended;
}

/** The slowest connections of the first caller who has to give way and has slow ones. Downloads hold nothing. */
function givingWay(behind: readonly Behind[], { answerMemory }: SlowClientLimits): Behind[] {
  if (!answerMemory) return [];
  const slow = behind.flatMap((each) => {
    const request = requests.get(each.socket);
    const gives = request && each.mark.rate < MIN_BYTES_PER_SECOND && answerMemory.holds(request.signal);
    return gives ? [{ ...each, callerId: request.callerId }] : [];
  });
  if (slow.length === 0) return [];
  const callers = new Set(slow.map(({ callerId }) => callerId));
  const first = answerMemory.givesWay().find((callerId) => callers.has(callerId));
  return slow
    .filter(({ callerId }) => callerId === first)
    .sort((a, b) => a.mark.rate - b.mark.rate)
    .slice(0, MAX_GIVING_WAY);
}
