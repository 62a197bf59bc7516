/** The room that a connection lacked: the share of its address, or all that this process can have. */
export type Shortage = 'address' | 'process';

export interface ConnectionRoomOptions {
  /** Connections of all addresses together. */
  readonly max: number;
  /** Connections of one address. */
  readonly perAddress: number;
  /** Further connections: this many whose requests are read to be refused, and as many on which operators are served. */
  readonly reserve: number;
}

/** A connection, as the room sees it. */
export interface Guest {
  readonly address: string;
  /** A trusted proxy has no share, since it carries the requests of others. */
  readonly isTrustedProxy: boolean;
  /** Ends the connection, because another one needs its place: of the address, or of the process. */
  readonly giveWay: (shortage: Shortage) => void;
}

/**
 * Divides the connections of this process. An address has a share (as with `limit_conn` of nginx). A connection without a
 * request gives way to a new one of the same address where that has its share, and of any address where the process is
 * full, as a server may end it at any time (RFC 9112, 9.3). Where all have requests, a new connection comes into the
 * reserve, where the oldest one gives way.
 */
export interface ConnectionRoom {
  enter(guest: Guest): void;
  /** Called when a connection has ended; a connection that gave way has left already. */
  leave(guest: Guest): void;
  /** Notes a request. Returns the room that it lacks; null where there is room, perhaps only by now. */
  beginRequest(guest: Guest): Shortage | null;
  endRequest(guest: Guest): void;
  /** Keeps a connection of the reserve while an operator is served on it. */
  serveOperator(guest: Guest): void;
  open(): number;
}

/** The connections of one address, or of all. */
interface Holding {
  readonly guests: Set<Guest>;
  /** The connections without a request, the longest idle one first. */
  readonly idle: Set<Guest>;
}

interface Account extends ConnectionRoomOptions {
  readonly all: Holding;
  readonly addresses: Map<string, Holding>;
  /** The connections of the reserve, the oldest first: connections to be refused, and connections of operators. */
  readonly refused: Set<Guest>;
  readonly operators: Set<Guest>;
}

export function createConnectionRoom(options: ConnectionRoomOptions): ConnectionRoom {
  const account = openAccount(options);
  const { all, addresses, refused, operators } = account;
  const holdingsOf = ({ address }: Guest) => [all, addresses.get(address) ?? newHolding()];
  return {
    enter: (guest) => {
      if (shortageOf(account, guest) === null) take(account, guest);
      else keep(account, refused, guest);
    },
    leave: (guest) => {
      leave(account, guest);
    },
    beginRequest: (guest) => {
      if (!all.guests.has(guest)) {
        const shortage = shortageOf(account, guest);
        if (shortage !== null) return shortage;
        leave(account, guest);
        take(account, guest);
      }
      for (const { idle } of holdingsOf(guest)) idle.delete(guest);
      return null;
    },
    endRequest: (guest) => {
      if (all.guests.has(guest)) for (const { idle } of holdingsOf(guest)) idle.add(guest);
    },
    serveOperator: (guest) => {
      if (refused.delete(guest)) keep(account, operators, guest);
    },
    open: () => all.guests.size + refused.size + operators.size,
  };
}

const newHolding = (): Holding => ({ guests: new Set(), idle: new Set() });

function openAccount({ max, perAddress, reserve }: ConnectionRoomOptions): Account {
  return {
    max,
    perAddress,
    reserve,
    all: newHolding(),
    addresses: new Map(),
    refused: new Set(),
    operators: new Set(),
  };
}

/** Returns the room that a connection lacks, after another one has given way where one could. */
function shortageOf(account: Account, { address, isTrustedProxy }: Guest): Shortage | null {
  const { all, addresses, max, perAddress } = account;
  const own = addresses.get(address);
  const isFull = own !== undefined && own.guests.size >= perAddress && !isTrustedProxy;
  if (isFull && !endFirst(account, own.idle, 'address')) return 'address';
  return all.guests.size >= max && !endFirst(account, all.idle, 'process') ? 'process' : null;
}

/** Returns false where there is none. */
function endFirst(account: Account, guests: ReadonlySet<Guest>, shortage: Shortage): boolean {
  for (const guest of guests) {
    leave(account, guest);
    guest.giveWay(shortage);
    return true;
  }
  return false;
}

function take({ all, addresses }: Account, guest: Guest): void {
  const own = addresses.get(guest.address) ?? newHolding();
  addresses.set(guest.address, own);
  for (const { guests, idle } of [all, own]) {
    guests.add(guest);
    idle.add(guest);
  }
}

function keep(account: Account, kept: Set<Guest>, guest: Guest): void {
  if (kept.size >= account.reserve) endFirst(account, kept, 'process');
  kept.add(guest);
}

function leave({ all, addresses, refused, operators }: Account, guest: Guest): void {
  const own = addresses.get(guest.address);
  for (const guests of [refused, operators, all.guests, all.idle, own?.guests, own?.idle]) {
    guests?.delete(guest);
  }
  if (own?.guests.size === 0) addresses.delete(guest.address);
}
