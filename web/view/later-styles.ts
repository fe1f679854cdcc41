/** The look of the parts that are fetched later: explanations, the comparison, the dialogs, the heat maps. */
import { css } from 'lit';

export const laterStyles = css`
  /* the explained cell and what goes into it */
  td.op {
    font-weight: 700;
    --edge: currentColor;
    --t: 0px;
    --b: 0px;
    --l: 0px;
    --r: 0px;
    box-shadow:
      inset 0 var(--t) 0 var(--edge),
      inset 0 calc(-1 * var(--b)) 0 var(--edge),
      inset var(--l) 0 0 var(--edge),
      inset calc(-1 * var(--r)) 0 0 var(--edge);
  }
  .q td.op {
    color: var(--q);
  }
  .k td.op {
    color: var(--k);
  }
  .v td.op {
    color: var(--v);
  }
  td.op-top {
    --t: 2px;
  }
  td.op-bottom {
    --b: 2px;
  }
  td.op-left {
    --l: 2px;
  }
  td.op-right {
    --r: 2px;
  }
  td.active {
    font-weight: 700;
    outline: 2px solid var(--ink);
    outline-offset: -2px;
    border-radius: 3px;
  }
  td.pinned {
    outline-width: 3px;
  }
  td.active:focus-visible {
    outline: 2.5px solid var(--accent);
  }

  /* why this number */
  .edit-field {
    display: flex;
    gap: 8px;
    align-items: center;
    font: 14px var(--ui);
    margin: 0 0 10px;
  }
  .edit-field input {
    font: 15px var(--num);
    color: var(--ink);
    background: var(--field);
    border: 1px solid var(--soft);
    border-radius: 4px;
    padding: 4px 8px;
    width: 100%;
    min-width: 0;
  }
  .pin {
    border: 1px solid currentColor;
    border-radius: 3px;
    padding: 0 5px;
    margin-left: 6px;
  }
  .inspect .who {
    font-size: 26px;
    line-height: 1.3;
    margin: 0 0 6px;
    overflow-wrap: anywhere;
  }
  .who .value {
    font: 20px var(--num);
  }
  .inspect .arith {
    font: 15px/1.7 var(--num);
    margin: 0 0 4px;
    overflow-wrap: anywhere;
  }
  .inspect .next {
    color: var(--soft);
  }
  .inspect .release {
    margin-bottom: 10px;
  }
  kbd {
    font: 11px var(--ui);
    border: 1px solid var(--rule);
    border-radius: 3px;
    padding: 1px 5px;
    margin-left: 6px;
  }
  kbd:first-child {
    margin-left: 0;
  }
  @container (max-width: 959px) {
    .inspect .who {
      font-size: 20px;
    }
  }
  /* engine */
  .engine {
    max-width: 760px;
    margin-bottom: 40px;
  }
  .engine summary {
    font: 700 15px var(--ui);
    cursor: pointer;
    width: max-content;
  }
  .engine dl {
    font: 14px/1.5 var(--ui);
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 4px 16px;
    margin: 12px 0;
  }
  .engine dt {
    color: var(--soft);
  }
  .engine dd {
    font: inherit;
    margin: 0;
  }
  .engine p:has(button) {
    font: 14px var(--ui);
  }
  .engine .bars th {
    white-space: normal;
  }
  .engine progress {
    accent-color: var(--accent);
    vertical-align: middle;
    margin-right: 8px;
  }

  /* heat maps */
  .step:has(.heat) {
    align-items: center;
  }
  /* what stands below a map may be of any height */
  .row:has(.heat) {
    align-items: flex-start;
  }
  .matrix:has(.heat) figcaption {
    padding-left: 0;
  }
  .crossing .matrix:has(.heat) {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    justify-items: end;
  }
  .crossing .matrix:has(.heat) figcaption {
    width: auto;
    min-width: 0;
    justify-self: stretch;
  }
  .heat {
    position: relative;
    /* so that a map of 512 pixels has them */
    box-sizing: content-box;
    max-width: calc(100% - 4px);
    border: 2px solid var(--ink);
    border-radius: 6px;
    overflow: hidden;
  }
  .heat canvas {
    display: block;
    width: 100%;
    height: 100%;
    font-family: var(--num);
    cursor: crosshair;
    background: var(--paper);
    /* its end says that the numbers stand on another ground */
    transition: background-color 1ms;
  }
  .heat canvas.zoomed {
    cursor: grab;
  }
  .heat canvas.zoomed:active {
    cursor: grabbing;
  }
  .heat canvas:focus-visible {
    outline: 2.5px solid var(--accent);
    outline-offset: -2.5px;
  }
  .heat i {
    position: absolute;
    pointer-events: none;
    min-width: 3px;
    min-height: 3px;
    outline: 2px solid var(--ink);
  }
  .heat [hidden] {
    display: none;
  }
  .heat-frame {
    max-width: 100%;
  }
  /* as wide as the map, and never too narrow for the buttons */
  .heat-tools,
  .heat-frame + .legend {
    width: 0;
    min-width: max(100%, 150px);
  }
  /* forced colours take the fill from cells, so that their scale would show what is not there */
  @media (forced-colors: active) {
    .legend .ramp {
      display: none;
    }
    .heat-frame + .legend .ramp {
      display: flex;
      forced-color-adjust: none;
    }
  }

  /*
   * The ends stand under the bar, so that they have room in the narrowest map, and what is said has
   * two lines: the maps of a corner, which share their bottom line, then share their rows too.
   */
  .heat-frame + .legend {
    display: grid;
    grid-template-columns: repeat(2, minmax(56px, max-content)) 1fr;
    align-content: start;
    gap: 2px 12px;
    min-height: calc(16px + 3lh);
    margin-top: 8px;
  }
  .heat-frame + .legend .ramp {
    grid-area: 1 / 1 / 2 / 3;
  }
  .heat-frame + .legend .ramp i {
    flex: 1;
  }
  .heat-frame + .legend .low {
    grid-area: 2 / 1;
  }
  .heat-frame + .legend .high {
    grid-area: 2 / 2;
    text-align: right;
  }
  .heat-frame + .legend .what {
    grid-column: 1 / -1;
    min-height: 2lh;
  }
  /* how a number is drawn that lies on no scale: see hatching in heat-image.ts */
  .off-scale {
    display: block;
    color: var(--ink);
  }
  .off-scale i {
    display: inline-block;
    width: 22px;
    height: 12px;
    vertical-align: -1px;
    border: 1px solid var(--rule);
    forced-color-adjust: none;
    print-color-adjust: exact;
  }
  .hatched {
    background: repeating-linear-gradient(
      135deg,
      rgb(128 128 128) 0 1.2px,
      rgb(128 128 128 / 0.3) 1.2px 4.24px
    );
  }
  .heat-tools {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 6px;
    margin: 6px 0 0;
    font: 12px var(--ui);
    color: var(--soft);
  }
  /* room for two lines: nothing below moves, and maps side by side stand on one line */
  .heat-said {
    flex-basis: 100%;
    min-height: 2lh;
    line-height: 1.3;
  }
  .heat-tools[hidden] {
    visibility: hidden;
  }
  .heat-tools button {
    font: 13px/1.2 var(--ui);
    min-width: 28px;
    padding: 3px 8px;
  }
  .q .heat-operands {
    outline-color: var(--q);
  }
  .k .heat-operands {
    outline-color: var(--k);
  }
  .v .heat-operands {
    outline-color: var(--v);
  }
  .heat .heat-operands {
    outline-style: dashed;
  }
  .heat .pinned {
    outline-width: 3px;
  }
  /* with and without the division */
  .lab-controls {
    display: grid;
    gap: 12px;
    justify-items: start;
    font: 14px var(--ui);
    color: var(--soft);
    margin-bottom: 18px;
  }
  .lab-controls input:not([type='radio']):not([type='range']) {
    font: 14px var(--ui);
    color: var(--ink);
    background: var(--field);
    border: 1px solid color-mix(in srgb, var(--soft) 60%, var(--rule));
    border-radius: 4px;
    padding: 6px 8px;
    width: 60px;
    text-align: center;
  }
  .slider {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 14px;
    align-items: center;
    width: 100%;
  }
  .slider input[type='range'] {
    flex: 1 1 200px;
    max-width: 360px;
    accent-color: var(--accent);
  }
  .pair {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 290px), 1fr));
    gap: 28px 40px;
  }
  .side h3 {
    font: 600 15px var(--ui);
    margin: 0 0 8px;
  }
  .bars {
    width: 100%;
  }
  .bars th {
    position: static;
    min-width: 0;
    text-align: left;
  }
  .bars td {
    font: 14px var(--num);
    font-variant-numeric: tabular-nums;
    text-align: right;
    height: 26px;
    padding: 0 8px;
    white-space: nowrap;
  }
  .bars thead th:nth-child(n + 2) {
    text-align: right;
    padding-right: 8px;
  }
  .bars .bar-cell {
    width: 50%;
    padding: 0;
    border-left: 1.5px solid var(--ink);
  }
  .together {
    margin-top: 20px;
  }
  .together caption {
    font: 600 15px var(--ui);
    text-align: left;
    padding: 0 0 4px;
  }
  .bar-cell i {
    display: block;
    height: 14px;
    background: var(--accent);
  }
  dl {
    display: grid;
    grid-template-columns: 1fr auto;
    gap: 4px 12px;
    font: 14px var(--ui);
    color: var(--soft);
    margin: 12px 0 0;
  }
  dd {
    margin: 0;
    font: 14px var(--num);
    color: var(--ink);
  }

  /* dialogs */
  .dialog {
    color: var(--ink);
    background: var(--paper);
    border: 1px solid var(--soft);
    border-radius: 6px;
    padding: 16px 20px 20px;
    width: min(560px, calc(100vw - 24px));
    max-height: calc(100vh - 24px);
    font: 15px/1.5 var(--ui);
  }
  .dialog::backdrop {
    background: rgb(16 20 28 / 55%);
  }
  .dialog-head {
    display: flex;
    justify-content: space-between;
    align-items: center;
    gap: 16px;
  }
  .dialog-head h2 {
    font-size: 20px;
    margin: 0;
  }
  .dialog h3 {
    font: 600 15px var(--ui);
    margin: 0 0 4px;
  }
  .dialog p {
    margin: 6px 0;
  }
  .dialog-part {
    padding: 12px 0;
    border-bottom: 1px solid var(--rule);
  }
  .dialog-part:last-child {
    border-bottom: 0;
    padding-bottom: 0;
  }
  .dialog label.stacked {
    display: block;
    margin: 10px 0 0;
  }
  .dialog label.stacked input {
    display: block;
    width: 100%;
  }
  .stacked-box {
    display: flex;
    gap: 8px;
    margin: 8px 0 0;
  }
  .dialog textarea,
  .dialog input,
  .dialog select {
    font: 14px var(--num);
    color: var(--ink);
    background: var(--field);
    border: 1px solid var(--soft);
    border-radius: 4px;
    padding: 6px 8px;
  }
  .dialog select {
    font-family: var(--ui);
  }
  .dialog textarea {
    width: 100%;
    resize: vertical;
    margin-top: 6px;
  }
  .hint {
    color: var(--soft);
    font-size: 14px;
  }
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
  }
  .dialog .complaint {
    margin: 6px 0;
  }
  .preview {
    margin: 4px 0;
  }
  .preview td {
    font: 13px var(--num);
    text-align: right;
    padding: 2px 8px;
    border: 1px solid var(--rule);
  }
  button.strong {
    border-color: var(--accent);
    color: var(--accent);
    font-weight: 600;
  }
  @media print {
    .lab-controls {
      display: none !important;
    }
    .pair {
      break-inside: avoid;
    }
    .bar-cell i {
      print-color-adjust: exact;
    }
  }
  @media (forced-colors: active) {
    td.op {
      outline: 1px solid Highlight;
      outline-offset: -1px;
    }
    td.active {
      outline: 3px solid Highlight;
    }
  }
`;
