import { symbols, type DestinationStream } from 'pino';

/** Lines below a warning wait at most this long for more, and only while lines come faster than that. */
const WAIT_MILLISECONDS = 25;
/** Lines of this size together do not wait. */
const MAX_WAITING_CHARACTERS = 16 * 1024;
/** The number that pino has for the level `warn`. */
const WARNING = 40;

interface LogOutputOptions {
  readonly sink: Pick<DestinationStream, 'write'>;
  /** Calls its argument when the process ends. */
  readonly onExit: (flush: () => void) => void;
}

/**
 * Gathers log lines, because each write is a call of the system on the thread that answers requests. Warnings and errors
 * are written at once, after everything before them. A process that is killed loses the lines of its last milliseconds.
 */
export function createLogOutput({ sink, onExit }: LogOutputOptions): DestinationStream {
  let waiting = '';
  let timer: NodeJS.Timeout | null = null;
  let writtenAt = -Infinity;
  const flush = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writtenAt = performance.now();
    const lines = waiting;
    waiting = '';
    if (lines !== '') sink.write(lines);
  };
  onExit(flush);
  const output = {
    // Pino then says before each line which level it has.
    [symbols.needsMetadataGsym]: true,
    lastLevel: WARNING,
    write: (line: string) => {
      waiting += line;
      const isUrgent = output.lastLevel >= WARNING || waiting.length >= MAX_WAITING_CHARACTERS;
      if (isUrgent || (timer === null && performance.now() - writtenAt >= WAIT_MILLISECONDS)) flush();
      else timer ??= setTimeout(flush, WAIT_MILLISECONDS);
    },
  };
  return output;
}
