import type { Location } from '../../blocks/location.js';
import { createBlockWriter, type BlockWriter } from '../../blocks/block-writer.js';
import { readObject, type OdfContext, type OdfReader } from './context.js';
import { createGrounds } from './grounds.js';
import { createLists } from './lists/lists.js';
import { createParagraphs, type OdfParagraph } from './paragraphs.js';
import { createRepeatBudget } from './repeat-budget.js';
import type { SlideGround } from './slides/slide-ground.js';
import { createSlides, type SlideParagraph } from './slides/slides.js';
import { createTables } from './tables.js';

/** Reads the body of a text or a presentation into blocks. @param slideGround for a presentation */
export function createTextDocument(context: OdfContext, slideGround?: SlideGround): OdfReader {
  const { styles, hidden, receipt, signs } = context;
  const writer = createBlockWriter();
  const lists = createLists(styles);
  const slides = createSlides(context);
  const tables = createTables(createRepeatBudget(receipt));
  const grounds = createGrounds(styles, slideGround);
  const onParagraph = (paragraph: OdfParagraph): void => {
    if (!slides.accepts(paragraph.text) || tables.add(paragraph.text)) return;
    const mark = paragraph.isNote || paragraph.heading !== undefined ? undefined : lists.mark();
    addParagraph(writer, paragraph, { mark, slide: slides.current() });
  };
  const onEmptyField = (): void => noteEmptyField(context, slides.location());
  const paragraphs = createParagraphs({ styles, hidden, signs, onParagraph, onEmptyField, ...grounds });
  return {
    open: (name, attributes) => {
      grounds.open(name, attributes);
      const formula = readObject({ name, attributes }, context, slides.location());
      slides.open(name, attributes);
      lists.open(name, attributes);
      tables.open(name, attributes);
      paragraphs.open(name, attributes);
      if (formula !== '') paragraphs.addObject(formula);
    },
    close: (name) => {
      paragraphs.close(name);
      const table = tables.close(name, slides.place());
      if (table) writer.addFinished(table);
      lists.close(name);
      slides.close(name);
      grounds.close(name);
    },
    text: (text) => paragraphs.text(text),
    take: writer.take,
    end: () => {
      slides.end();
      return writer.end();
    },
  };
}

const noteEmptyField = ({ receipt }: OdfContext, location: Location | null): void =>
  receipt.addGap('skipped', 'An empty field of a form was left out.', location);

interface ParagraphPlace {
  readonly mark: string | undefined;
  readonly slide: SlideParagraph | undefined;
}

function addParagraph(writer: BlockWriter, paragraph: OdfParagraph, { mark, slide }: ParagraphPlace): void {
  const heading = paragraph.heading ?? (slide?.isTitle === true ? 1 : undefined);
  const text = `${slide?.prefix ?? ''}${heading === undefined ? (mark ?? '') : ''}${paragraph.text}`;
  writer.add(
    {
      text,
      ...(heading === undefined ? {} : { heading }),
      ...(slide === undefined ? {} : { place: { slide: slide.slide } }),
    },
    { isLine: heading === undefined && mark !== undefined },
  );
}
