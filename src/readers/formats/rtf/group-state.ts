import type { Shift } from '../baseline/shift.js';
import { WHITE, type Color } from '../visibility/colors.js';
import type { Unseen } from '../visibility/hidden-counter.js';
import type { RunStyle } from '../visibility/reason-unseen.js';
import type { Destination } from './destinations.js';
import { numberOrZero } from './tokens.js';

/** The state that holds until the end of a group. */
export interface GroupState {
  readonly destination: Destination;
  readonly font: number;
  /** The number of characters that follow one in Unicode, for readers that do not know it. */
  readonly fallbackLength: number;
  readonly isHidden: boolean;
  /** The reason why nobody sees the reference of the note, or the place of the text box, that this is in. */
  readonly around: Unseen | undefined;
  readonly isDeleted: boolean;
  /** In half points. */
  readonly size: number;
  /** The number of a colour in the table; 0 for the ordinary one. */
  readonly color: number;
  readonly hasBackground: boolean;
  /** True if letters have a line or a shadow around them, so that their colour does not tell whether they are seen. */
  readonly isOutlined: boolean;
  /** True where properties of a shape may stand. */
  readonly isInShape: boolean;
  /** True in a shape that is left out, since it is hidden. */
  readonly isLeftOut: boolean;
  readonly isInTextBox: boolean;
  readonly shift: Shift | undefined;
  /** The distance by which text is moved up, or down below zero, in half points. */
  readonly position: number;
}

const FIRST_STATE: GroupState = {
  destination: 'body',
  font: -1,
  fallbackLength: 1,
  isHidden: false,
  around: undefined,
  isDeleted: false,
  size: 24,
  color: 0,
  hasBackground: false,
  isOutlined: false,
  isInShape: false,
  isLeftOut: false,
  isInTextBox: false,
  shift: undefined,
  position: 0,
};

const BACKGROUNDS: ReadonlySet<string> = new Set(['cb', 'highlight', 'chcbpat', 'chshdng']);
const OUTLINES: ReadonlySet<string> = new Set(['outl', 'shad', 'embo', 'impr']);

const isOn = (parameter: number | undefined): boolean => parameter !== 0;

/** Returns the state that a control word makes of another; undefined when it does not change it. */
export function changeState(
  state: GroupState,
  word: string,
  parameter: number | undefined,
): GroupState | undefined {
  if (BACKGROUNDS.has(word)) return { ...state, hasBackground: isOn(parameter) };
  if (OUTLINES.has(word)) return { ...state, isOutlined: state.isOutlined || isOn(parameter) };
  switch (word) {
    case 'f':
      return { ...state, font: numberOrZero(parameter) };
    case 'uc':
      return { ...state, fallbackLength: Math.min(Math.max(parameter ?? 1, 0), 64) };
    case 'v':
      return { ...state, isHidden: isOn(parameter) };
    case 'deleted':
      return { ...state, isDeleted: isOn(parameter) };
    case 'fs':
      return { ...state, size: parameter ?? FIRST_STATE.size };
    case 'cf':
      return { ...state, color: numberOrZero(parameter) };
    case 'super':
    case 'sub':
    case 'nosupersub':
      return shifted(state, word, parameter);
    case 'up':
    case 'dn':
      return moved(state, word, parameter);
    case 'shpinst':
      return { ...state, isInShape: true };
    case 'shptxt':
    case 'dptxbxtext':
      return { ...state, around: offOf(state), isInTextBox: true, isInShape: false };
    case 'plain':
      return plain(state);
    default:
      return undefined;
  }
}

/** Returns the part of a state that stays when its text becomes ordinary. */
const plain = ({ destination, fallbackLength, around, isInTextBox }: GroupState): GroupState => ({
  ...FIRST_STATE,
  destination,
  fallbackLength,
  around,
  isInTextBox,
});

/** Returns the state in which the text of a destination begins. */
export const within = (state: GroupState, destination: Destination): GroupState => ({
  ...state,
  destination,
  around: destination === 'note' ? offOf(state) : state.around,
});

const shifted = (state: GroupState, word: string, parameter: number | undefined): GroupState => ({
  ...state,
  shift: isOn(parameter) ? SHIFTS.get(word) : undefined,
});

const moved = (state: GroupState, word: string, parameter = USUAL_MOVE): GroupState => ({
  ...state,
  position: word === 'up' ? parameter : -parameter,
});

const SHIFTS: ReadonlyMap<string, Shift> = new Map([
  ['super', 'raised'],
  ['sub', 'lowered'],
]);
/** The distance by which `\\up` and `\\dn` without a number move text, in half points. */
const USUAL_MOVE = 6;
/** The least move of text that is raised or lowered, and not only set a little higher, as a share of its size. */
const MIN_MOVE = 0.25;

/** Returns the shift of text in this state above or below the line. */
export function shiftOf({ shift, position, size }: GroupState): Shift | undefined {
  if (shift !== undefined) return shift;
  if (Math.abs(position) < MIN_MOVE * size) return undefined;
  return position > 0 ? 'raised' : 'lowered';
}

/**
 * The style of text in a state, for the judge of what is seen.
 * @param isOnPage tells whether the paragraph stands on the page itself, whose colour is known
 */
export function styleOf(
  state: GroupState,
  colorOf: (color: number) => Color | undefined,
  isOnPage: () => boolean,
): RunStyle {
  return {
    off: offOf(state),
    size: state.size / 2,
    color: state.isOutlined ? undefined : colorOf(state.color),
    behind: () => (isOnPage() && !state.hasBackground && !state.isInTextBox ? WHITE : undefined),
  };
}

function offOf({ destination, isDeleted, isHidden, around }: GroupState): Unseen | undefined {
  if (destination === 'comment') return 'comment';
  if (isDeleted) return 'deleted';
  return isHidden ? 'off' : around;
}

/** The open groups, and the state that holds in the innermost. */
export interface GroupStack {
  current: GroupState;
  open(): void;
  /** Returns the purpose of the group's text, where the outer group has another one. */
  close(): Destination | undefined;
}

/** Groups within more than this many are a part of their outer group. */
const MAX_GROUP_DEPTH = 2_000;

export function createGroupStack(): GroupStack {
  const outer: GroupState[] = [];
  let tooDeep = 0;
  const stack: GroupStack = {
    current: FIRST_STATE,
    open: () => {
      if (outer.length >= MAX_GROUP_DEPTH) tooDeep += 1;
      else outer.push(stack.current);
    },
    close: () => {
      if (tooDeep > 0) {
        tooDeep -= 1;
        return undefined;
      }
      const state = outer.pop();
      if (!state) return undefined;
      const { destination } = stack.current;
      stack.current = state;
      return state.destination === destination ? undefined : destination;
    },
  };
  return stack;
}
