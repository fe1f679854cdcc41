/** Explains a cell: its name, its arithmetic and one sentence, from the terms that the core gives. */
import type { CellRef, CellTerms, Operand, StageInfo, Term } from '../core/types.ts';
import { shortText } from './matrix-text.ts';
import { fullPrecision, isBeyondRange, type NumberFormat, percentText } from './number-text.ts';
import {
  type Identity,
  indexPhrase,
  type Labels,
  nameOf,
  stageText,
  symbolOf,
} from './stage-text.ts';

/** A piece of the arithmetic line; an operand carries the identity whose colour it takes. */
export interface Piece {
  readonly text: string;
  readonly identity?: Identity;
  readonly strong?: boolean;
}

export interface Explanation {
  /** `S` with the subscript `1,1`. */
  readonly symbol: string;
  readonly subscript: string;
  readonly value: string;
  /** One line a step; the last line ends in the value. */
  readonly arithmetic: readonly (readonly Piece[])[];
  readonly sentence: string;
  /** The whole as plain text, for screen readers. */
  readonly spoken: string;
}

export interface ExplainContext {
  readonly info: StageInfo;
  readonly labels: Labels;
  readonly format: NumberFormat;
  readonly dK: number;
  readonly dV: number;
  /** Query heads. */
  readonly heads: number;
  /** The scale that was set; null for the default 1/√d_k. */
  readonly scale: number | null;
  /** Of a number that is not finite: the one that was too large for float32 and what it became. */
  readonly overflow: { readonly cell: CellRef; readonly value: number } | null;
  /** No key is visible in the row of scores that the cell belongs to. */
  readonly noKey: boolean;
}

/** More summands than this are shortened in the middle. */
const shownTerms = 12;

export function explainCell(cell: CellTerms, context: ExplainContext): Explanation {
  const symbol = symbolOf(cell.cell.stage, context.scale);
  const subscript =
    context.info.cols === 'one' ? `${cell.cell.row}` : `${cell.cell.row},${cell.cell.col}`;
  const value = fullPrecision(cell.value);
  const arithmetic = arithmeticOf(cell, context);
  const sentence = sentenceOf(cell, context);
  const said = arithmetic.map((line) => line.map((piece) => piece.text).join('')).join(' ');
  return {
    symbol,
    subscript,
    value,
    arithmetic,
    sentence,
    spoken: `${nameOf(cell.cell.stage, context.heads)} ${subscript}: ${said || value}. ${sentence}`,
  };
}

const bracketed = (text: string): string => (text.startsWith('−') ? `(${text})` : text);

function operandPiece(operand: Operand, format: NumberFormat, first = false): Piece {
  const text = shortText(operand.value, format);
  return {
    text: first ? text : bracketed(text),
    identity: operand.ref ? stageText[operand.ref.stage].identity : 'none',
  };
}

const plain = (text: string): Piece => ({ text });

/** Joins the lines of all terms by a separator, shortening the middle of long lists. */
function listed(
  terms: readonly Term[],
  separator: string,
  of: (term: Term, first: boolean) => Piece[],
): Piece[] {
  const pieces: Piece[] = [];
  const hidden = terms.length - shownTerms;
  terms.forEach((term, index) => {
    if (hidden > 0 && index >= shownTerms - 1 && index < terms.length - 1) {
      if (index === shownTerms - 1) pieces.push(plain(`${separator}… ${hidden} more …`));
      return;
    }
    if (index > 0) pieces.push(plain(separator));
    pieces.push(...of(term, index === 0));
  });
  return pieces;
}

function arithmeticOf(cell: CellTerms, { format, dK, heads, scale }: ExplainContext): Piece[][] {
  const terms = cell.terms.filter((term) => !isKeptOut(term, cell));
  const total: Piece = { text: shortText(cell.value, format), strong: true };
  const exact = total.text === fullPrecision(cell.value);
  const equals = plain(exact ? ' = ' : ' ≈ ');
  // What is set, not worked, equals nothing that could be written here.
  const result = isSet(cell) ? [] : [equals, total];
  const one = terms[0];
  const piece = (index: number, first = false): Piece =>
    operandPiece((one as Term).operands[index] as Operand, format, first);
  if (cell.operation === 'rowMax' && !one) return [];
  if (cell.operation !== 'given' && !one) return [[plain('empty sum'), equals, total]];
  switch (cell.operation) {
    case 'given':
      return [];
    case 'matmul': {
      const products = listed(terms, ' + ', (term, first) => [
        operandPiece(term.operands[0] as Operand, format, first),
        plain('·'),
        operandPiece(term.operands[1] as Operand, format),
      ]);
      if (terms.length === 1) return [[...products, equals, total]];
      const partials = listed(terms, ' + ', (term, first) => {
        const text = shortText(term.partial, format);
        return [plain(first ? text : bracketed(text))];
      });
      return [products, [plain('= '), ...partials, equals, total]];
    }
    case 'join':
    case 'transpose':
    case 'concatHeads': {
      const from = (one as Term).operands[0] as Operand;
      const ref = from.ref as CellRef;
      // Beside each other stand the numbers of all heads, above them those of one.
      const ofHead = cell.operation === 'concatHeads' && heads > 1 ? ` of head ${ref.head}` : '';
      const name = `${symbolOf(ref.stage, scale)}[${ref.row},${ref.col}]${ofHead}`;
      return [[{ text: name, identity: stageText[ref.stage].identity }, equals, total]];
    }
    case 'scale': {
      const product = [piece(0, true), plain(' · '), piece(1)];
      const divided = scale === null ? [piece(0, true), plain(` ÷ √${dK} = `)] : [];
      return [[...divided, ...product, equals, total]];
    }
    case 'softcap':
      return [
        [
          piece(1, true),
          plain('·tanh('),
          piece(0, true),
          plain('/'),
          piece(1),
          plain(')'),
          equals,
          total,
        ],
      ];
    case 'addMask':
      return [[piece(0, true), plain(' + '), piece(1), ...result]];
    case 'rowMax': {
      const list = listed(terms, ', ', (term) => [
        operandPiece(term.operands[0] as Operand, format, true),
      ]);
      return [[plain('max('), ...list, plain(')'), equals, total]];
    }
    case 'subtractRow':
      return [[piece(0, true), plain(' − '), piece(1), ...result]];
    case 'exp': {
      // Only e⁰ and the limits are what they are called; a power near 0 is rounded to 1.
      const power = (one as Term).operands[0]?.value ?? 0;
      const sign = power === 0 || !Number.isFinite(power) ? equals : plain(' ≈ ');
      return [[plain('exp('), piece(0, true), plain(')'), sign, total]];
    }
    case 'rowSum': {
      const sum = listed(terms, ' + ', (term, first) => [
        operandPiece(term.operands[0] as Operand, format, first),
      ]);
      return [[...sum, equals, total]];
    }
    case 'sumOfProducts': {
      const products = listed(terms, ' + ', (term, first) =>
        term.operands.flatMap((operand, place) => [
          ...(place > 0 ? [plain('·')] : []),
          operandPiece(operand, format, first && place === 0),
        ]),
      );
      return [[...products, equals, total]];
    }
    case 'divideByRow':
      return [[piece(0, true), plain(' ÷ '), piece(1), ...result]];
  }
}

/** The one sentence: what the number says, with the names of its row and column. */
function sentenceOf(cell: CellTerms, context: ExplainContext): string {
  const { info, labels } = context;
  const { stage, row, col } = cell.cell;
  const rowName = indexPhrase(info.rows, row, labels);
  const colName = indexPhrase(info.cols, col, labels);
  if (context.noKey && stage in ofNoKey) {
    return `No key is visible in the row of ${rowName}${ofNoKey[stage as keyof typeof ofNoKey]}`;
  }
  if (isSet(cell) && !failsByHand(cell)) {
    return `The mask hides ${colName} from ${rowName}, so this is set to ${fullPrecision(cell.value)}, whatever the numbers that it would be made from.`;
  }
  if (context.overflow) return overflowed(cell, context.overflow, context.scale);
  switch (stage) {
    case 'x':
    case 'xContext':
      return `Dial ${col} of the row of numbers that stands for ${rowName}. It is given.`;
    case 'wq':
    case 'wk':
    case 'wv':
      return `How strongly dial ${row} turns ${columnOf(stage, col, colName, context)}. It is given; in a trained model it is learned.`;
    case 'wo':
      return `How strongly blended number ${row} turns output number ${col}. It is given; in a trained model it is learned.`;
    case 'q':
      return `What ${rowName} looks for in ${colName}. ${made(cell)}`;
    case 'k':
      return `What ${rowName} offers in ${colName}. ${made(cell)}`;
    case 'v':
      return `Number ${col} of what ${rowName} hands over. ${made(cell)}`;
    case 'presentKey':
    case 'presentValue':
      return `Past rows first, then the new ones: row ${row} belongs to ${rowName}.`;
    case 'keyTransposed':
      return `${capital(rowName)} of the key of ${colName}: the rows of K are the columns of Kᵀ, so that each meets a query.`;
    case 'rawScores':
      return `How well the query of ${rowName} matches the key of ${colName}: ${match(cell)}.`;
    case 'scaledScores':
      return context.scale === null
        ? `The score divided by √d_k, the square root of the key width ${context.dK}.`
        : `The score times the scale ${fullPrecision(context.scale)}, which is set above.`;
    case 'cappedScores':
      return 'The score bent so that it stays within the cap.';
    case 'mask':
      return cell.value === -Infinity
        ? `${capital(rowName)} may not attend to ${colName}: −∞ hides the key.`
        : cell.value === 0
          ? `${capital(rowName)} may attend to ${colName}: adding 0 changes no score.`
          : `This is added to the score of ${rowName} for ${colName}, which stays visible.`;
    case 'maskedScores':
      return 'The score with the mask added; −∞ hides the key exactly.';
    case 'rowMax':
      return `The largest score in the row of ${rowName}.`;
    case 'shifted':
      return cell.value === 0
        ? `This is the largest score in the row of ${rowName}, so 0 is left.`
        : `How far this score lies below the largest in the row of ${rowName}.`;
    case 'exponentials':
      return cell.terms[0]?.operands[0]?.value === 0
        ? 'e to the power 0 is 1: the row’s largest score always gives 1.'
        : 'e to the power of the shifted score: the further below the largest, the smaller.';
    case 'rowSum':
      return `All exponentials in the row of ${rowName}: the whole that is shared out.`;
    case 'plainExponentials':
      return 'e to the power of the scaled score, without subtracting the row’s largest first.';
    case 'plainRowSum':
      return `All exponentials in the row of ${rowName}, without subtracting the row’s largest first.`;
    case 'weights':
      return `${capital(rowName)} gives ${percentText(cell.value)} of its attention to ${colName}.${
        failsByHand(cell)
          ? ` By hand this fails: exp leaves the range of float32, and the quotient says nothing. The weight is the machine’s, ${fullPrecision(cell.value)}.`
          : ''
      }`;
    case 'heads':
      return `Number ${col} of the blend for ${rowName}: the values of all keys, each times its weight. ${
        cell.terms.some((term) => isKeptOut(term, cell))
          ? 'Numbers that are infinite or NaN are left out where the mask hides their key. '
          : ''
      }${largest(cell, labels)}`;
    case 'concat':
      return context.heads === 1
        ? 'The blend itself: there is one head.'
        : 'The same number, with the heads set side by side.';
    case 'output':
      return `Number ${col} of what leaves the layer for ${rowName}: its blend through W_o.`;
    case 'dOutput':
      return 'How fast the loss grows when this number of the result grows. It is given.';
    case 'dWeights':
    case 'dScores':
      if (cell.terms.length === 0) {
        return `No value of ${colName} reaches ${rowName}, so whatever stands here changes nothing.`;
      }
      return `${growth(stage, cell.value)}${stage === 'dScores' ? slopes(cell) : ''}`;
    case 'dConcat':
    case 'dQ':
    case 'dK':
    case 'dV':
    case 'dWq':
    case 'dWk':
    case 'dWv':
    case 'dWo':
    case 'dX':
    case 'dXContext':
      return growth(stage, cell.value);
  }
}

const growth = (stage: keyof typeof gradientOf, slope: number): string =>
  `How fast the loss grows when this number of ${gradientOf[stage]} grows.${direction(slope)}`;

/** What stands beside the numbers of dA: a row of the Jacobian of the softmax. */
const slopes = ({ terms }: CellTerms): string =>
  ` Each number of dA is multiplied by how far its weight a moves with this score: by a·(1 − a) for the weight in this place, by −a·a′ for every other${
    (terms[0]?.operands.length ?? 0) > 2 ? ', and by the slope of the cap' : ''
  }.`;

const direction = (slope: number): string =>
  slope < 0
    ? ' It is below 0, so the loss falls.'
    : slope === 0
      ? ' It is 0: a small change makes no difference.'
      : '';

/** What is said of the softmax in a row without a visible key, after “No key is visible in the row”. */
const ofNoKey = {
  rowMax: ', so there is no largest score: −∞ stands for it.',
  shifted:
    ', and −∞ − (−∞) has no value: −∞ stands here, and the row of weights is set to 0 by convention.',
  exponentials: ', and e to the power of −∞ is 0.',
  rowSum: ', so all its exponentials are 0 and there is nothing to share out.',
  plainExponentials: ', and e to the power of −∞ is 0.',
  plainRowSum: ', so all its exponentials are 0 and there is nothing to share out.',
  weights: ', and 0 ÷ 0 has no value: the row is set to 0 by convention.',
} as const;

/** A weight worked by hand whose quotient is lost, while the machine’s weight is not. */
const failsByHand = ({ value, terms }: CellTerms): boolean => {
  const [exponential, sum] = terms[0]?.operands ?? [];
  return (
    sum?.ref?.stage === 'plainRowSum' &&
    Number.isFinite(value) &&
    isBeyondRange(sum.value) &&
    (value > 0 || exponential?.value === sum.value)
  );
};

/**
 * A number that its operands do not give, as they leave the range of numbers: at a key that the mask
 * hides, in a row that sees none, or where working by hand fails.
 */
function isSet(cell: CellTerms): boolean {
  const { operation, value, terms } = cell;
  const [left = 0, right = 0] = terms[0]?.operands.map((operand) => operand.value) ?? [];
  switch (operation) {
    case 'addMask':
      // ∞ + (−∞) or NaN + (−∞)
      return value === -Infinity && !(left < Infinity);
    case 'subtractRow':
      // −∞ − (−∞) or −∞ − NaN
      return value === -Infinity && !(right > -Infinity);
    case 'divideByRow':
      // 0 ÷ 0 or 0 ÷ NaN
      return (
        failsByHand(cell) || (value === 0 && left === 0 && (right === 0 || Number.isNaN(right)))
      );
    default:
      return false;
  }
}

/** A product that would be NaN, as one factor is no ordinary number, but whose key is hidden. */
const isKeptOut = ({ operands, partial }: Term, { operation }: CellTerms): boolean =>
  (operation === 'matmul' || operation === 'sumOfProducts') &&
  partial === 0 &&
  operands.some(({ value }) => !Number.isFinite(value));

/** Why a number is not finite: the number that passed the largest float32. */
function overflowed(
  { cell, value }: CellTerms,
  origin: NonNullable<ExplainContext['overflow']>,
  scale: number | null,
): string {
  const { stage, row, col } = origin.cell;
  const name = `${symbolOf(stage, scale)}[${row},${col}]`;
  const became = Number.isNaN(origin.value)
    ? `${name} has parts that overflowed to ∞ and to −∞`
    : `${name} overflowed to ${fullPrecision(origin.value)}`;
  const own = stage === cell.stage && row === cell.row && col === cell.col;
  const consequence = own
    ? ''
    : ` So this number ${Number.isNaN(value) ? 'has no value' : 'is infinite, too'}.`;
  return `${became}: too large for float32, which ends at about 3.4·10³⁸.${consequence}`;
}

const gradientOf = {
  dConcat: 'the blended values',
  dWeights: 'the weights',
  dScores: 'the scaled scores, through the whole row of the softmax,',
  dQ: 'the queries',
  dK: 'the keys, through every query that sees it,',
  dV: 'the values, through every query that sees it,',
  dWq: 'W_q',
  dWk: 'W_k',
  dWv: 'W_v',
  dWo: 'W_o',
  dX: 'X',
  dXContext: 'the context',
} as const;

/** A grid of several heads holds their columns side by side: `feature 0 of every query of head 1`. */
function columnOf(
  stage: keyof typeof axisOwner,
  col: number,
  colName: string,
  { dK, dV, heads }: ExplainContext,
): string {
  const owner = axisOwner[stage];
  if (heads === 1) return `${colName} of every ${owner}`;
  const width = stage === 'wv' ? dV : dK;
  const what = stage === 'wv' ? 'number' : 'feature';
  const head = `${stage === 'wq' ? 'head' : 'key/value head'} ${Math.floor(col / width)}`;
  return `${what} ${col % width} of every ${owner} of ${head}`;
}

const axisOwner = { wq: 'query', wk: 'key', wv: 'value row' } as const;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const made = (cell: CellTerms): string =>
  cell.operation === 'given'
    ? 'It is given.'
    : 'The token’s dials, each times the weight in this column, added up.';

/** Which features make a score. */
function match(cell: CellTerms): string {
  const parts = cell.terms
    .map((term, feature) => ({ feature, partial: term.partial }))
    .filter(({ partial }) => partial !== 0);
  if (parts.length === 0) return 'every product is 0, so nothing speaks for or against it';
  if (parts.length === 1) return `feature ${parts[0]?.feature} alone makes the score`;
  const top = parts.reduce((a, b) => (Math.abs(b.partial) > Math.abs(a.partial) ? b : a));
  const equal = parts.filter(({ partial }) => Math.abs(partial) === Math.abs(top.partial));
  if (equal.length > 1) {
    return `features ${joined(equal.map(({ feature }) => feature))} weigh most, equally`;
  }
  return `feature ${top.feature} weighs most`;
}

/** Which key supplies the largest part of a blend. */
function largest(cell: CellTerms, labels: Labels): string {
  const parts = cell.terms.filter(({ partial }) => partial !== 0);
  if (parts.length === 0) return 'Every part is 0.';
  const top = parts.reduce((a, b) => (Math.abs(b.partial) > Math.abs(a.partial) ? b : a));
  const key = top.operands[0]?.ref?.col ?? 0;
  const name = indexPhrase('key', key, labels);
  return parts.length === 1
    ? `Only ${name} supplies something.`
    : `${capital(name)} supplies the largest part.`;
}

function joined(items: readonly (string | number)[]): string {
  const head = items.slice(0, -1).join(', ');
  return items.length > 1 ? `${head} and ${items.at(-1)}` : `${items[0] ?? ''}`;
}
