/** A directive that marks a scrolling element with the directions in which more of it is hidden. */
import { noChange } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';

/** Fractions of a pixel are not worth a sign. */
const slack = 2;

function sign(element: HTMLElement): void {
  const hidden = element.scrollWidth - element.clientWidth;
  const left = hidden > slack && element.scrollLeft > slack;
  const right = hidden > slack && element.scrollLeft < hidden - slack;
  const more = [left ? '←' : '', right ? '→' : ''].filter(Boolean).join(' ');
  if (more) element.dataset.more = more;
  else delete element.dataset.more;
}

class OverflowSignDirective extends Directive {
  #watched = false;

  render() {
    return noChange;
  }

  override update(part: ElementPart) {
    if (this.#watched || typeof ResizeObserver === 'undefined') return noChange;
    this.#watched = true;
    const element = part.element as HTMLElement;
    // Observer and listener go with the element: nothing else holds them.
    const observer = new ResizeObserver(() => sign(element));
    observer.observe(element);
    const table = element.querySelector('table');
    if (table) observer.observe(table);
    element.addEventListener('scroll', () => sign(element), { passive: true });
    return noChange;
  }
}

/** `<div ${overflowSign()}>` carries `data-more="→"` while columns are hidden on the right. */
export const overflowSign = directive(OverflowSignDirective);
