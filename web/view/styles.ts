/** The look of the widget: tokens for light and dark, the printed page, the matrices, the panel. */
import { css } from 'lit';

export const styles = css`
  :host {
    --paper: light-dark(#fdfdfb, #10141c);
    --ink: light-dark(#1b1d22, #e8eaee);
    --soft: light-dark(#5d6470, #9aa3b2);
    --rule: light-dark(#dcdfe4, #2c3340);
    --field: light-dark(#ffffff, #171c26);
    --accent: light-dark(#543b9c, #b9a6ff);
    --warn: light-dark(#9f1239, #fda4af);
    --q: light-dark(#332288, #a78bfa);
    --k: light-dark(#c2410c, #f0e442);
    --v: light-dark(#0f766e, #2bc49a);
    --text: Charter, 'Bitstream Charter', 'Iowan Old Style', 'DejaVu Serif', Georgia, serif;
    --num: 'SF Mono', ui-monospace, 'Cascadia Mono', 'DejaVu Sans Mono', monospace;
    --ui: system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif;
    --row: 36px;
    --bar: 68px;
    /* A lesson in Arabic, in capitals or without line breaks reads the same formulas. */
    all: initial;
    direction: ltr;
    color-scheme: inherit;
    pointer-events: inherit;
    visibility: inherit;
    display: block;
    container-type: inline-size;
    background: var(--paper);
    color: var(--ink);
    font: 17px/1.55 var(--text);
  }
  :host([hidden]) {
    display: none;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  math {
    font-family: 'STIX Two Math', 'Cambria Math', 'Latin Modern Math', math, var(--text);
  }
  math .q,
  .matrix.q .symbol,
  span.q {
    color: var(--q);
  }
  math .k,
  .matrix.k .symbol,
  span.k {
    color: var(--k);
  }
  math .v,
  .matrix.v .symbol,
  span.v {
    color: var(--v);
  }
  .wrap {
    max-width: 1280px;
    margin: 0 auto;
    padding: 0 24px;
  }
  .nobr {
    white-space: nowrap;
  }
  sub {
    line-height: 0;
    font-size: 0.75em;
  }

  /* formula bar */
  .bar {
    position: sticky;
    top: 0;
    z-index: 2;
    background: var(--paper);
    border-bottom: 1px solid var(--rule);
  }
  .bar .wrap {
    display: flex;
    align-items: center;
    gap: 12px 28px;
    min-height: var(--bar);
  }
  .formula {
    flex: 1;
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 3px;
    font-size: 19px;
    padding: 3px 0;
  }
  .formula a {
    color: inherit;
    text-decoration: none;
    padding: 4px 7px;
    border-radius: 4px;
  }
  .formula a:hover {
    background: var(--rule);
  }
  .formula a[aria-current] {
    box-shadow: inset 0 -2px 0 var(--ink);
    border-radius: 0;
  }
  .paren {
    font-size: 30px;
    font-weight: 300;
    line-height: 1;
  }

  /* controls */
  .controls {
    display: flex;
    gap: 12px 16px;
    align-items: center;
    flex-wrap: wrap;
    padding: 12px 0;
    border-bottom: 1px solid var(--rule);
    font: 14px var(--ui);
    color: var(--soft);
  }
  .controls label {
    display: flex;
    gap: 7px;
    align-items: center;
    min-width: 0;
    max-width: 100%;
  }
  .controls select {
    min-width: 0;
    width: 250px;
  }
  .controls select.mode {
    width: auto;
  }
  .controls input {
    width: 60px;
    padding: 6px;
    text-align: center;
  }
  .controls input[inputmode='text'] {
    width: 76px;
  }
  .controls input[aria-invalid] {
    border: 2px dashed var(--warn);
    color: var(--warn);
  }
  .follows {
    white-space: nowrap;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    margin-left: auto;
  }
  button,
  select,
  .controls input {
    font: 14px var(--ui);
    color: var(--ink);
    background: var(--field);
    border: 1px solid color-mix(in srgb, var(--soft) 60%, var(--rule));
    border-radius: 4px;
    padding: 6px 10px;
    max-width: 100%;
  }
  button:disabled,
  [aria-disabled='true'] {
    color: var(--soft);
    border-color: var(--rule);
  }
  button.link {
    border: 0;
    padding: 0;
    background: none;
    color: var(--accent);
    font: inherit;
    text-align: start;
    text-decoration: underline;
    cursor: pointer;
  }
  :focus-visible {
    outline: 2.5px solid var(--accent);
    outline-offset: 2px;
  }
  h2:focus-visible {
    outline-offset: 6px;
  }

  /* stages */
  .cols {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 256px;
    gap: 36px;
    align-items: start;
  }
  section {
    contain-intrinsic-height: auto 900px;
    padding: 34px 0 30px;
    border-bottom: 1px solid var(--rule);
    scroll-margin-top: calc(var(--bar) + 8px);
  }
  /* while numbers are typed, what is out of sight keeps its size and waits */
  .typing section {
    content-visibility: auto;
  }
  section:last-child {
    border-bottom: 0;
  }
  h2 {
    font: 600 23px/1.3 var(--text);
    margin: 0 0 4px;
    scroll-margin-top: calc(var(--bar) + 24px);
  }
  .n {
    font: 500 14px var(--ui);
    color: var(--soft);
    border: 1px solid var(--rule);
    border-radius: 50%;
    display: inline-grid;
    place-items: center;
    width: 26px;
    height: 26px;
    margin-right: 8px;
    vertical-align: 3px;
  }
  .lead,
  .note,
  .complaint {
    color: var(--soft);
    margin: 0 0 22px;
    max-width: 62ch;
  }
  .note {
    font-size: 15px;
    margin: 18px 0 0;
  }
  .complaint {
    color: var(--warn);
    font: 14px/1.5 var(--ui);
    margin: 12px 0 0;
  }
  .row {
    display: flex;
    gap: 24px 32px;
    flex-wrap: wrap;
    align-items: flex-end;
  }
  .steps {
    gap: 18px 3px;
  }
  .steps td[data-row] {
    padding: 0 6px;
    width: calc(var(--chars) * 1ch + 12px);
    min-width: calc(var(--chars) * 1ch + 12px);
  }
  .steps .symbol {
    font-size: 16px;
  }
  .steps figcaption {
    font-size: 12px;
    column-gap: 5px;
  }
  .step {
    display: flex;
    align-items: flex-end;
    gap: 6px;
    max-width: 100%;
  }
  .operator {
    font: 13px var(--ui);
    color: var(--soft);
    height: calc(var(--rows) * var(--row) + 3px);
    padding-bottom: 3px;
    display: grid;
    place-items: center;
    min-width: 15px;
  }
  .step:has([data-more]) :is(.operator, .totals) {
    margin-bottom: 22px;
  }
  .totals {
    display: grid;
    padding-bottom: 3px;
    font: 13px/1.2 var(--ui);
    color: var(--soft);
    white-space: nowrap;
  }
  .totals span {
    height: var(--row);
    display: grid;
    align-content: center;
  }
  .totals b {
    font-weight: 400;
  }
  .totals small {
    font-size: 11px;
  }

  /* one matrix */
  .matrix {
    margin: 0;
    max-width: 100%;
    min-width: 0;
  }
  .scroll {
    max-width: 100%;
    overflow-x: auto;
    padding: 0 2px 3px 0;
  }
  .matrix figcaption {
    font: 13px/1.35 var(--ui);
    color: var(--soft);
    margin: 0 0 4px;
    padding-left: 54px;
    display: grid;
    grid-template-columns: auto 1fr;
    column-gap: 8px;
    align-items: baseline;
    justify-content: start;
  }
  .bare figcaption {
    padding-left: 0;
  }
  .symbol {
    grid-column: 1 / -1;
    font-size: 19px;
    font-weight: 600;
    color: var(--ink);
    white-space: nowrap;
    min-height: 28px;
    display: flex;
    align-items: end;
  }
  .name {
    grid-column: 1 / -1;
    white-space: nowrap;
  }
  .shape,
  .axes {
    white-space: nowrap;
  }
  table {
    border-collapse: separate;
    border-spacing: 0;
  }
  thead th {
    font: 400 11px var(--ui);
    color: var(--soft);
    padding: 2px 5px 4px;
    white-space: nowrap;
    height: 22px;
    max-width: 144px;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  tbody th {
    font: 400 12px var(--ui);
    color: var(--soft);
    text-align: right;
    padding: 0 10px 0 0;
    white-space: nowrap;
    min-width: 54px;
    position: sticky;
    left: 0;
    background: var(--paper);
    z-index: 1;
  }
  /* a long name takes lines of its row and leaves room for its numbers */
  tbody th span {
    display: inline-block;
    width: max-content;
    max-width: min(30cqw, 180px);
    white-space: normal;
    overflow-wrap: anywhere;
  }
  td[data-row] {
    font: 15px/1 var(--num);
    font-variant-numeric: tabular-nums;
    text-align: right;
    width: calc(var(--chars) * 1ch + 16px);
    min-width: calc(var(--chars) * 1ch + 16px);
    height: var(--row);
    /* leaves room for the brackets, so that no column grows beyond its width */
    padding: 0 6px;
    position: relative;
    cursor: default;
  }
  td.first {
    border-left: 1.5px solid var(--ink);
  }
  td.last {
    border-right: 1.5px solid var(--ink);
  }
  td.first.top {
    border-top-left-radius: 6px;
  }
  td.first.bottom {
    border-bottom-left-radius: 6px;
  }
  td.last.top {
    border-top-right-radius: 6px;
  }
  td.last.bottom {
    border-bottom-right-radius: 6px;
  }
  td.edit {
    padding: 0;
  }
  td.edit input {
    font: inherit;
    font-variant-numeric: inherit;
    color: inherit;
    background: none;
    border: 0;
    margin: 0;
    width: 100%;
    height: 100%;
    padding: 0 6px;
    text-align: right;
    position: relative;
    z-index: 1;
  }
  /* what gets the focus stays clear of the bar, the names of its row and the panel */
  .stages :is(td, input, select, button, canvas, summary) {
    scroll-margin: calc(var(--bar) + 8px) 8px 8px 64px;
  }
  td.edit::after {
    content: '';
    position: absolute;
    right: 6px;
    bottom: 6px;
    width: calc(var(--chars) * 1ch);
    max-width: calc(100% - 16px);
    border-bottom: 1.5px dotted var(--soft);
  }
  td.edit input:focus {
    background: var(--field);
    outline: 2.5px solid var(--accent);
    outline-offset: -2px;
  }
  td.edit:has(input[aria-invalid]) {
    color: var(--warn);
  }
  td.edit:has(input[aria-invalid])::after {
    border-bottom: 2px dashed var(--warn);
  }
  td:focus-visible {
    outline: 2.5px solid var(--accent);
    outline-offset: -2px;
  }

  /* corner: left matrix at lower left, right matrix above the result; folds where it is narrow */
  .corner {
    display: flex;
    flex-wrap: wrap;
    gap: 18px 30px;
    align-items: flex-end;
    margin-bottom: 12px;
  }
  /* the columns of both are equally wide, the names of their rows are not */
  .crossing {
    display: grid;
    justify-items: end;
    gap: 18px;
    max-width: 100%;
  }
  .corner figcaption {
    width: 0;
    min-width: 100%;
  }

  /* a result of one head stands under the columns of that head */
  .under {
    font: 15px var(--num);
    min-width: 0;
    max-width: 100%;
    margin-right: calc(var(--after) * (var(--chars) * 1ch + 16px));
  }

  /* a table wider than its place scrolls, and says so */
  .scroll[data-more]::after {
    content: 'scroll for more columns ' attr(data-more);
    display: block;
    width: max-content;
    position: sticky;
    left: 54px;
    font: 12px/18px var(--ui);
    color: var(--accent);
    padding-top: 4px;
  }

  .choice {
    border: 0;
    margin: 0;
    padding: 0;
    display: flex;
    flex-wrap: wrap;
    gap: 2px 18px;
    font: 14px var(--ui);
    color: var(--soft);
  }
  .choice legend {
    float: left;
    padding: 2px 4px 0 0;
    color: var(--ink);
  }
  .choice label {
    display: flex;
    gap: 6px;
    align-items: baseline;
  }
  .choice input {
    accent-color: var(--accent);
  }
  .corner + .choice {
    margin: 18px 0 10px;
  }
  .switch {
    display: inline-flex;
    gap: 8px;
    align-items: baseline;
    font: 15px var(--ui);
    margin-bottom: 18px;
  }
  .spaced {
    margin-top: 26px;
  }
  .which {
    grid-column: 1 / -1;
    white-space: nowrap;
  }
  td.paint {
    cursor: pointer;
    text-decoration: underline dotted 1px var(--soft);
    text-underline-offset: 5px;
  }
  .more[open] {
    flex-basis: 100%;
  }
  .more summary {
    cursor: pointer;
    color: var(--ink);
    width: max-content;
  }
  .more-row {
    display: flex;
    flex-wrap: wrap;
    gap: 12px 16px;
    padding-top: 10px;
  }
  .choice + .note {
    margin: 10px 0 20px;
  }

  /* legend */
  .legend {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px 8px;
    font: 12px var(--ui);
    color: var(--soft);
    margin: 14px 0 0;
  }
  .ramp {
    display: inline-flex;
    border: 1px solid var(--rule);
  }
  .ramp i {
    width: 22px;
    height: 12px;
  }

  /* why this number */
  .inspect {
    position: sticky;
    top: calc(var(--bar) + 28px);
    margin-top: 34px;
    border-left: 2px solid var(--ink);
    padding: 2px 0 4px 20px;
    max-height: calc(100vh - var(--bar) - 40px);
    overflow-y: auto;
  }
  .inspect p {
    margin: 0 0 12px;
  }
  .inspect .eyebrow,
  .inspect .keys {
    font: 12px var(--ui);
    color: var(--soft);
    margin: 0 0 6px;
  }
  .inspect .sentence {
    margin-top: 10px;
  }

  .failure {
    border-left: 2px solid var(--warn);
    padding: 2px 0 2px 16px;
    margin: 24px 0;
    max-width: 62ch;
  }
  .failure p {
    margin: 0 0 6px;
  }
  .waiting {
    color: var(--soft);
    padding: 24px 0;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }

  @container (min-width: 960px) {
    .bare table th[scope='row'],
    .bare thead td:first-child {
      min-width: 0;
      width: 0;
      padding: 0;
      font-size: 0;
    }
  }
  @container (max-width: 959px) {
    .cols {
      grid-template-columns: minmax(0, 1fr);
      gap: 0;
    }
    .bare figcaption {
      padding-left: 54px;
    }
    .inspect {
      position: sticky;
      inset: auto 0 0 0;
      bottom: 0;
      top: auto;
      z-index: 3;
      margin: 0 -16px;
      max-height: 40vh;
      background: var(--paper);
      border: 0;
      border-top: 2px solid var(--ink);
      padding: 10px 20px 10px;
    }
    .stages :is(td, input, select, button, canvas, summary) {
      scroll-margin-bottom: calc(40vh + 8px);
    }
    .inspect.empty {
      padding: 4px 16px;
      border-top-width: 1px;
      color: var(--soft);
      /* a number under it can be tapped all the same */
      pointer-events: none;
    }
    .inspect .keys,
    .inspect .eyebrow {
      display: none;
    }
    .inspect p {
      margin: 0 0 4px;
    }
    .inspect .sentence {
      margin-top: 4px;
      font-size: 16px;
      line-height: 1.4;
    }
    .inspect.empty .sentence {
      font: 14px/1.35 var(--ui);
      margin: 0;
    }
  }
  @container (max-width: 700px) {
    .wrap {
      padding: 0 16px;
    }
    .bar .wrap {
      flex-wrap: wrap;
      min-height: 0;
      padding-top: 8px;
      padding-bottom: 8px;
    }
    .stages {
      --bar: 108px;
    }
    .formula {
      order: 3;
      flex-basis: 100%;
      justify-content: flex-start;
      flex-wrap: wrap;
      font-size: 16px;
      gap: 1px;
    }
    .formula a {
      padding: 4px 3px;
    }
    .paren {
      font-size: 22px;
    }
    .actions {
      margin: 0;
    }
    .step {
      display: grid;
      grid-template-columns: minmax(0, auto) auto;
    }
    .operator {
      justify-self: start;
      height: auto;
      padding: 0 0 0 46px;
    }
    .step :is(.matrix, .totals) {
      grid-row: 2;
    }
    .corner {
      gap: 14px 12px;
    }
    .crossing {
      gap: 14px;
    }
    .under {
      font-size: 13px;
      margin-right: calc(var(--after) * (var(--chars) * 1ch + 10px));
    }
    td[data-row],
    td.edit input {
      font-size: 13px;
    }
    td[data-row],
    td.edit input {
      padding-left: 3px;
      padding-right: 3px;
    }
    td.edit {
      padding: 0 !important;
    }
    td[data-row] {
      width: calc(var(--chars) * 1ch + 10px);
      min-width: calc(var(--chars) * 1ch + 10px);
    }
    tbody th {
      min-width: 46px;
      font-size: 11px;
      padding-right: 6px;
    }
    .matrix figcaption,
    .bare figcaption {
      padding-left: 46px;
    }
    .corner figcaption {
      padding-left: 0;
    }
    .symbol {
      font-size: 16px;
    }
    .corner .name,
    .corner .axes {
      white-space: normal;
    }
    #gradients .symbol {
      font-size: 14px;
    }
    .controls select {
      width: auto;
    }
  }
  @container (max-width: 360px) {
    .stages {
      --bar: 136px;
    }
    .formula,
    .symbol {
      font-size: 14px;
    }
    .formula a {
      padding: 4px 2px;
    }
  }
  /* a screen too low for a bar: 400 % zoom, a phone on its side */
  @media (max-height: 480px) {
    .bar {
      position: static;
    }
    .cols,
    .cols .stages {
      --bar: 0px;
    }
  }
  @media print {
    .bar,
    .controls,
    .choice,
    .switch,
    .inspect,
    .scroll::after {
      display: none !important;
    }
    .cols {
      display: block;
    }
    .stages section {
      content-visibility: visible !important;
    }
    figure,
    tr,
    .legend {
      break-inside: avoid;
    }
    .ramp i,
    td[data-row] {
      print-color-adjust: exact;
    }
  }
  @media (forced-colors: active) {
    .ramp i {
      forced-color-adjust: none;
    }
  }
`;
