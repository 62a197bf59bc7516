// Loaded before anything else wherever mutants may run: which mutant is on, and which ones are reached.

/** A mutant that is asked for more often than this by one test runs in circles. */
const MAX_QUESTIONS = 3_000_000;

const state = { on: Number(process.env.QUIRE_MUTANT ?? 0), questions: 0, reached: null };
const resolved = new Map();

globalThis.__m = (id) => {
  state.reached?.add(id);
  if (id !== state.on) return false;
  state.questions += 1;
  if (state.questions > MAX_QUESTIONS) throw new Error('a mutant runs in circles');
  return true;
};

/** A script as it is sent: of the mutants in its text only the one that is on. */
globalThis.__lua = (script) => {
  if (!script.includes('\u0001')) return script;
  let known = resolved.get(script);
  if (!known) resolved.set(script, (known = { ids: idsOf(script), texts: new Map() }));
  for (const id of known.ids) state.reached?.add(id);
  const on = known.ids.has(state.on) ? state.on : 0;
  if (!known.texts.has(on)) known.texts.set(on, resolve(script, on));
  return known.texts.get(on);
};

const idsOf = (script) => new Set([...script.matchAll(/\u0001(\d+)\u0002/g)].map(([, id]) => Number(id)));

function resolve(script, on) {
  const parts = [{ text: '' }];
  for (const [piece] of script.matchAll(/\u0001\d+\u0002|[\u0003\u0004]|[^\u0001-\u0004]+/g)) {
    const top = parts.at(-1);
    if (piece[0] === '\u0001') parts.push({ id: Number(piece.slice(1, -1)), text: '' });
    else if (piece === '\u0003') Object.assign(top, { original: top.text, text: '' });
    else if (piece === '\u0004') {
      parts.pop();
      parts.at(-1).text += top.id === on ? top.text : top.original;
    } else top.text += piece;
  }
  return parts[0].text;
}

export function turnOn(id) {
  Object.assign(state, { on: id, questions: 0 });
  // Threads and processes that are started meanwhile have it, too.
  process.env.QUIRE_MUTANT = String(id);
}

export const forgetQuestions = () => {
  state.questions = 0;
};

/** The code that is reached from now on. */
export function watchReached() {
  state.reached = new Set();
  return state.reached;
}
