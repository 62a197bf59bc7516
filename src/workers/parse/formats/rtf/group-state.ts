import type { Destination } from './destinations.js';

/** What holds until the end of a group. */
export interface GroupState {
  readonly destination: Destination;
  readonly font: number;
  /** How many characters follow one that is written in Unicode, for readers that do not know it. */
  readonly fallbackLength: number;
  readonly isHidden: boolean;
  readonly isDeleted: boolean;
  /** In half points. */
  readonly size: number;
  /** The number of a colour in the table; 0 for the ordinary one. */
  readonly color: number;
  readonly hasBackground: boolean;
  readonly isInTextBox: boolean;
}

export const FIRST_STATE: GroupState = {
  destination: 'body',
  font: -1,
  fallbackLength: 1,
  isHidden: false,
  isDeleted: false,
  size: 24,
  color: 0,
  hasBackground: false,
  isInTextBox: false,
};

const isOn = (parameter: number | undefined): boolean => parameter !== 0;

/** What a control word makes of the state; undefined when it does not change it. */
export function changeState(
  state: GroupState,
  word: string,
  parameter: number | undefined,
): GroupState | undefined {
  switch (word) {
    case 'f':
      return { ...state, font: parameter ?? 0 };
    case 'uc':
      return { ...state, fallbackLength: Math.min(Math.max(parameter ?? 1, 0), 64) };
    case 'v':
      return { ...state, isHidden: isOn(parameter) };
    case 'deleted':
      return { ...state, isDeleted: isOn(parameter) };
    case 'fs':
      return { ...state, size: parameter ?? FIRST_STATE.size };
    case 'cf':
      return { ...state, color: parameter ?? 0 };
    case 'cb':
    case 'highlight':
    case 'chcbpat':
    case 'chshdng':
      return { ...state, hasBackground: isOn(parameter) };
    case 'shptxt':
      return { ...state, isInTextBox: true };
    case 'plain':
      return {
        ...FIRST_STATE,
        destination: state.destination,
        fallbackLength: state.fallbackLength,
        isInTextBox: state.isInTextBox,
      };
    default:
      return undefined;
  }
}

/** Below this size, in half points, text cannot be read. */
const SMALLEST_SIZE = 4;

interface Surroundings {
  readonly isWhite: (color: number) => boolean;
  /** Whether the paragraph stands on the page itself. */
  readonly isOnPage: boolean;
}

/** Why text in this state is not seen; undefined when it is. */
export function reasonHidden(state: GroupState, { isWhite, isOnPage }: Surroundings): string | undefined {
  if (state.destination === 'comment') return 'comment';
  if (state.isDeleted) return 'tracked deletion';
  if (state.isHidden) return 'not displayed';
  if (state.size < SMALLEST_SIZE) return 'smaller than 2 pt';
  const isPlain = isOnPage && !state.hasBackground && !state.isInTextBox;
  return isPlain && isWhite(state.color) ? 'in the colour of its background' : undefined;
}
