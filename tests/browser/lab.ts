/** One `<attention-lab>` as a reader finds it: its matrices, cells, explanation and controls. */
import { expect, type Locator, type Page } from '@playwright/test';

export class Lab {
  readonly page: Page;
  readonly host: Locator;
  readonly explanation: Locator;
  readonly pinned: Locator;
  readonly alerts: Locator;
  readonly dialog: Locator;

  constructor(page: Page, host: Locator = page.locator('attention-lab')) {
    this.page = page;
    this.host = host;
    this.explanation = host.getByRole('complementary', { name: 'Why this number' });
    this.pinned = host.locator('aside').getByText('pinned', { exact: true });
    this.alerts = host.getByRole('alert');
    this.dialog = host.getByRole('dialog');
  }

  /**
   * Opens the hosted page and waits for its numbers, and for the code that takes changes, which a
   * reader brings in by the first movement.
   */
  static async open(page: Page, address = 'strict/lab/'): Promise<Lab> {
    await page.goto(address);
    const lab = new Lab(page);
    await lab.ready();
    await lab.host.evaluate((element) =>
      (element as HTMLElement & { store: { ready(): Promise<void> } }).store.ready(),
    );
    return lab;
  }

  async ready(): Promise<void> {
    await expect(this.matrix('heads')).toBeAttached();
  }

  /** The matrix of a stage; one that is drawn more than once, where it is drawn first. */
  matrix(stage: string): Locator {
    return this.host.locator(`figure[data-stage="${stage}"]`).first();
  }

  /** The result or the input in a cell. */
  cell(stage: string, row: number, col: number): Locator {
    return this.matrix(stage).locator(`td[data-row="${row}"][data-col="${col}"]`);
  }

  input(stage: string, row: number, col: number): Locator {
    return this.cell(stage, row, col).getByRole('textbox');
  }

  /** What a reader reads in the cells of a matrix, row by row. */
  async texts(stage: string): Promise<string[][]> {
    return this.matrix(stage)
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) =>
          [...row.querySelectorAll('td')].map(
            (cell) => cell.querySelector('input')?.value ?? cell.textContent?.trim() ?? '',
          ),
        ),
      );
  }

  async expectTexts(stage: string, expected: string[][]): Promise<void> {
    await expect.poll(() => this.texts(stage), { message: stage }).toEqual(expected);
  }

  /** The numbers in the cells of a matrix, as far as they are shown. */
  async numbers(stage: string): Promise<number[][]> {
    const texts = await this.texts(stage);
    return texts.map((row) => row.map((text) => Number(text.replaceAll('−', '-'))));
  }

  async expectNumbers(stage: string, expected: number[][]): Promise<void> {
    await expect.poll(() => this.numbers(stage), { message: stage }).toEqual(expected);
  }

  /** Types over what is in an input cell and leaves the cell by Tab. */
  async edit(stage: string, row: number, col: number, text: string): Promise<void> {
    await this.type(stage, row, col, text);
    await this.page.keyboard.press('Tab');
  }

  /** Types over what is in an input cell and stays there. */
  async type(stage: string, row: number, col: number, text: string): Promise<void> {
    await this.input(stage, row, col).focus();
    if (text === '') await this.page.keyboard.press('Delete');
    else await this.page.keyboard.type(text);
  }

  /** Chooses an example and waits until it is the one that is drawn. */
  async choose(example: string | RegExp): Promise<void> {
    const preset = await this.select(example);
    await this.host.evaluate(async (host, wanted) => {
      const lab = host as HTMLElement & {
        store: { state: { preset: string } };
        updateComplete: Promise<unknown>;
      };
      const frame = () => new Promise(requestAnimationFrame);
      while (lab.store.state.preset !== wanted) await frame();
      // Its numbers come in the next frame.
      await frame();
      await lab.updateComplete;
    }, preset);
  }

  /** Chooses an example and gives its id; what comes of it may take a while. */
  async select(example: string | RegExp): Promise<string> {
    const option = this.host.getByRole('option', { name: example });
    const value = (await option.getAttribute('value')) ?? '';
    await this.host.getByRole('combobox', { name: /^Example/ }).selectOption(value);
    return value;
  }

  /** A button outside the dialogs. */
  button(name: string): Locator {
    return this.host.getByRole('button', { name, exact: true });
  }

  /** A field above the matrices, by a part of its name: `number of keys`, `Scale`. */
  field(name: string | RegExp): Locator {
    return this.host.getByRole('textbox', { name });
  }

  /** Types into a field and takes it by Enter. */
  async set(name: string | RegExp, text: string): Promise<void> {
    await this.field(name).fill(text);
    await this.field(name).press('Enter');
  }

  /** Opens the dialog to paste, fill and copy, at the matrix with this letter. */
  async openTools(letter: string): Promise<void> {
    await this.button('Paste, fill, copy…').click();
    const matrix = this.dialog.getByRole('combobox', { name: 'Matrix' });
    const option = matrix.getByRole('option', { name: new RegExp(`^${letter}: `) });
    await matrix.selectOption((await option.getAttribute('value')) ?? '');
  }

  /** Types or pastes into the text box of that dialog. */
  async give(text: string): Promise<void> {
    await this.dialog.getByRole('textbox', { name: /Paste or type/ }).fill(text);
  }

  /** What that dialog says of the text. */
  get understood(): Locator {
    return this.dialog.getByRole('status').first();
  }

  /** Where the focus is: the matrix (by section and stage) and the cell in it. */
  focus(): Promise<{ place: string; row: number; col: number } | null> {
    return this.host.evaluate((host) => {
      const cell = host.shadowRoot?.activeElement?.closest<HTMLElement>('td[data-row]');
      const place = cell?.closest('figure')?.dataset.place;
      if (!cell || !place) return null;
      return { place, row: Number(cell.dataset.row), col: Number(cell.dataset.col) };
    });
  }

  /** The cells marked as operands: stage, row and column of each, without repetitions. */
  async operands(): Promise<string[]> {
    const keys = await this.host.locator('td.op').evaluateAll((cells) =>
      cells.map((cell) => {
        const { row, col } = (cell as HTMLElement).dataset;
        return `${cell.closest('figure')?.dataset.stage} ${row} ${col}`;
      }),
    );
    return [...new Set(keys)].sort();
  }
}

/** Holds the answers to these addresses back until the function that it gives is called. */
export async function holdBack(page: Page, address: RegExp): Promise<() => void> {
  let letThrough = () => {};
  const held = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route(address, async (route) => {
    await held;
    await route.continue();
  });
  return letThrough;
}

/** What lies over the middle of an element of the widget; empty when nothing does. */
export const coverOf = (element: Locator): Promise<string> =>
  element.evaluate((inner) => {
    const { left, right, top, bottom } = inner.getBoundingClientRect();
    const root = inner.getRootNode() as ShadowRoot;
    const over = root.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return inner.contains(over) ? '' : `${over?.tagName ?? 'nothing in view'}.${over?.className}`;
  });
