/** Which of several matrices of a stage belongs to the batch and the query head that are shown. */
import type { CellRef, ForwardSession, StageId, StageInfo, StageShape } from '../core/types.ts';
import type { Shown } from '../state/types.ts';

export interface ShownMatrix extends Shown {
  readonly shape: StageShape;
  readonly values: Float32Array;
}

/** The batch and the stage's own head: H/G query heads in a row read the same key/value head. */
export function placeOf(session: ForwardSession, info: StageInfo, shown: Shown): Shown {
  const { heads } = session.shape(info.id);
  const queryHeads = session.shape('weights').heads;
  const head =
    info.perHead === 'none'
      ? 0
      : info.perHead === 'heads'
        ? shown.head
        : Math.floor((shown.head * heads) / queryHeads);
  return { batch: info.perBatch ? shown.batch : 0, head };
}

export function shownMatrix(session: ForwardSession, info: StageInfo, shown: Shown): ShownMatrix {
  const shape = session.shape(info.id);
  const { batch, head } = placeOf(session, info, shown);
  const cells = shape.rows * shape.cols;
  const start = (batch * shape.heads + head) * cells;
  return { batch, head, shape, values: session.view(info.id).subarray(start, start + cells) };
}

/** The shown batch and head, kept within what there is. */
export function shownWithin(session: ForwardSession, shown: Shown): Shown {
  const { batch, heads } = session.shape('weights');
  return {
    batch: Math.max(0, Math.min(shown.batch, batch - 1)),
    head: Math.max(0, Math.min(shown.head, heads - 1)),
  };
}

/** The number in a cell. */
export function cellValue(
  session: ForwardSession,
  { stage, batch, head, row, col }: CellRef,
): number {
  const { heads, rows, cols } = session.shape(stage);
  return session.view(stage)[((batch * heads + head) * rows + row) * cols + col] ?? 0;
}

/** The stage whose scores the softmax takes. */
export const softmaxInput = (session: ForwardSession): StageId =>
  (['maskedScores', 'cappedScores'] as const).find((id) => session.has(id)) ?? 'scaledScores';
