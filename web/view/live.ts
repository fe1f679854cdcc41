/** Sets a property to what the page says, whatever the reader's browser has put there meanwhile. */
import { noChange } from 'lit';
import { Directive, directive, type PropertyPart } from 'lit/directive.js';

// Lit's own `live` also serves attributes, for half a kilobyte more in the first load.
class LiveDirective extends Directive {
  render(_value: unknown) {
    return noChange;
  }

  override update({ element, name }: PropertyPart, [value]: [unknown]) {
    const target = element as unknown as Record<string, unknown>;
    if (target[name] !== value) target[name] = value;
    return noChange;
  }
}

/**
 * Ticks the box of a change event, or not. A render between the click and this event, which comes
 * later, may have set it back to what the page said before, until the next frame.
 */
export const tick = ({ target }: Event, checked: boolean): void => {
  (target as HTMLInputElement).checked = checked;
};

/** Stands for the value of a property: `.checked=${live(value)}`. */
export const live = directive(LiveDirective);
