// Puts all mutants of a file into one text of it, each behind a question whether it is the one that is on.
import ts from 'typescript';
import { isLua, luaMutants } from './lua.mjs';
import { expressionMutants } from './operators.mjs';

/**
 * @param {string} name of the file, and `source`, its TypeScript
 * @param {number} first the number of the first mutant
 * @returns the compiled text, and `mutants` with their place and the text of their line
 */
export function instrument({ name, source, first }) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.ES2023, true);
  const lines = source.split('\n');
  const text = (node) => source.slice(node.getStart(), node.end);
  const insertions = [];
  const mutants = [];
  const note = (operator, at, end, replacement) => {
    const { line, character } = file.getLineAndCharacterOfPosition(at);
    const id = first + mutants.length;
    const original = source.slice(at, end);
    const place = { file: name, line: line + 1, column: character + 1, text: lines[line].trim() };
    mutants.push({ id, ...place, operator, original, replacement });
    return id;
  };
  const wrap = (from, to, before, after) => insertions.push({ from, to, before, after });

  const visit = (node) => {
    if (isExcluded(node)) return;
    if (isScript(node)) markScript(node);
    else if (ts.isBlock(node) && isEmptied(node)) empty(node);
    else if (isMutable(node)) choose(node);
    else if (
      ts.isPropertyAccessExpression(node) ||
      ts.isCallExpression(node) ||
      ts.isElementAccessExpression(node)
    )
      chain(node);
    node.forEachChild(visit);
  };
  /** A block without its statements. */
  const empty = (node) => {
    const id = note('empty', node.getStart(), node.end, '{}');
    wrap(node.getStart() + 1, node.end - 1, `if(__m(${id})){}else{`, '}');
  };
  const choose = (node) => {
    const at = node.getStart();
    const choices = expressionMutants(node, text).map(({ operator, text: other }) => {
      const id = note(operator, at, node.end, other);
      return `__m(${id})?(${other}):`;
    });
    chain(node);
    if (choices.length === 0) return;
    const top = topOfChain(node);
    if (top === node) return wrap(at, node.end, `(${choices.join('')}`, ')');
    // Within a chain `a?.b().c` the mutant is of the whole chain, which ends where `a` is none.
    const whole = (other) => source.slice(top.getStart(), at) + other + source.slice(node.end, top.end);
    const others = choices.map((choice) =>
      choice.replace(/^(__m\(\d+\)\?)\(([^]*)\):$/, (_, ask, other) => `${ask}(${whole(other)}):`),
    );
    wrap(top.getStart(), top.end, `(${others.join('')}`, ')');
  };
  /** `a?.b` as `a.b`. */
  const chain = (node) => {
    if (node.questionDotToken === undefined) return;
    const top = topOfChain(node);
    const [from, to] = [node.questionDotToken.getStart(), node.questionDotToken.end];
    const dot = ts.isPropertyAccessExpression(node) ? '.' : '';
    const other = source.slice(top.getStart(), from) + dot + source.slice(to, top.end);
    const id = note('chain', top.getStart(), top.end, other);
    wrap(top.getStart(), top.end, `(__m(${id})?(${other}):`, ')');
  };
  const markScript = (node) => {
    const start = node.getStart();
    for (const { operator, from, to, text: other } of luaMutants(text(node))) {
      const id = note(operator, start + from, start + to, other);
      wrap(start + from, start + to, `\\u0001${id}\\u0002`, `\\u0003${other}\\u0004`);
    }
  };

  visit(file);
  return { text: compile(name, insert(source, insertions)), mutants };
}

/** Outer insertions are around inner ones; of equal places the later ones are within the earlier. */
function insert(source, insertions) {
  const pieces = insertions.flatMap(({ from, to, before, after }, order) => [
    { at: from, isEnd: false, size: to - from, order, text: before },
    { at: to, isEnd: true, size: to - from, order, text: after },
  ]);
  pieces.sort((a, b) => {
    if (a.at !== b.at) return a.at - b.at;
    if (a.isEnd !== b.isEnd) return a.isEnd ? -1 : 1;
    const outerFirst = b.size - a.size || a.order - b.order;
    return a.isEnd ? -outerFirst : outerFirst;
  });
  let [text, at] = ['', 0];
  for (const piece of pieces) {
    text += source.slice(at, piece.at) + piece.text;
    at = piece.at;
  }
  return text + source.slice(at);
}

function compile(name, text) {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
  };
  const { outputText, diagnostics } = ts.transpileModule(text, {
    compilerOptions,
    fileName: name,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0)
    throw new Error(
      `${name}: ${diagnostics.map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' ')).join(', ')}`,
    );
  return outputText;
}

const isScript = (node) =>
  (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)) && isLua(node.getText());

/**
 * Tells whether a node is no behaviour, or none that is promised: types, imports, names of properties, the words of errors,
 * and log lines.
 */
function isExcluded(node) {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  const isWords = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
  if (isWords && isWordsOfError(node)) return true;
  if (ts.isPropertyDeclaration(node) && node.name.getText() === 'name') return true;
  return ts.isCallExpression(node) && /^(?:\w+\.)*(?:logger|log)\.\w+$/.test(node.expression.getText());
}

function isWordsOfError({ parent }) {
  if (ts.isNewExpression(parent)) return /Error$/.test(parent.expression.getText());
  if (ts.isCallExpression(parent)) return ['super', 'refuse'].includes(parent.expression.getText());
  return ts.isBinaryExpression(parent) || ts.isConditionalExpression(parent) ? isWordsOfError(parent) : false;
}

const isEmptied = (node) =>
  node.statements.length > 0 && !node.statements.some((each) => each.getText().startsWith('super('));

/** An expression that has a value of its own, in whose place another one can stand. */
function isMutable(node) {
  const { parent } = node;
  if (!ts.isExpression(node) || parent === undefined || ts.isSpreadElement(node)) return false;
  if (ts.isIdentifier(node) && !isPlaceOfValue(node)) return false;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false;
  if (
    ts.isTaggedTemplateExpression(parent) ||
    (ts.isComputedPropertyName(parent) && ts.isTypeNode(parent.parent))
  )
    return false;
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent)) return false;
  if (ts.isAwaitExpression(parent) && ts.isExpressionStatement(parent.parent)) return true;
  return !ts.isExportAssignment(parent);
}

const isPlaceOfValue = ({ parent }) =>
  ts.isIfStatement(parent) ||
  ts.isConditionalExpression(parent) ||
  (ts.isArrowFunction(parent) && false) ||
  ts.isWhileStatement(parent);

const isAssignment = ({ operatorToken }) =>
  operatorToken.kind >= ts.SyntaxKind.FirstAssignment && operatorToken.kind <= ts.SyntaxKind.LastAssignment;

/** The whole chain of calls and properties that a node is in the spine of, where a `?.` of it may end it. */
function topOfChain(node) {
  let top = node;
  while (isLink(top.parent) && top.parent.expression === top && ts.isOptionalChain(top.parent))
    top = top.parent;
  return top;
}

const isLink = (node) =>
  ts.isPropertyAccessExpression(node) ||
  ts.isElementAccessExpression(node) ||
  ts.isCallExpression(node) ||
  ts.isNonNullExpression(node);
