/** A directive that marks a scrolling element with the directions in which more of it is hidden. */
import { noChange } from 'lit';
import { AsyncDirective, directive } from 'lit/async-directive.js';
import type { ElementPart } from 'lit/directive.js';

/** Fractions of a pixel are not worth a sign. */
const slack = 2;

class OverflowSignDirective extends AsyncDirective {
  #element: HTMLElement | null = null;
  #observer: ResizeObserver | null = null;

  render() {
    return noChange;
  }

  override update(part: ElementPart) {
    if (!this.#element) {
      this.#element = part.element as HTMLElement;
      this.reconnected();
    }
    return noChange;
  }

  override disconnected(): void {
    this.#observer?.disconnect();
    this.#element?.removeEventListener('scroll', this.#sign);
  }

  override reconnected(): void {
    const element = this.#element;
    if (!element || typeof ResizeObserver === 'undefined') return;
    this.#observer ??= new ResizeObserver(this.#sign);
    this.#observer.observe(element);
    const table = element.querySelector('table');
    if (table) this.#observer.observe(table);
    element.addEventListener('scroll', this.#sign, { passive: true });
  }

  #sign = (): void => {
    const element = this.#element as HTMLElement;
    const hidden = element.scrollWidth - element.clientWidth;
    const left = hidden > slack && element.scrollLeft > slack;
    const right = hidden > slack && element.scrollLeft < hidden - slack;
    const more = [left ? '←' : '', right ? '→' : ''].filter(Boolean).join(' ');
    if (more) element.dataset['more'] = more;
    else delete element.dataset['more'];
  };
}

/** `<figure ${overflowSign()}>` carries `data-more="→"` while columns are hidden on the right. */
export const overflowSign = directive(OverflowSignDirective);
