// The changes of TypeScript that make mutants. Each operator returns texts that stand in place of a node.
import ts from 'typescript';

const { SyntaxKind } = ts;

/** Another operator in place of one of two sides. */
const BINARY = new Map([
  [SyntaxKind.LessThanToken, ['<=', '>=']],
  [SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
  [SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [SyntaxKind.AmpersandAmpersandToken, ['||']],
  [SyntaxKind.BarBarToken, ['&&']],
  [SyntaxKind.QuestionQuestionToken, ['&&']],
  [SyntaxKind.PlusToken, ['-']],
  [SyntaxKind.MinusToken, ['+']],
  [SyntaxKind.AsteriskToken, ['/']],
  [SyntaxKind.SlashToken, ['*']],
  [SyntaxKind.PercentToken, ['*']],
  [SyntaxKind.PlusEqualsToken, ['-=']],
  [SyntaxKind.MinusEqualsToken, ['+=']],
  [SyntaxKind.AsteriskEqualsToken, ['/=']],
  [SyntaxKind.SlashEqualsToken, ['*=']],
]);
const ASSIGNING = new Set(['-=', '+=', '/=', '*=']);

/** Methods in place of others; null takes the call away and leaves what it was called on. */
const METHODS = new Map([
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['indexOf', 'lastIndexOf'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
  ['filter', null],
  ['slice', null],
  ['sort', null],
  ['toSorted', null],
  ['reverse', null],
  ['trim', null],
]);

const isText = (node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** A sum of texts has no difference. */
const isJoin = (node) =>
  [SyntaxKind.PlusToken, SyntaxKind.PlusEqualsToken].includes(node.operatorToken.kind) &&
  (isText(node.left) || isText(node.right));

function binary(node, text) {
  if (!ts.isBinaryExpression(node) || isJoin(node)) return [];
  const others = BINARY.get(node.operatorToken.kind) ?? [];
  return others.map((other) => ({
    operator: 'operator',
    text: ASSIGNING.has(other)
      ? `${text(node.left)} ${other} ${text(node.right)}`
      : `(${text(node.left)}) ${other} (${text(node.right)})`,
  }));
}

/** The condition of an `if`, a loop or a choice becomes always true, or never. */
function condition(node) {
  const { parent } = node;
  const isAsked =
    (ts.isIfStatement(parent) && parent.expression === node) ||
    ((ts.isConditionalExpression(parent) || ts.isForStatement(parent)) && parent.condition === node) ||
    ((ts.isWhileStatement(parent) || ts.isDoStatement(parent)) && parent.expression === node);
  if (!isAsked || node.kind === SyntaxKind.TrueKeyword) return [];
  const always = ts.isForStatement(parent) || ts.isWhileStatement(parent) ? [] : ['true'];
  return [...always, 'false'].map((text) => ({ operator: 'condition', text }));
}

function unary(node, text) {
  if (ts.isPostfixUnaryExpression(node) || ts.isPrefixUnaryExpression(node)) {
    const operand = text(node.operand);
    const isPostfix = ts.isPostfixUnaryExpression(node);
    if (node.operator === SyntaxKind.PlusPlusToken)
      return [{ operator: 'operator', text: isPostfix ? `${operand}--` : `--${operand}` }];
    if (node.operator === SyntaxKind.MinusMinusToken)
      return [{ operator: 'operator', text: isPostfix ? `${operand}++` : `++${operand}` }];
    // A number below zero that stands for an answer stands for it above zero, too.
    if (
      [SyntaxKind.ExclamationToken, SyntaxKind.MinusToken].includes(node.operator) &&
      !ts.isNumericLiteral(node.operand)
    )
      return [{ operator: 'negation', text: operand }];
  }
  return [];
}

function literal(node) {
  if (node.kind === SyntaxKind.TrueKeyword) return [{ operator: 'literal', text: 'false' }];
  if (node.kind === SyntaxKind.FalseKeyword) return [{ operator: 'literal', text: 'true' }];
  if (ts.isNumericLiteral(node) && ['0', '1'].includes(node.text) && !ts.isPrefixUnaryExpression(node.parent))
    return [{ operator: 'literal', text: node.text === '0' ? '1' : '0' }];
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))
    return [{ operator: 'literal', text: node.text === '' ? "'mutant'" : "''" }];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
    return [{ operator: 'empty', text: '[]' }];
  if (ts.isObjectLiteralExpression(node) && node.properties.length > 0)
    return [{ operator: 'empty', text: '({})' }];
  return [];
}

function pattern(node) {
  if (!ts.isRegularExpressionLiteral(node)) return [];
  const source = node.text;
  const anchored = [
    source.startsWith('/^') ? `/${source.slice(2)}` : null,
    source.replace(/\$(\/[a-z]*)$/, '$1'),
    source.replace(/\+(?=[^+?]*$)/, ''),
  ];
  return anchored
    .filter((each) => each !== null && each !== source && !each.startsWith('//'))
    .map((each) => ({ operator: 'pattern', text: each }));
}

function method(node, text) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression: object, name } = node.expression;
  const other = METHODS.get(name.text);
  if (other === undefined) return [];
  if (other === null) return [{ operator: 'method', text: text(object) }];
  const called = text(node).slice(name.end - node.getStart());
  return [
    {
      operator: 'method',
      text: `${text(node).slice(0, name.getStart() - node.getStart())}${other}${called}`,
    },
  ];
}

function statement(node) {
  const { parent } = node;
  if (ts.isExpressionStatement(parent) && node.kind !== SyntaxKind.SuperKeyword)
    return [{ operator: 'removal', text: 'undefined' }];
  if (ts.isArrowFunction(parent) && parent.body === node && !ts.isBlock(node))
    return [{ operator: 'removal', text: 'undefined' }];
  return [];
}

/** The mutants of an expression, by what stands in its place. */
export const expressionMutants = (node, text) => [
  ...statement(node),
  ...condition(node),
  ...binary(node, text),
  ...unary(node, text),
  ...literal(node),
  ...pattern(node),
  ...method(node, text),
];
