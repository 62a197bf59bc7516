import { DECLARED, ENCODINGS } from './encodings.js';
import type { Abilities } from './random-sample.js';
import { ALL_LANGUAGES, PLAIN_LANGUAGES } from './sentences.js';

/** A way in which something that is not Quire writes files of a format. */
export interface Source {
  /** The format and who writes it. */
  readonly name: string;
  /** The module of `writers/` that writes it, and the extension of what it writes. */
  readonly writer: string;
  readonly extension: string;
  /** The formats that LibreOffice then makes of it, one after the other. */
  readonly conversions?: readonly Conversion[];
  /** True for text in one of many encodings, with or without a declaration in the file. */
  readonly encoded?: 'declared' | 'undeclared';
  readonly abilities: Abilities;
  readonly floor: Floor;
}

export interface Conversion {
  readonly extension: string;
  /** The name of LibreOffice for the format and its filter. */
  readonly filter: string;
}

/** The least result: at most this many of 100 characters wrong, and at least this many of 100 cells and marks right. */
export interface Floor {
  readonly characterErrors: number;
  readonly cells: number;
  readonly marks: number;
}

const ALL_RIGHT: Floor = { characterErrors: 0, cells: 100, marks: 100 };
/** Few bytes that name no encoding cannot always be told. */
const GUESSED: Floor = { characterErrors: 0.3, cells: 99, marks: 100 };
/** Tables of pages are found by what is drawn, and lines of scripts without blanks end anywhere. */
const PAGES: Floor = { characterErrors: 3, cells: 70, marks: 85 };
const MICROSOFT_FONTS = ['Symbol', 'Wingdings', 'Wingdings 2'] as const;

const texts: Abilities = { languages: ALL_LANGUAGES, unseen: true, joined: true };
const rich: Abilities = {
  ...texts,
  shifts: true,
  fonts: MICROSOFT_FONTS,
  headings: true,
  lists: 'all',
  tables: 'within',
  spans: true,
};
const sheets: Abilities = {
  ...texts,
  shifts: true,
  fonts: MICROSOFT_FONTS,
  tables: 'only',
  spans: true,
  choices: { down: [0, 0, 2], right: [0, 0, 1] },
};
const word: Abilities = {
  ...rich,
  repeatsOverColumns: true,
  choices: {
    shifts: ['attribute', 'style', 'position'],
    symbols: ['element', 'font'],
    soft_hyphens: ['element', 'character'],
  },
};
/** Without the numbers of lists, which their writers leave out. */
const slides: Abilities = { ...rich, headings: false, lists: 'bullets' };
const workbooks: Abilities = { ...sheets, repeatsOverColumns: true };
const separated: Abilities = {
  ...texts,
  tables: 'only',
  choices: { delimiter: [',', ';', '\t', '|'], quotes: ['all', 'some'], line_end: ['\n', '\r\n'] },
};
const pages: Abilities = {
  languages: PLAIN_LANGUAGES,
  shifts: true,
  fonts: ['Symbol'],
  headings: true,
  tables: 'within',
  spans: true,
};
const mails: Abilities = {
  languages: ALL_LANGUAGES,
  shifts: true,
  choices: {
    module: ['old', 'old', 'new'],
    transfer: ['base64', 'quoted-printable', '8bit'],
    attachment: [true, false],
  },
};

const by = (
  name: string,
  [writer, extension]: readonly [string, string],
  abilities: Abilities,
  more: Partial<Source> = {},
): Source => ({ name, writer, extension, abilities, floor: ALL_RIGHT, ...more });

const converted = (extension: string, filter = extension): readonly Conversion[] => [{ extension, filter }];

export const SOURCES: readonly Source[] = [
  by('txt (Python)', ['standard', 'txt'], { languages: [] }, { encoded: 'undeclared', floor: GUESSED }),
  by('csv (Python)', ['standard', 'csv'], separated),
  by(
    'csv in encodings (Python)',
    ['standard', 'csv'],
    { ...separated, unseen: false, joined: false },
    { encoded: 'undeclared', floor: GUESSED },
  ),
  by('json (Python)', ['standard', 'json'], { ...texts, choices: { ascii: [true, false], indent: [0, 2] } }),
  by('xml (Python)', ['standard', 'xml'], texts, { encoded: 'declared' }),
  by(
    'html (Python)',
    ['standard', 'html'],
    { ...rich, choices: { meta: ['charset', 'http-equiv'], entities: ['some', 'all'] } },
    { encoded: 'declared' },
  ),
  by('html (LibreOffice)', ['word', 'docx'], htmlOfOffice(), { conversions: converted('html') }),
  by('eml, plain (Python)', ['mails', 'eml'], plainMails(), { encoded: 'declared' }),
  by('eml, html (Python)', ['mails', 'eml'], htmlMails(), { encoded: 'declared' }),
  by('docx (python-docx)', ['word', 'docx'], word),
  by(
    'docx (LibreOffice)',
    ['open_document', 'odt'],
    { ...rich, repeatsOverColumns: true },
    {
      conversions: converted('docx'),
    },
  ),
  by('odt (odfpy)', ['open_document', 'odt'], rich),
  by('odt (LibreOffice)', ['word', 'docx'], once(word), { conversions: converted('odt') }),
  by('rtf (LibreOffice)', ['word', 'docx'], once(word), { conversions: converted('rtf') }),
  // The numbers of lists are not in the books that LibreOffice makes.
  by(
    'epub (LibreOffice)',
    ['word', 'docx'],
    { ...once(word), lists: 'bullets' },
    {
      conversions: converted('epub'),
    },
  ),
  by('pptx (python-pptx)', ['slides', 'pptx'], { ...slides, repeatsOverColumns: true }),
  by(
    'pptx (LibreOffice)',
    ['open_document', 'odp'],
    { ...slides, repeatsOverColumns: true },
    {
      conversions: converted('pptx'),
    },
  ),
  by('odp (odfpy)', ['open_document', 'odp'], slides),
  by('odp (LibreOffice)', ['slides', 'pptx'], slides, { conversions: converted('odp') }),
  by('xlsx (openpyxl)', ['openpyxl_sheet', 'xlsx'], workbooks),
  by('xlsx (XlsxWriter)', ['xlsxwriter_sheet', 'xlsx'], workbooks),
  by('xlsx (LibreOffice)', ['open_document', 'ods'], workbooks, { conversions: converted('xlsx') }),
  by('ods (odfpy)', ['open_document', 'ods'], sheets),
  by('ods (LibreOffice)', ['openpyxl_sheet', 'xlsx'], sheets, { conversions: converted('ods') }),
  by('pdf (reportlab)', ['reportlab_pages', 'pdf'], pages, { floor: PAGES }),
  by('pdf (LibreOffice)', ['word', 'docx'], pagesOfOffice(), { conversions: converted('pdf'), floor: PAGES }),
];

function once(abilities: Abilities): Abilities {
  return { ...abilities, repeatsOverColumns: false };
}

/** Text that is moved by points is moved no more in the HTML that LibreOffice makes. */
function htmlOfOffice(): Abilities {
  return { ...once(word), choices: { ...word.choices, shifts: ['attribute', 'style'] } };
}

/** LibreOffice writes letters without meaning where symbol fonts are not installed. */
function pagesOfOffice(): Abilities {
  return {
    ...once(word),
    languages: PLAIN_LANGUAGES,
    fonts: [],
    unseen: false,
    joined: false,
  };
}

function plainMails(): Abilities {
  return {
    ...mails,
    shifts: false,
    choices: { ...mails.choices, body: ['plain'], charset_in: ['header', 'none'] },
  };
}

function htmlMails(): Abilities {
  return { ...mails, choices: { ...mails.choices, body: ['html'], charset_in: ['header', 'meta'] } };
}

/** The abilities of a source's document, in the encoding that the number picks where it is written in one. */
export function abilitiesOf({ abilities, encoded }: Source, seed: number): Abilities {
  if (encoded === undefined) return abilities;
  const names = Object.keys(ENCODINGS);
  const encoding = names[seed % names.length] ?? 'utf-8';
  const isUnicode = encoding.startsWith('utf');
  return {
    ...abilities,
    languages: ENCODINGS[encoding] ?? ALL_LANGUAGES,
    unseen: isUnicode && abilities.unseen === true,
    joined: isUnicode && abilities.joined === true,
    choices: { ...abilities.choices, encoding: [encoding], declared: DECLARED[encoding] ?? [encoding] },
  };
}
