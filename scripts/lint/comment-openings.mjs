/** Words that make a reader wait for the subject of a comment. "Tells whether …" names it at once. */
const LATE_SUBJECT = /^(?:What|Whether)\b/;
const MESSAGE =
  'A comment begins with its subject, not with "{{word}}": a noun of the glossary (src/shared/ports.ts), or a verb ("Tells whether …").';

/** Refuses comments that begin with "What" or "Whether". Lines of `//` below each other are one comment. */
export const commentOpenings = {
  meta: { type: 'suggestion', schema: [], messages: { late: MESSAGE } },
  create: ({ report, sourceCode }) => ({
    Program: () => {
      let before = null;
      for (const comment of sourceCode.getAllComments()) {
        const [word] = LATE_SUBJECT.exec(textOf(comment)) ?? [];
        if (word !== undefined && !goesOn(comment, before))
          report({ loc: comment.loc, messageId: 'late', data: { word } });
        before = comment;
      }
    },
  }),
};

/** The text of a comment, without the stars and blanks in front of it. */
const textOf = ({ value }) => value.replace(/^[\s*]+/, '');

/** Tells whether a comment is a further line of the one before. */
const goesOn = (comment, before) =>
  before?.type === 'Line' &&
  comment.type === 'Line' &&
  comment.loc.start.line === before.loc.end.line + 1 &&
  comment.loc.start.column === before.loc.start.column;
