/**
 * Binds the text of a field that is typed in: what is being typed is not taken away by a render,
 * and what stands in the field is selected when it gets the focus, so that typing replaces it.
 */
import { noChange } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';

class FieldValueDirective extends Directive {
  #bound: string | undefined;

  render(_text: string) {
    return noChange;
  }

  /** With the focus in it the field changes only with its text in the state. */
  override update(part: ElementPart, [text]: [string]) {
    const field = part.element as HTMLInputElement;
    if (this.#bound === undefined) field.addEventListener('focus', () => field.select());
    const root = field.getRootNode() as Document | ShadowRoot;
    const typing = root.activeElement === field && text === this.#bound;
    if (!typing && field.value !== text) field.value = text;
    this.#bound = text;
    return noChange;
  }
}

/** Stands on the element: `<input ${fieldValue(text)}>`. */
export const fieldValue = directive(FieldValueDirective);
