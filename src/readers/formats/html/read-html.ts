import type { Block } from '../../blocks/block.js';
import { controlText, createSelects, type SelectTracker } from '../forms/html-controls.js';
import { createDrawnFormulas, type DrawnFormulas } from '../formulas/drawn-formulas.js';
import { createMathCollector, type MathCollector } from '../formulas/mathml.js';
import { ShallowParser } from '../shallow-parser.js';
import { signsOf, type SignReader } from '../signs/sign-reader.js';
import type { HiddenCounter } from '../visibility/hidden-counter.js';
import { attribute, type Attributes } from '../xml/read-markup.js';
import { createHtmlLists, LISTS, type HtmlLists } from './html-lists.js';
import { createHtmlTables, type HtmlTables } from './html-tables.js';
import { lookAhead } from './look-ahead.js';
import { createShifts } from './shifts.js';
import { createTextFlow, type Separator, type TextFlow } from './text-flow.js';
import { createVisibility, type LoadStyleSheet, type VisibilityTracker } from './visibility.js';

export interface HtmlHead {
  readonly title: string;
  /** The language that the root element declares; empty for none. */
  readonly language: string;
}

interface HtmlOptions {
  /** Decides about text that is not shown. Without it, all text is read. */
  readonly hidden?: HiddenCounter | undefined;
  /** Reads text in symbol fonts. Without it, or without `hidden`, fonts are not looked at. */
  readonly signs?: SignReader | undefined;
  /** True if the title in the head is a part of the text; true by default. */
  readonly hasTitle?: boolean | undefined;
  /** True if tables of data become Markdown; true by default. Otherwise they are text that flows. */
  readonly hasTables?: boolean | undefined;
  /** Finds the style sheets that the markup links to. Without it, none is read: nothing is fetched. */
  readonly loadSheet?: LoadStyleSheet | undefined;
  /** True if elements may be closed in their tag, as in XML. */
  readonly isXhtml?: boolean | undefined;
}

/** Reads markup that is written in pieces into blocks. */
export interface HtmlReader {
  write(markup: string): void;
  end(): { readonly blocks: readonly Block[]; readonly head: HtmlHead };
}

interface State {
  readonly options: HtmlOptions;
  readonly flow: TextFlow;
  readonly tables: HtmlTables;
  readonly visibility: VisibilityTracker | undefined;
  /** The number of open elements whose text is left out. */
  dropped: number;
  /** The texts of the outermost of them, which is told if that is not closed. */
  leftOut: string[];
  /** The number of these that are drawings. */
  foreign: number;
  readonly ruby: ReturnType<typeof createRuby>;
  readonly math: MathCollector;
  readonly drawn: DrawnFormulas;
  readonly shifts: ReturnType<typeof createShifts>;
  readonly selects: SelectTracker;
  readonly lists: HtmlLists;
  isInTitle: boolean;
  title: string;
  language: string;
}

/** Blocks are separated, lists indented by their nesting, cells of a row share a line, and scripts and styles are left out. */
export function createHtmlReader(options: HtmlOptions = {}): HtmlReader {
  const blocks: Block[] = [];
  const state = newState(options, (block) => blocks.push(block));
  const pieces: string[] = [];
  return {
    write: (markup) => {
      pieces.push(markup);
    },
    end: () => {
      const markup = pieces.join('');
      const parserOptions = {
        decodeEntities: true,
        lowerCaseTags: true,
        recognizeSelfClosing: options.isXhtml === true,
        dropped: DROPPED,
      };
      lookAhead(state, markup, parserOptions);
      const parser = new ShallowParser(
        {
          onopentag: (name, attributes) => openElement(state, name, attributes),
          onclosetag: (name, isImplied) => {
            noteUnclosed(state, name, isImplied);
            closeElement(state, name);
          },
          ontext: (text) => {
            if (state.dropped === 0 && state.math.isOpen()) state.math.text(text);
            else if (state.dropped === 0) addText(state, text);
            else if (state.dropped > state.foreign) state.leftOut.push(text);
          },
        },
        parserOptions,
      );
      parser.end(markup);
      endFormula(state);
      passUnshown(state);
      state.flow.cut();
      return { blocks, head: { title: state.title.trim(), language: state.language } };
    },
  };
}

function newState(options: HtmlOptions, sink: (block: Block) => void): State {
  const tables = createHtmlTables(sink);
  return {
    options,
    tables,
    flow: createTextFlow((block) => tables.emit(block)),
    visibility: options.hidden && createVisibility(options.loadSheet),
    dropped: 0,
    leftOut: [],
    foreign: 0,
    ruby: createRuby(),
    math: createMathCollector(),
    drawn: createDrawnFormulas(),
    shifts: createShifts(),
    selects: createSelects(),
    lists: createHtmlLists(),
    isInTitle: false,
    title: '',
    language: '',
  };
}

function openElement(state: State, name: string, attributes: Attributes): void {
  const { flow, tables, visibility, options } = state;
  if (state.selects.endsBefore(name)) writeOptions(state);
  visibility?.open(name, attributes);
  state.shifts.open(name, visibility?.shift());
  state.ruby.open(name);
  state.drawn.open(attributes);
  if (state.foreign > 0 && ENDS_FOREIGN.has(name)) endForeign(state);
  if (FOREIGN.has(name)) state.foreign += 1;
  if (DROPPED.has(name)) state.dropped += 1;
  if (state.dropped > 0) return;
  if (state.math.isOpen() && ENDS_FORMULA.has(name)) endFormula(state);
  if (state.math.open(name, attributes)) return;
  separateBlock(state, name);
  if (name === 'html') state.language ||= attribute(attributes, 'lang', 'xml:lang').trim();
  if (name === 'title') state.isInTitle = true;
  if (name === 'table') flow.cut();
  if (options.hasTables !== false) tables.open(name, attributes);
  const level = headingLevel(name);
  if (level !== undefined) {
    flow.setHeading(level);
    tables.addHeading();
  }
  state.lists.open(name, attributes);
  if (name === 'br') separate(state, '\n');
  if (PREFORMATTED.has(name)) flow.beginPreformatted();
  if (CELLS.has(name)) flow.separate(' | ');
  if (name === 'tr') flow.beginRow();
  if (name === 'li') flow.mark(state.lists.item(attributes, visibility?.listStyle()));
  const { alt } = attributes;
  if (name === 'img' && alt) addText(state, ` ${state.drawn.take(alt)?.text ?? alt} `);
  const control = controlText(name, attributes);
  // The text of a box that is not shown may be drawn in its place, or the box switches something.
  if (control !== '' && visibility?.reason() === undefined)
    addText(state, control.endsWith(']') ? ` ${control} ` : ` ${control}`);
  state.selects.open(name, attributes);
}

/** Browsers show nothing behind the start of such an element, so that most of a page may be lost by an owner's mistake. */
function noteUnclosed(state: State, name: string, isImplied: boolean): void {
  if (!DROPPED.has(name) || state.dropped !== 1) return;
  if (isImplied && !FOREIGN.has(name)) state.options.hidden?.countUnclosed(name, state.leftOut.join(''));
  state.leftOut = [];
}

function endForeign(state: State): void {
  state.dropped = Math.max(0, state.dropped - state.foreign);
  state.foreign = 0;
  state.leftOut = [];
}

function closeElement(state: State, name: string): void {
  const { flow, tables, visibility, options } = state;
  // The element that hides a formula is still open.
  if (state.math.isOpen() && state.dropped === 0) addFormula(state, state.math.close(name));
  if (name === 'select') writeOptions(state);
  visibility?.close();
  state.shifts.close();
  state.ruby.close(name);
  state.drawn.close();
  if (FOREIGN.has(name)) {
    if (state.foreign === 0) return;
    state.foreign -= 1;
  }
  if (DROPPED.has(name)) state.dropped = Math.max(0, state.dropped - 1);
  if (state.dropped > 0 || state.math.isOpen()) return;
  state.lists.close(name);
  separateBlock(state, name);
  if (name === 'title') state.isInTitle = false;
  if (headingLevel(name) !== undefined) flow.setHeading(undefined);
  if (name === 'table') flow.cut();
  if (options.hasTables !== false) tables.close(name);
  if (PREFORMATTED.has(name)) flow.endPreformatted();
  if (CELLS.has(name)) flow.separate(' | ');
}

function addFormula(state: State, text: string | undefined): void {
  if (text === undefined || text === '') return;
  const kind = state.visibility?.reason();
  if (kind !== undefined) passUnshown(state);
  if (kind !== undefined && state.drawn.keep({ text, kind })) return;
  addText(state, text);
  state.drawn.note('formula');
}

/** Treats a formula that no picture shows as hidden text. */
function passUnshown({ drawn, options, flow, tables }: State): void {
  const formula = drawn.take();
  if (!formula || options.hidden?.accepts(formula.kind, formula) === false) return;
  flow.append(formula.text, []);
  tables.append(formula.text, []);
}

const endFormula = (state: State): void => addFormula(state, state.math.end());

/** Writes the chosen options in their line, or else each option in a line of its own. */
function writeOptions(state: State): void {
  const { texts, areChosen } = state.selects.end() ?? { texts: [], areChosen: false };
  for (const text of texts) {
    if (!areChosen) separate(state, '\n');
    addText(state, ` ${text}`);
    if (!areChosen) separate(state, '\n');
  }
}

/** A list within another one follows its item at once. */
function separateBlock(state: State, name: string): void {
  if (LISTS.has(name) && state.lists.depth > 0) separate(state, '\n');
  else if (PARAGRAPHS.has(name)) separate(state, '\n\n');
  else if (LINES.has(name)) separate(state, '\n');
}

function separate({ flow, tables, drawn }: State, separator: Separator): void {
  drawn.note('text');
  flow.separate(separator);
  tables.separate(separator === '\n\n');
}

function addText(state: State, written: string): void {
  if (state.ruby.isReading() || state.drawn.isOpen() || state.selects.takes(written)) return;
  if (written.trim() !== '') {
    passUnshown(state);
    state.drawn.note('text');
  }
  const { flow, tables, visibility, options } = state;
  const font = visibility?.font();
  const text = signsOf(font) ? (options.signs?.read(written, font) ?? written) : written;
  if (state.isInTitle) {
    state.title += text;
    if (options.hasTitle === false) return;
  }
  const kind = visibility?.reason();
  if (kind !== undefined && options.hidden?.accepts(kind, { text }) === false) return;
  const shifts = state.shifts.current();
  flow.append(text, shifts);
  tables.append(text, shifts);
}

/** Elements whose text is left out. */
const DROPPED = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'annotation',
  'annotation-xml',
  'iframe',
  'canvas',
  'datalist',
]);
const FOREIGN = new Set(['svg']);
/** Elements of HTML that end drawings that are not closed, as in browsers. */
const ENDS_FOREIGN = new Set(
  'p div h1 h2 h3 h4 h5 h6 table ul ol dl li dd dt pre blockquote body br center hr img nobr b i em strong span small big u s strike sub sup code tt menu ruby'.split(
    ' ',
  ),
);
const PARAGRAPHS = new Set(
  'address article aside blockquote details dialog dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table title ul body'.split(
    ' ',
  ),
);
const LINES = new Set(
  'caption center dd div dt figcaption legend li summary tr thead tbody tfoot button'.split(' '),
);
const CELLS = new Set(['td', 'th']);
const PREFORMATTED = new Set(['pre', 'textarea']);
/** Formulas that are not closed end where such an element begins. */
const ENDS_FORMULA = new Set([...PARAGRAPHS, ...LINES, ...CELLS, 'img', 'br', 'head']);

function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** The readings above characters, and the brackets around them, which browsers do not show. */
const READINGS = new Set(['rt', 'rp', 'rtc']);
/** The characters that readings stand above. */
const BASES = new Set(['rb', 'rbc']);
/** Elements that a reading may hold. Any other element shows that the end of the reading is missing. */
const PHRASING = new Set(
  'a b bdi bdo cite code em i mark q rt rp s small span strong sub sup u wbr'.split(' '),
);

/** Follows readings of characters (ruby), which would divide the words that they stand above. */
function createRuby() {
  let rubies = 0;
  let readings = 0;
  const end = () => {
    rubies = 0;
    readings = 0;
  };
  return {
    open(name: string): void {
      if (name === 'ruby') rubies += 1;
      else if (rubies > 0 && READINGS.has(name)) readings += 1;
      else if (!BASES.has(name) && !PHRASING.has(name)) end();
    },
    close(name: string): void {
      if (name === 'ruby') {
        rubies = Math.max(0, rubies - 1);
        readings = 0;
      } else if (READINGS.has(name)) readings = Math.max(0, readings - 1);
    },
    /** Tells whether text is a reading, which is not text of the document. */
    isReading: () => readings > 0,
  };
}
