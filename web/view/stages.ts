/** The stages of Numbers as a text with figures: which matrices stand where, and what is said. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ForwardSession, StageId, StageInfo } from '../core/types.ts';
import { type Scale, shareScale } from '../format/colour.ts';
import { matrixTexts, shortText, widestText } from '../format/matrix-text.ts';
import { fullPrecision, isBeyondRange, percentText, shownSum } from '../format/number-text.ts';
import { indexPhrase, stageText } from '../format/stage-text.ts';
import { inputsOf, type Problem, type Shown, type State } from '../state/types.ts';
import { cssProps } from './css-props.ts';
import { stageFormula } from './formula.ts';
import { live, tick } from './live.ts';
import { complaintId, isWritten, legend, type MatrixContext, matrix } from './matrix.ts';
import { shownMatrix, softmaxInput } from './shown.ts';

export const sectionIds = ['inputs', 'scores', 'softmax', 'output', 'scale', 'gradients'] as const;
export type SectionId = (typeof sectionIds)[number];

export interface StagesContext extends MatrixContext {
  /** What the numbers belong to. */
  readonly problem: Problem;
  /** What was asked for: ahead of the numbers by a frame at most. */
  readonly wanted: Problem;
  readonly session: ForwardSession;
  readonly table: ReadonlyMap<StageId, StageInfo>;
  readonly shown: Shown;
  readonly onSwitch: (switches: Partial<Pick<Problem, 'causal' | 'masked' | 'gradients'>>) => void;
  /** The gradient mode, once it is switched on and loaded. */
  readonly gradients: ((context: StagesContext) => TemplateResult) | null;
  readonly reading: State['reading'];
  /** The comparison with and without the division, once it is loaded. */
  readonly scaleLab: unknown;
  readonly onReading: (reading: State['reading']) => void;
  /** Only the stages that stand at the top: the others come with the next frame. */
  readonly isFirst: boolean;
}

interface Drawn {
  readonly formula?: TemplateResult;
  readonly scale?: Scale;
  readonly bare?: boolean;
  readonly editable?: boolean;
  readonly paintable?: boolean;
  readonly chars?: number;
}

/** Draws the stage in the section, or nothing where it does not apply. */
export function draw(
  section: SectionId,
  stage: StageId,
  context: StagesContext,
  drawn: Drawn = {},
): TemplateResult | typeof nothing {
  const { session, problem } = context;
  if (!session.has(stage)) return nothing;
  const info = context.table.get(stage) as StageInfo;
  const formula = stageFormula(stage, {
    projected: problem.source === 'x',
    context: problem.context,
    scale: problem.scale === null ? null : fullPrecision(problem.scale),
    softmaxInput: softmaxInput(session),
    capped: session.has('cappedScores'),
    reading: context.reading,
  });
  const shown = shownMatrix(session, info, context.shown);
  return matrix({ place: `${section}-${stage}`, info, ...shown, formula, ...drawn }, context);
}

function charsOf(stage: StageId, { session, format, table, shown }: StagesContext): number {
  if (!session.has(stage) || !isWritten(session.shape(stage))) return 0;
  const { values } = shownMatrix(session, table.get(stage) as StageInfo, shown);
  return widestText(matrixTexts(values, format));
}

/** Left matrix at lower left, right matrix above the result, the result where they cross. */
function corner(
  section: SectionId,
  [left, right, result]: readonly [StageId, StageId, StageId],
  context: StagesContext,
  scales: Partial<Record<StageId, Scale>> = {},
  editable: readonly StageId[] = [],
): TemplateResult {
  // Columns of the right matrix line up with columns of the result.
  const chars = Math.max(...[right, result].map((stage) => charsOf(stage, context)));
  const one = (stage: StageId) =>
    draw(section, stage, context, {
      ...(scales[stage] ? { scale: scales[stage] } : {}),
      ...(stage === left ? {} : { chars }),
      editable: editable.includes(stage),
    });
  const after = String(colsAfter(right, result, context));
  return html`<div class="corner">
    ${one(left)}
    <div class="crossing">
      ${one(right)}
      <div class="under" ${cssProps({ '--after': after, '--chars': String(chars) })}>${one(result)}</div>
    </div>
  </div>`;
}

/** Columns of a projection for all heads that stand to the right of those of the shown head. */
function colsAfter(right: StageId, result: StageId, context: StagesContext): number {
  const { session, table, shown } = context;
  const whole = session.shape(right);
  if (!isWritten(whole)) return 0;
  const { head, shape } = shownMatrix(session, table.get(result) as StageInfo, shown);
  return Math.max(0, whole.cols - (head + 1) * shape.cols);
}

/** What went wrong in the cells of one section, each with the text that was typed. */
export function complaints(stages: readonly StageId[], context: StagesContext): TemplateResult[] {
  return Object.entries(context.drafts)
    .map(([key, draft]) => ({
      draft,
      at: key.split(' ') as [StageId, string, string, string, string],
    }))
    .filter(({ at }) => stages.includes(at[0]))
    .map(({ draft, at: [stage, row, col, batch, head] }) => {
      const info = context.table.get(stage) as StageInfo;
      const where = `${stageText[stage].symbol}, ${indexPhrase(info.rows, Number(row), context.labels)}, ${indexPhrase(info.cols, Number(col), context.labels)}`;
      return html`<p class="complaint" id=${complaintId(stage, row, col, batch, head)} role="alert">
        <b>${where}:</b> ${draft.message} The old number is kept until this is corrected.
      </p>`;
    });
}

function section(
  id: SectionId,
  number: number,
  title: unknown,
  lead: unknown,
  body: unknown,
): TemplateResult {
  return html`<section id=${id} data-section=${id} aria-labelledby=${`${id}-title`}>
    <h2 id=${`${id}-title`} tabindex="-1"><span class="n" aria-hidden="true">${number}</span> ${title}</h2>
    <p class="lead">${lead}</p>
    ${body}
  </section>`;
}

const rootDk = html`<span class="nobr">√d<sub>k</sub></span>`;

function inputsSection(context: StagesContext): TemplateResult {
  const { problem } = context;
  const given = inputsOf(problem).filter((id) => id !== 'wo' && id !== 'mask' && id !== 'dOutput');
  if (problem.source === 'qkv') {
    return section(
      'inputs',
      1,
      'What each token brings',
      'Three rows per token: what it looks for (Q), what it offers (K), what it hands over (V). Click a number to change it.',
      html`<div class="row">
          ${given.map((id) => draw('inputs', id, context, { editable: true }))}
        </div>
        ${complaints(given, context)}`,
    );
  }
  const keysFrom: StageId = problem.context ? 'xContext' : 'x';
  return section(
    'inputs',
    1,
    'What each token brings',
    `Each token arrives as one row of X${problem.context ? ', keys and values as rows of X′, the context' : ''}. Three grids of weights turn the row into what the token looks for (Q), what it offers (K) and what it hands over (V).`,
    html`${corner('inputs', ['x', 'wq', 'q'], context, {}, ['x', 'wq'])}
      ${corner('inputs', [keysFrom, 'wk', 'k'], context, {}, problem.context ? ['xContext', 'wk'] : ['wk'])}
      ${corner('inputs', [keysFrom, 'wv', 'v'], context, {}, ['wv'])}
      ${complaints(given, context)}`,
  );
}

function scoresSection(context: StagesContext, scores: Scale): TemplateResult {
  return section(
    'scores',
    2,
    'Every query meets every key',
    html`Row <i>i</i> of Q and column <i>j</i> of Kᵀ cross in the score S<sub>i,j</sub>: their dot
      product.`,
    html`${corner('scores', ['q', 'keyTransposed', 'rawScores'], context, { rawScores: scores })}
      ${maskPart(context)}
      ${legend(
        scores,
        context.format,
        'S and the scores made from it share this scale',
        !isWritten(context.session.shape('rawScores')),
      )}`,
  );
}

/** The mask, with the ways to make one. */
function maskPart(context: StagesContext): TemplateResult {
  const { problem, wanted, onSwitch } = context;
  const box = (name: 'causal' | 'masked', label: string) =>
    html`<label
      ><input
        type="checkbox"
        .checked=${live(wanted[name])}
        @change=${(event: Event) => {
          tick(event, !wanted[name]);
          onSwitch({ [name]: !wanted[name] });
        }}
      />
      ${label}</label
    >`;
  return html`<fieldset class="choice">
      <legend>Hide keys</legend>
      ${box('causal', 'causal mask: a query sees keys up to its own place')}
      ${box('masked', 'a mask of your own')}
    </fieldset>
    ${
      context.session.has('mask')
        ? html`<p class="lead">
              A mask is added to the scores before the softmax; −∞ hides a key completely.
              ${problem.masked ? 'Click a cell, or press Space on it, to hide a key or show it again.' : ''}
            </p>
            <div class="row">${draw('scores', 'mask', context, { paintable: problem.masked })}</div>`
        : nothing
    }`;
}

function softmaxSection(context: StagesContext, scores: Scale): TemplateResult {
  const { problem, session } = context;
  const scaled = session.shape('scaledScores');
  const rows = String(isWritten(scaled) ? scaled.rows : 1);
  const step = (operator: unknown, stage: StageId, drawn: Drawn = {}, after: unknown = nothing) =>
    html`<div class="step"><span class="operator" ${cssProps({ '--rows': rows })}>${operator}</span>${draw('softmax', stage, context, { bare: true, ...drawn })}${after}</div>`;
  const divided =
    problem.scale === null
      ? html`divide by ${rootDk} = √${problem.sizes.dK} (the same as multiplying by
          ${shortText(session.scale, context.format)})`
      : html`multiply by the scale ${fullPrecision(session.scale)}, which is set above`;
  return section(
    'softmax',
    3,
    'Scale, then share out 100 %',
    html`Each row on its own, from left to right: ${divided},
      ${context.reading === 'machine' ? 'subtract the row’s largest, ' : nothing}exponentiate,
      divide by the row’s sum.`,
    html`${readingChoice(context)}
      <div class="row steps">
        ${draw('softmax', 'scaledScores', context, { scale: scores })}
        ${session.has('cappedScores') ? step('tanh', 'cappedScores', { scale: scores }) : nothing}
        ${session.has('maskedScores') ? step('+ M', 'maskedScores', { scale: scores }) : nothing}
        ${
          context.reading === 'machine'
            ? html`${step('max', 'rowMax')} ${step('−', 'shifted', { scale: scores })}
              ${step('exp', 'exponentials')} ${step('Σ', 'rowSum')}`
            : html`${step('exp', 'plainExponentials')} ${step('Σ', 'plainRowSum')}`
        }
        ${step('÷', 'weights', { scale: shareScale }, totals(context))}
      </div>
      ${isWritten(scaled) ? legend(shareScale, context.format, 'A, a share of the row') : nothing}`,
  );
}

/** Each row of weights is a whole; where its shown numbers add up to something else, that is said. */
function totals({ session, format, table, shown }: StagesContext): TemplateResult | typeof nothing {
  const { shape, values, batch, head } = shownMatrix(
    session,
    table.get('weights') as StageInfo,
    shown,
  );
  const { rows, cols } = shape;
  if (cols === 0 || !isWritten(shape)) return nothing;
  const sums = [...Array(rows).keys()].map((row) => ({
    ...shownSum(values.subarray(row * cols, (row + 1) * cols), format),
    // The float32 weights may miss 1 by a few units in the last place, which is no news here.
    sum: fullPrecision(Number(session.rowSum(batch, head, row).toFixed(4))),
  }));
  return html`<div class="totals">
    ${sums.map(
      ({ sum, text, addsToOne }) =>
        html`<span
          ><b>Σ = ${sum}</b>${
            addsToOne || text === sum || text === 'NaN'
              ? nothing
              : html`<small>shown: ${text}</small>`
          }</span
        >`,
    )}
  </div>`;
}

/** Softmax as it is worked by hand or by the machine: other numbers on the way, the same weights. */
function readingChoice(context: StagesContext): TemplateResult {
  const { reading, onReading } = context;
  const failing = rowsLostByHand(context);
  const choice = (value: State['reading'], label: string) =>
    html`<label
      ><input
        type="radio"
        name="reading"
        value=${value}
        .checked=${live(reading === value)}
        @change=${(event: Event) => {
          tick(event, true);
          onReading(value);
        }}
      />
      ${label}</label
    >`;
  return html`<fieldset class="choice">
      <legend>Softmax as it is worked</legend>
      ${choice('machine', 'in the machine, after subtracting the row’s maximum')}
      ${choice('hand', 'by hand, from the scores themselves')}
    </fieldset>
    <p class="note">
      ${
        failing.length === 0
          ? html`Both ways give the same weights: subtracting one number from a whole row divides its
              exponentials and their sum by the same factor. The machine subtracts because exp of a
              large score would be more than it can hold.`
          : html`By hand fails here, in the row of ${failing.join(', ')}: exp leaves the range of
              float32, which ends at about 3.4·10³⁸, and the quotient has no value. The weights shown
              are the machine’s: subtracting the row’s maximum first keeps every exponential between 0
              and 1.`
      }
    </p>`;
}

/** The queries whose sum of plain exponentials is beyond float32, though their weights are not. */
function rowsLostByHand({ session, table, shown, labels }: StagesContext): string[] {
  const rowsOf = (stage: StageId) =>
    shownMatrix(session, table.get(stage) as StageInfo, shown).values;
  const maxima = rowsOf('rowMax');
  return [...rowsOf('plainRowSum')].flatMap((sum, row) =>
    isBeyondRange(sum) && Number.isFinite(maxima[row]) ? [indexPhrase('query', row, labels)] : [],
  );
}

function outputSection(context: StagesContext): TemplateResult {
  return section(
    'output',
    4,
    'Blend the values',
    blendSentence(context),
    html`${corner('output', ['weights', 'v', 'heads'], context, { weights: shareScale })}
      <p class="note">
        A weight is a share of attention, not a share of the output, and it says where a value came
        from in this one step, not why a model decided something.
      </p>
      ${
        context.problem.sizes.heads > 1
          ? html`<p class="lead spaced">
                Every head blends on its own; then their blends are set side by side.
              </p>
              ${
                context.problem.outputProjection
                  ? nothing
                  : html`<div class="row">${draw('output', 'concat', context)}</div>`
              }`
          : nothing
      }
      ${
        context.problem.outputProjection
          ? html`<p class="lead spaced">The last grid, W<sub>o</sub>, turns each blend back into a row as wide as
                the model’s.</p>
              ${corner('output', ['concat', 'wo', 'output'], context, {}, ['wo'])}
              ${complaints(['wo'], context)}`
          : nothing
      }`,
  );
}

function scaleSection({ scaleLab }: StagesContext): TemplateResult {
  return section(
    'scale',
    5,
    html`Why ${rootDk}`,
    html`The same queries and keys, with the division and without it. The wider q and k are, the
      further apart raw scores lie: their typical size grows like ${rootDk}. Divided by ${rootDk}, it
      stays the same.`,
    scaleLab,
  );
}

function gradientsSection(context: StagesContext): TemplateResult {
  const { problem, wanted, gradients, onSwitch } = context;
  const waiting = html`<p class="waiting">The gradients are loading.</p>`;
  return section(
    'gradients',
    6,
    'The way back: gradients',
    'Learning goes through the same stages in reverse: from how the result should change to how every earlier number would have to.',
    html`<label class="switch"
        ><input
          type="checkbox"
          .checked=${live(wanted.gradients)}
          @change=${(event: Event) => {
            tick(event, !wanted.gradients);
            onSwitch({ gradients: !wanted.gradients });
          }}
        />
        Show the gradients</label
      >
      ${problem.gradients ? (gradients?.(context) ?? waiting) : nothing}`,
  );
}

/** `Token 0 takes 88.1 % of its own value and 11.9 % of token 1’s.` */
function blendSentence({ session, labels, table, shown }: StagesContext): string {
  const matrix = shownMatrix(session, table.get('weights') as StageInfo, shown);
  const { rows, cols } = matrix.shape;
  if (rows === 0 || cols === 0) return 'Each row of A blends the rows of V.';
  const weights = matrix.values;
  const query = indexPhrase('query', 0, labels);
  const shares = [...Array(cols).keys()]
    .sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b)
    .filter((key) => weights[key] !== 0)
    .slice(0, 3)
    .map((key) => `${percentText(weights[key] ?? 0)} of ${possessive(key)}`);
  function possessive(key: number): string {
    const name = indexPhrase('key', key, labels);
    return name === query ? 'its own value' : `${name}’s value`;
  }
  if (weights.subarray(0, cols).some(Number.isNaN)) {
    return `The weights of ${query} have no value: a number on the way to them was too large for float32. Each of them says which.`;
  }
  if (shares.length === 0) return `No key is visible to ${query}, so its blend is 0.`;
  const others = weights.subarray(0, cols).filter((weight) => weight !== 0).length;
  const rest = others > shares.length ? ' and less of the others' : '';
  return `${query.charAt(0).toUpperCase()}${query.slice(1)} takes ${shares.join(shares.length === 2 ? ' and ' : ', ')}${rest}.`;
}

export function stages(context: StagesContext): TemplateResult {
  const scores = context.scaleOf('rawScores');
  const rest = () => [
    softmaxSection(context, scores),
    outputSection(context),
    scaleSection(context),
    gradientsSection(context),
  ];
  return html`${inputsSection(context)} ${scoresSection(context, scores)}
  ${context.isFirst ? nothing : rest()}`;
}
