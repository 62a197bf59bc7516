import { startSlowCompleter } from '../../support/slow-completer.js';
import { mountSmallDisk } from '../../support/small-disk.js';
import { writeHostileFiles } from './hostile-files.js';

/**
 * Arguments for a Redis that one caller can fill within seconds, but not the documents that all others keep: those have to
 * become final once the attackers are gone. The Query Engine has its index in it, too: of 96 MB, 700 documents took all, and
 * 1,100 without it.
 */
export const smallRedis = (index: 'exact' | 'query-engine'): readonly string[] => [
  '--maxmemory',
  index === 'exact' ? '144mb' : '192mb',
];

const DISK_MEGABYTES = { whole: 96, spare: 24 };

/** The surroundings that attacks need to get anywhere: little room, and a completer that can be slow. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  /** A small disk for everything but Redis; without one, a quota keeps uploads from the machine's. */
  readonly dataDirectory: string | null;
  readonly descriptors: number;
  stop(): Promise<void>;
}

export async function surroundAttackers(): Promise<Surroundings> {
  writeHostileFiles();
  const provider = await startSlowCompleter();
  const disk = mountSmallDisk(DISK_MEGABYTES.whole);
  const room = disk
    ? { QUIRE_DISK_MIN_FREE_MEGABYTES: String(DISK_MEGABYTES.spare) }
    : { QUIRE_QUOTA_BYTES: String((DISK_MEGABYTES.whole - DISK_MEGABYTES.spare) * 2 ** 20) };
  return {
    env: {
      ...room,
      ...provider.env,
      // A file that holds a parser for as long as it may is no reason to hold up the run.
      QUIRE_INGEST_PARSE_SECONDS: '30',
    },
    dataDirectory: disk?.directory ?? null,
    descriptors: 768,
    stop: async () => {
      disk?.unmount();
      await provider.stop();
    },
  };
}
