import type { Room } from '../../src/workers/ingestion/room/room.js';

/** The room of a Redis without `maxmemory`. */
export const ENDLESS_ROOM: Room = {
  reserveAgain: () => Promise.resolve(),
  reserve: () => Promise.resolve(),
  spend: () => Promise.resolve(),
};
