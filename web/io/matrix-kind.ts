/** The kinds of text in which a matrix may come. */

export type MatrixFormat =
  | 'numpy'
  | 'python'
  | 'tensor'
  | 'matlab'
  | 'csv'
  | 'tsv'
  | 'json'
  | 'latex'
  | 'spaces';

/** How a text was understood. */
export interface MatrixKind {
  readonly format: MatrixFormat;
  /** For the reader, such as `NumPy array`. */
  readonly formatName: string;
}
